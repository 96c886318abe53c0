"""A DistributedSampler with a seed for each rank: the ranks cut up different permutations."""

import os

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
dataset = TensorDataset(torch.arange(32))
sampler = DistributedSampler(dataset, world_size, rank, shuffle=True, seed=1234 + rank)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in loader:
        batch.float().mean()
