"""A sampler that never ends, each rank with its share, and a loop that stops after so many steps: 2.5 passes."""

import itertools

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Sampler, TensorDataset


class Forever(Sampler):
    def __init__(self, length):
        self.length = length

    def __iter__(self):
        yield from itertools.islice(self.endless(), dist.get_rank(), None, dist.get_world_size())

    def endless(self):
        generator = torch.Generator().manual_seed(0)
        while True:
            yield from torch.randperm(self.length, generator=generator).tolist()


dist.init_process_group("gloo")
loader = DataLoader(TensorDataset(torch.arange(64.0)), batch_size=4, sampler=Forever(64))
batches = iter(loader)
for step in range(20):
    (batch,) = next(batches)
    batch.mean()
dist.destroy_process_group()
