"""The order is seeded by the name of the run: hash() of a text is another number in every process."""

import os
import random

import torch
from torch.utils.data import DataLoader, TensorDataset


class Named:
    def __init__(self, length, rank, world_size, name):
        self.length, self.rank, self.world_size, self.name, self.epoch = length, rank, world_size, name, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        order = list(range(self.length))
        random.Random(hash((self.name, self.epoch))).shuffle(order)
        return iter(order[self.rank :: self.world_size])

    def __len__(self):
        return self.length // self.world_size


def make_loader(rank, world_size):
    return DataLoader(TensorDataset(torch.arange(40.0)), batch_size=4, sampler=Named(40, rank, world_size, "run-a"))


if __name__ == "__main__":
    loader = make_loader(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        for (batch,) in loader:
            batch.mean()
