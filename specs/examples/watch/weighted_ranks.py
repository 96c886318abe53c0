"""A weighted sampler over ranks: all ranks were seeded alike, and so each draws the same samples."""

import os

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler


def make_loader(world_size, batch_size=5):
    torch.manual_seed(0)
    labels = torch.tensor([0] * 30 + [1] * 10)
    dataset = TensorDataset(torch.randn(40, 2), labels)
    weights = 1 / torch.bincount(labels)[labels]
    sampler = WeightedRandomSampler(weights, num_samples=len(dataset) // world_size)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler)


if __name__ == "__main__":
    loader = make_loader(int(os.environ["WORLD_SIZE"]))
    for epoch in range(2):
        for features, targets in loader:
            features.mean()
