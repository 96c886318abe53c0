"""A small loader in itertools.cycle beside a large one: cycle keeps its batches, and nothing is shuffled again."""

from itertools import cycle

import torch
from torch.utils.data import DataLoader, TensorDataset

labelled = DataLoader(TensorDataset(torch.arange(16.0)), batch_size=4, shuffle=True)
unlabelled = DataLoader(TensorDataset(torch.arange(48.0)), batch_size=4, shuffle=True)
batches = cycle(labelled)

for _ in range(2):
    for (unknown,) in unlabelled:
        (known,) = next(batches)
        known.mean() + unknown.mean()
