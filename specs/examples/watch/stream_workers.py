"""An IterableDataset with workers: each worker iterates over all of it."""

import torch
from torch.utils.data import DataLoader, IterableDataset


class Lines(IterableDataset):
    def __iter__(self):
        for number in range(8):
            yield torch.tensor([number])


lines = Lines()

if __name__ == "__main__":
    loader = DataLoader(lines, batch_size=2, num_workers=2)
    for epoch in range(2):
        for batch in loader:
            batch.float().mean()
