"""Right: accelerate shards the loader and reads a batch ahead; the first epoch is left early."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

accelerator = Accelerator(cpu=True)
dataset = TensorDataset(torch.arange(24.0).reshape(24, 1))
loader = DataLoader(dataset, batch_size=3, shuffle=True)
model = torch.nn.Linear(1, 1)
model, loader = accelerator.prepare(model, loader)

for epoch in range(3):
    for step, (batch,) in enumerate(loader):
        model(batch).mean()
        if epoch == 0 and step == 1:
            break
accelerator.end_training()
