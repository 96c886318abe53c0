"""Right: gradient accumulation that goes on over the end of an epoch; each epoch is read to its end."""

import torch
from torch.utils.data import DataLoader, TensorDataset

model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(torch.arange(14.0).reshape(14, 1)), batch_size=2, shuffle=True)
accumulate, done = 4, 0

for epoch in range(3):
    for (x,) in loader:
        (model(x).mean() / accumulate).backward()
        done += 1
        if done % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
