"""Right: a batch is looked at before training, the loader stays the same, and training stops early."""

import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.arange(30)), batch_size=4, shuffle=True, num_workers=2, persistent_workers=True)
(example,) = next(iter(loader))
print("a batch has", len(example), "samples")
for epoch in range(3):
    for step, (batch,) in enumerate(loader):
        if epoch == 2 and step == 3:
            break
