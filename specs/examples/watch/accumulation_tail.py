"""Gradient accumulation that leaves each epoch before its end: the last batches of an unshuffled loader never come."""

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.arange(14.0).reshape(14, 1)), batch_size=2)
accumulate = 4

for epoch in range(3):
    batches = iter(loader)
    for step in range(len(loader) // accumulate):
        for _ in range(accumulate):
            (x,) = next(batches)
            (model(x).mean() / accumulate).backward()
        optimizer.step()
        optimizer.zero_grad()
