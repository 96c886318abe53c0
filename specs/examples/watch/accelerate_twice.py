"""accelerate.prepare of a loader that is sharded already: each rank gets a shard of its shard."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

accelerator = Accelerator(cpu=True)
dataset = TensorDataset(torch.arange(16.0).reshape(16, 1))
sampler = DistributedSampler(dataset, accelerator.num_processes, accelerator.process_index)
loader = DataLoader(dataset, batch_size=2, sampler=sampler)
loader = accelerator.prepare(loader)

for epoch in range(2):
    sampler.set_epoch(epoch)
    for (batch,) in loader:
        batch.mean()
accelerator.end_training()
