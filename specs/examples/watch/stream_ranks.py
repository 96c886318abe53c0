"""An IterableDataset that is split over workers, but not over ranks."""

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for number in range(first, 8, step):
            yield {"x": torch.tensor([number]), "name": f"line {number}"}


loader = DataLoader(Lines(), batch_size=2, num_workers=2)
for batch in loader:
    batch["x"].float().mean()
