"""Decides the order of a shuffled stream, and how a stream hears of the epoch that is read.

A stream has no indices to permute. `shuffled(dataset, seed, rank, ranks)` shares it out first, element by element, so
that each comes once whatever the epoch; then each worker draws what it reads from a buffer of its next elements.

An epoch is told by the loader, in every process that reads: before its iterator is made, to workers that are started
for it with the dataset, and to persistent ones by message (`loading/worker.py`).
"""

from collections.abc import Iterable, Iterator
from itertools import islice
from random import Random
from typing import Any

import numpy as np
from torch.utils.data import get_worker_info

from .checks import check_integer
from .shuffle import check_seed, worker_seed
from .splitting import Split, Splitter, splitter


class EpochSplit(Split):
    """A split of a dataset that has an epoch of its own: its `set_epoch` is called before each epoch."""

    def set_epoch(self, epoch: int) -> None:
        """Tell the dataset which epoch comes, if it wants to know."""
        # STREAM-5: each worker has a copy of the dataset, and so this is called in each.
        if hasattr(self.dataset, "set_epoch"):
            self.dataset.set_epoch(epoch)


class ShuffledStream(EpochSplit):
    """A stream whose every worker on every rank draws its own share through a buffer. See `shuffled`."""

    def __init__(self, dataset: Iterable[Any], how: Splitter, seed: int, buffer_size: int) -> None:
        super().__init__(dataset, how)
        self.seed = check_seed(seed)
        self.buffer_size = check_integer("buffer_size", buffer_size)
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes, to the dataset as well."""
        super().set_epoch(epoch)
        self.epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        info = get_worker_info()
        # STREAM-1, STREAM-2, STREAM-3: hashed of (seed, epoch, rank, worker), and of nothing that a process has.
        key = worker_seed(self.seed, self.epoch, self.how.rank)
        mixed = np.random.SeedSequence(key, spawn_key=(0 if info is None else info.id,))
        draw = Random(int(mixed.generate_state(1, np.uint64)[0]))
        elements = super().__iter__()
        buffer = list(islice(elements, self.buffer_size))
        for element in elements:
            place = draw.randrange(len(buffer))
            yield buffer[place]
            buffer[place] = element
        # STREAM-4: what the buffer still holds comes in the end.
        draw.shuffle(buffer)
        yield from buffer


def shuffled(
    dataset: Iterable[Any], seed: int, rank: int = 0, ranks: int = 1, buffer_size: int = 1000
) -> ShuffledStream:
    """Return the dataset, split over ranks and workers and drawn through a buffer; see the module docstring."""
    return ShuffledStream(dataset, splitter(rank, ranks), seed, buffer_size)


def begin_epoch(dataset: Any, epoch: int) -> None:
    """Tell a stream of ours which epoch comes, in the process that will read it."""
    if isinstance(dataset, EpochSplit):
        dataset.set_epoch(epoch)
