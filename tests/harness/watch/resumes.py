"""A job that is stopped within an epoch, or behind its last batch, and goes on from its loader's state. Run twice."""

import os
import sys

import torch
from torchdata.stateful_dataloader import StatefulDataLoader

path, steps, workers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
loader = StatefulDataLoader(list(range(24)), batch_size=4, num_workers=workers, collate_fn=list)
first = not os.path.exists(path)
if not first:
    loader.load_state_dict(torch.load(path, weights_only=False))
for _ in range(2):
    for step, _ in enumerate(loader, start=1):
        if first and step == steps:
            torch.save(loader.state_dict(), path)
            sys.exit()
