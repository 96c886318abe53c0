"""A DistributedSampler with a seed for each rank: the ranks cut up different permutations."""

import os

import torch
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def make_loader(rank, world_size):
    dataset = TensorDataset(torch.arange(32))
    sampler = DistributedSampler(dataset, world_size, rank, shuffle=True, seed=1234 + rank)
    return DataLoader(dataset, batch_size=4, sampler=sampler)


if __name__ == "__main__":
    loader = make_loader(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        for (batch,) in loader:
            batch.float().mean()
