"""A job that writes down what its loops were given, for a test to compare with the record: see test_taps.py."""

import json
import sys

import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, get_worker_info


class Numbers(Dataset):
    """Sample i is the number i."""

    def __len__(self):
        return 23

    def __getitem__(self, index):
        return index


class Stream(IterableDataset):
    """Sample i is the number i; workers take turns."""

    def __iter__(self):
        worker = get_worker_info()
        first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)
        yield from range(first, 23, step)


MANNERS = [
    dict(dataset=Numbers(), shuffle=True),
    dict(dataset=Numbers(), shuffle=True, drop_last=True, num_workers=2),
    dict(dataset=Numbers(), shuffle=True, num_workers=3, persistent_workers=True),
    dict(dataset=Numbers(), num_workers=2, in_order=False, prefetch_factor=3),
    dict(dataset=Numbers(), sampler=torch.utils.data.BatchSampler(range(23), 4, False), batch_size=None),
    dict(dataset=Stream()),
    dict(dataset=Stream(), num_workers=2, drop_last=True),
    dict(dataset=Stream(), num_workers=2, persistent_workers=True),
    dict(dataset=Stream(), num_workers=3, in_order=False),
]
# Starting a process that imports torch takes seconds, so these have one worker each.
STARTED = [
    dict(dataset=Stream(), num_workers=1, multiprocessing_context="spawn", persistent_workers=True),
    dict(dataset=Stream(), num_workers=1, multiprocessing_context="forkserver", persistent_workers=True),
]


def main(manners, path):
    """Read each loader in three epochs, of which the second is left early, and write what came."""
    came = []
    for manner in manners:
        loader = DataLoader(**{"batch_size": 4, "collate_fn": list, **manner})
        epochs = []
        for epoch in range(3):
            batches = []
            for batch in loader:
                batches.append(batch)
                if epoch == 1 and len(batches) == 2:
                    break
            epochs.append(batches)
        came.append(epochs)
    with open(path, "w") as file:
        json.dump(came, file)


if __name__ == "__main__":
    main(STARTED if sys.argv[2:] else MANNERS, sys.argv[1])
