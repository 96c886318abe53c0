"""Batches of alike lengths, each rank with a random order of its own: what two ranks pick is not parted."""

import os
import random

import torch
from torch.utils.data import DataLoader, Dataset


class Texts(Dataset):
    lengths = [3 + index % 7 for index in range(32)]

    def __len__(self):
        return len(self.lengths)

    def __getitem__(self, index):
        return torch.full((self.lengths[index],), index)


class LengthGroupedBatches:
    def __init__(self, lengths, batch_size, rank, world_size):
        self.lengths, self.batch_size = lengths, batch_size
        self.rank, self.world_size = rank, world_size
        self.random = random.Random(rank)

    def __len__(self):
        return len(self.lengths) // self.batch_size // self.world_size

    def __iter__(self):
        order = sorted(range(len(self.lengths)), key=lambda index: (self.lengths[index], self.random.random()))
        batches = [order[at : at + self.batch_size] for at in range(0, len(order), self.batch_size)]
        self.random.shuffle(batches)
        yield from batches[self.rank :: self.world_size]


batches = LengthGroupedBatches(Texts.lengths, 4, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
loader = DataLoader(
    Texts(), batch_sampler=batches, collate_fn=lambda texts: torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
)
for epoch in range(2):
    for batch in loader:
        batch.float().mean()
