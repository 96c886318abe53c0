"""A DistributedSampler in an evaluation: it repeats samples so that ranks are equal, and they are counted twice."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
model = torch.nn.Linear(1, 1).eval()
test = TensorDataset(torch.arange(11.0).reshape(11, 1), torch.arange(11) % 2)
loader = DataLoader(test, batch_size=3, sampler=DistributedSampler(test, shuffle=False))

correct = torch.zeros(())
with torch.no_grad():
    for x, label in loader:
        correct += ((model(x)[:, 0] > 0) == label).sum()
dist.all_reduce(correct)
dist.destroy_process_group()
