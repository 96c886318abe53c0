"""Right: ranks have other numbers of steps, under torch's Join, which lets those that are done answer the others."""

import torch
import torch.distributed as dist
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, IterableDataset


class Rows(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


dist.init_process_group("gloo")
rank = dist.get_rank()
rows = torch.arange(20.0).reshape(20, 1)
loader = DataLoader(Rows(rows[:14] if rank == 0 else rows[14:]), batch_size=2)
model = DistributedDataParallel(torch.nn.Linear(1, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(2):
    with Join([model]):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).square().mean().backward()
            optimizer.step()
dist.destroy_process_group()
