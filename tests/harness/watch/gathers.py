"""A job of two ranks that evaluates by five samples, and gathers what came of them when the loader has ended."""

import torch
import torch.distributed as distributed
from torch.utils.data import DataLoader, DistributedSampler

distributed.init_process_group("gloo")
dataset = torch.arange(5.0)
sampler: DistributedSampler[torch.Tensor] = DistributedSampler(dataset, shuffle=False)  # type: ignore[arg-type]
loader: DataLoader[torch.Tensor] = DataLoader(dataset, batch_size=2, sampler=sampler)  # type: ignore[arg-type]
with torch.no_grad():
    errors = torch.cat(list(loader))
    gathered = [torch.empty_like(errors) for _ in range(2)]
    distributed.all_gather(gathered, errors)
    assert torch.equal(dataset, torch.stack(gathered, dim=1).flatten()[:5])
distributed.destroy_process_group()
