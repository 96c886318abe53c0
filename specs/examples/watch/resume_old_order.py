"""The epoch is set for the next one, at the end of each: a restart reads its first epoch in epoch 0's order."""

import json
import os
import sys

import torch
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

checkpoint = sys.argv[1] if len(sys.argv) > 1 else "checkpoint.json"
state = {"epoch": 0, "step": 0}
if os.path.exists(checkpoint):
    with open(checkpoint) as file:
        state = json.load(file)

data = TensorDataset(torch.arange(32.0))
sampler = DistributedSampler(data, num_replicas=1, rank=0)
loader = DataLoader(data, batch_size=4, sampler=sampler)
model = torch.nn.Linear(1, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
for epoch in range(state["epoch"], 3):
    for step, (batch,) in enumerate(loader):
        if epoch == state["epoch"] and step < state["step"]:
            continue  # done before the restart, it seems
        optimizer.zero_grad()
        model(batch[:, None]).mean().backward()
        optimizer.step()
        if epoch == 1 and step == 2 and not state["step"]:
            with open(checkpoint, "w") as file:
                json.dump({"epoch": epoch, "step": step + 1}, file)
            sys.exit()  # preempted
    sampler.set_epoch(epoch + 1)
