"""Persistent workers keep their copies of the dataset, which never hear of set_epoch: every epoch is shuffled alike."""

import random

import torch
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Lines(IterableDataset):
    epoch = 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __iter__(self):
        worker = get_worker_info()
        numbers = list(range(64))
        random.Random(self.epoch).shuffle(numbers)
        for number in numbers[worker.id :: worker.num_workers]:
            yield torch.tensor([float(number)])


if __name__ == "__main__":
    lines = Lines()
    loader = DataLoader(lines, batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        lines.set_epoch(epoch)
        for batch in loader:
            batch.mean()
