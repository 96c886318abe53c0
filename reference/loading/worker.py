"""Decides in which state a worker process begins an epoch: its random numbers, and what it is told about itself.

Random numbers. At the beginning of every epoch each worker seeds `random`, numpy and torch, each with bits of its
own, from (seed, epoch, rank, worker). So the draws of two workers, ranks or epochs differ, and the same four numbers
draw the same again, in a persistent worker as in a new one, and whether the epoch was counted up to or set.
`get_worker_info().seed` is then `torch.initial_seed()`: use it for generators of your own.

Worker information. `get_worker_info()` speaks of the user's dataset, not of what the loader wraps around it.
"""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import get_worker_info

from ..rules.streams import begin_epoch
from .faults import Failure, Source, caught


def seed_worker(epoch_seed: int) -> None:
    """Seed this worker for an epoch; `epoch_seed` is what `shuffle.worker_seed` makes of (seed, epoch, rank)."""
    info = get_worker_info()
    assert info is not None
    # WORK-7: torch has told the seed of the first epoch, and made the object unchangeable.
    object.__setattr__(info, "seed", seed_generators(epoch_seed, info.id))


def seed_generators(epoch_seed: int, worker: int) -> int:
    """Seed this process for an epoch of worker number `worker`; return the seed that torch was given."""
    # WORK-8, WORK-9, WORK-10, WORK-11: hashed and not added, so that no worker meets the numbers of another one's
    # neighbour; three streams, so that the libraries do not echo each other.
    mixed = np.random.SeedSequence(epoch_seed, spawn_key=(worker,)).generate_state(6, np.uint32)
    seed = int(mixed[:2].view(np.uint64)[0]) % 2**63
    # A worker draws on the CPU; torch.manual_seed would look after every other kind of device as well.
    torch.default_generator.manual_seed(seed)
    random.seed(int(mixed[2:4].view(np.uint64)[0]))
    np.random.seed(mixed[4:])
    return seed


def go_on(epoch_seed: int, epoch: int) -> None:
    """Begin another epoch in this worker, which has read some before."""
    seed_worker(epoch_seed)
    info = get_worker_info()
    assert info is not None
    # STREAM-5: the dataset of a persistent worker is the copy that it was started with.
    begin_epoch(info.dataset, epoch)


class NextEpoch:
    """A message that seeds the persistent worker which receives it, before anything of the epoch is read.

    torch tells persistent workers of a new epoch with a message that may carry something. Unpickling this calls
    `go_on`, and gives None.
    """

    def __init__(self, epoch_seed: int, epoch: int) -> None:
        self.epoch_seed = epoch_seed
        self.epoch = epoch

    def __reduce__(self) -> tuple[Callable[[int, int], None], tuple[int, int]]:
        return go_on, (self.epoch_seed, self.epoch)


class Starting:
    """What torch calls in a new worker in the place of the user's worker initialiser."""

    def __init__(self, epoch_seed: int, initialiser: Callable[[int], Any] | None) -> None:
        self.epoch_seed = epoch_seed
        self.initialiser = initialiser

    def __call__(self, worker: int) -> None:
        info = get_worker_info()
        assert info is not None
        source = info.dataset
        assert isinstance(source, Source)
        # WORK-7: the worker's own copy of the dataset is the user's to look at and to change.
        object.__setattr__(info, "dataset", source.dataset)
        seed_worker(self.epoch_seed)
        if self.initialiser is None:
            return
        try:
            self.initialiser(worker)
        except caught() as error:
            # ERROR-6: the first step of this worker fails.
            source.failure = Failure(error, "by the worker initialiser")
