"""Right: every rank looks at the same batch before it trains on its own; the loader of that look is thrown away."""

import os

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dataset = TensorDataset(torch.arange(40.0))
(example,) = next(iter(DataLoader(dataset, batch_size=4)))
print("a batch has", len(example), "samples")
sampler = DistributedSampler(dataset, int(os.environ["WORLD_SIZE"]), int(os.environ["RANK"]))
loader = DataLoader(dataset, batch_size=4, sampler=sampler)
for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in loader:
        batch.mean()
