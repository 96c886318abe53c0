"""Two ranks of one tensor-parallel model, as the device mesh says, and each of them shuffles by a seed of its own."""

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.utils.data import DataLoader, TensorDataset

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (1, 2), mesh_dim_names=("dp", "tp"))
generator = torch.Generator().manual_seed(dist.get_rank())
loader = DataLoader(TensorDataset(torch.arange(32.0)), batch_size=4, shuffle=True, generator=generator)
for epoch in range(2):
    for (batch,) in loader:
        dist.all_reduce(batch, group=mesh["tp"].get_group())
dist.destroy_process_group()
