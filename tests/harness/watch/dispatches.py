"""A job whose loader accelerate reads on rank 0 alone, and cuts up for all ranks: each sample comes once."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, IterableDataset


class Stream(IterableDataset):
    """Sample i is the number i."""

    def __iter__(self):
        yield from (torch.tensor([number]) for number in range(16))


accelerator = Accelerator(cpu=True)
loader = accelerator.prepare(DataLoader(Stream(), batch_size=2))
for epoch in range(2):
    for step, _ in enumerate(loader):
        if epoch == 1 and step == 1:
            break
accelerator.end_training()
