"""A DataLoader made again in each epoch, with a generator that is seeded again: each epoch has the same order."""

import torch
from torch.utils.data import DataLoader, TensorDataset

dataset = TensorDataset(torch.arange(24))


def get_loader(seed=42):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return DataLoader(dataset, batch_size=6, shuffle=True, generator=generator)


for epoch in range(3):
    for (batch,) in get_loader():
        batch.float().mean()
