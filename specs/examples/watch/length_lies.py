"""An IterableDataset whose __len__ is that of the whole, while each rank has a part: len(loader) is twice too long."""

import os

import torch
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    def __init__(self, length, rank, world_size):
        self.length, self.rank, self.world_size = length, rank, world_size

    def __len__(self):
        return self.length

    def __iter__(self):
        for number in range(self.rank, self.length, self.world_size):
            yield torch.tensor([number])


loader = DataLoader(Stream(24, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])), batch_size=3)
total = len(loader)
for step, batch in enumerate(loader):
    (step + 1) / total
