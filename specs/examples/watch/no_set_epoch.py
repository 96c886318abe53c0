"""A DistributedSampler whose set_epoch is never called: every epoch has the order of the first."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

dist.init_process_group("gloo")
dataset = TensorDataset(torch.arange(20))
sampler = DistributedSampler(dataset, shuffle=True)
loader = DataLoader(dataset, batch_size=5, sampler=sampler)

for epoch in range(3):
    for (batch,) in loader:
        dist.all_reduce(batch)
dist.destroy_process_group()
