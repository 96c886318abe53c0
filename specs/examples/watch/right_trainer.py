"""Right: a Trainer-like loop that runs for a number of steps over a loader that it begins again when it ends."""

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, model, dataset, max_steps):
        self.model, self.dataset, self.max_steps = model, dataset, max_steps

    def get_train_dataloader(self):
        sampler = DistributedSampler(self.dataset, seed=42)
        return DataLoader(self.dataset, batch_size=4, sampler=sampler, num_workers=1)

    def train(self):
        loader = self.get_train_dataloader()
        step = epoch = 0
        while step < self.max_steps:
            loader.sampler.set_epoch(epoch)
            for (x,) in loader:
                self.model(x)
                step += 1
                if step == self.max_steps:
                    break
            epoch += 1


dist.init_process_group("gloo")
Trainer(torch.nn.Linear(1, 1), TensorDataset(torch.arange(24.0).reshape(24, 1)), max_steps=8).train()
dist.destroy_process_group()
