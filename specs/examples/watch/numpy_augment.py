"""Augmentation by a numpy generator that is made in __init__: each worker has a copy, and all draw the same noise."""

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, length):
        self.length = length
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        return torch.as_tensor(index + self.rng.normal(size=3))


def make_loader(num_workers=2):
    return DataLoader(Noisy(16), batch_size=2, shuffle=True, num_workers=num_workers)


if __name__ == "__main__":
    loader = make_loader()
    for epoch in range(2):
        for batch in loader:
            batch.mean()
