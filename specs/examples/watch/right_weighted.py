"""Right: a weighted sampler draws with replacement, in one process; some samples come often, others never."""

import torch
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

labels = torch.tensor([0] * 18 + [1] * 6)
weights = 1 / torch.bincount(labels)[labels]
sampler = WeightedRandomSampler(weights, num_samples=24)
loader = DataLoader(TensorDataset(torch.randn(24, 2), labels), batch_size=4, sampler=sampler)
for epoch in range(3):
    for features, targets in loader:
        features.mean()
