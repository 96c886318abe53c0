"""A job whose loader accelerate reads on rank 0 alone, and cuts up for all ranks: each sample comes once."""

import torch
from accelerate import Accelerator
from accelerate.utils import DataLoaderConfiguration
from torch.utils.data import DataLoader, IterableDataset, TensorDataset


class Stream(IterableDataset):
    """Sample i is the number i."""

    def __iter__(self):
        yield from (torch.tensor([number]) for number in range(16))


accelerator = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(dispatch_batches=True))
loader = accelerator.prepare(DataLoader(Stream(), batch_size=2))
for epoch in range(2):
    for step, _ in enumerate(loader):
        if epoch == 1 and step == 1:
            break
loader = accelerator.prepare(DataLoader(TensorDataset(torch.arange(16)), batch_size=2))
for _ in range(2):
    for _ in loader:
        pass
accelerator.end_training()
