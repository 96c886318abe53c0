"""A weighted sampler over ranks: all ranks were seeded alike, and so each draws the same samples."""

import os

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(0)
rank, world_size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
labels = torch.tensor([0] * 30 + [1] * 10)
dataset = TensorDataset(torch.randn(40, 2), labels)
weights = 1 / torch.bincount(labels)[labels]
sampler = WeightedRandomSampler(weights, num_samples=len(dataset) // world_size)
loader = DataLoader(dataset, batch_size=5, sampler=sampler)
for epoch in range(2):
    for features, targets in loader:
        features.mean()
