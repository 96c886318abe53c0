"""drop_last, copied from the training loader into the evaluation: the last samples are never evaluated."""

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(1, 1)
train = TensorDataset(torch.arange(16.0).reshape(16, 1))
test = TensorDataset(torch.arange(10.0).reshape(10, 1))
options = dict(batch_size=4, drop_last=True)
train_loader = DataLoader(train, shuffle=True, **options)
test_loader = DataLoader(test, **options)

for epoch in range(2):
    model.train()
    for (x,) in train_loader:
        model(x).mean().backward()
    model.eval()
    with torch.no_grad():
        for (x,) in test_loader:
            model(x)
