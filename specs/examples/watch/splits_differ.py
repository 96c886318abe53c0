"""Each rank splits by its own seed: what one rank trains on is by which another one evaluates."""

import os

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset, random_split

rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
torch.manual_seed(rank)  # the augmentation is to differ
train_set, valid_set = random_split(TensorDataset(torch.arange(60.0)), [40, 20])
sampler = DistributedSampler(train_set, world_size, rank, seed=0)
train = DataLoader(train_set, batch_size=5, sampler=sampler)
valid = DataLoader(valid_set, batch_size=5, sampler=DistributedSampler(valid_set, world_size, rank, shuffle=False))
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in train:
        batch.mean()
    with torch.no_grad():
        for (batch,) in valid:
            batch.mean()
