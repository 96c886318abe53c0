"""Right: it goes on in epoch 1 from a checkpoint, whose first steps another job had; len() is that of a whole epoch."""

import torch
from torch.utils.data import DataLoader, Sampler, TensorDataset

checkpoint = {"epoch": 1, "step": 3}


class Resumable(Sampler):
    def __init__(self, length):
        self.length, self.epoch, self.start = length, 0, 0

    def set_epoch(self, epoch, start=0):
        self.epoch, self.start = epoch, start

    def __len__(self):
        return self.length

    def __iter__(self):
        generator = torch.Generator().manual_seed(self.epoch)
        yield from torch.randperm(self.length, generator=generator).tolist()[self.start :]


dataset = TensorDataset(torch.arange(24))
sampler = Resumable(24)
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
for epoch in range(checkpoint["epoch"], 3):
    first = checkpoint["step"] if epoch == checkpoint["epoch"] else 0
    sampler.set_epoch(epoch, start=first * loader.batch_size)
    for step, (batch,) in enumerate(loader, start=first):
        batch.float().mean()
