"""Training and validation over subsets that overlap: two random splits were made of one dataset."""

import torch
from torch.utils.data import DataLoader, Subset, TensorDataset

dataset = TensorDataset(torch.randn(20, 3))
train = Subset(dataset, torch.randperm(20)[:16].tolist())
valid = Subset(dataset, torch.randperm(20)[:8].tolist())
train_loader = DataLoader(train, batch_size=4, shuffle=True)
valid_loader = DataLoader(valid, batch_size=4)
model = torch.nn.Linear(3, 1)

for epoch in range(2):
    model.train()
    for (x,) in train_loader:
        model(x)
    model.eval()
    with torch.no_grad():
        for (x,) in valid_loader:
            model(x)
