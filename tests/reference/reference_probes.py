"""Datasets that say who they are, and short ways to build loaders over them."""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset

import reference as poptorch


class Numbers(Dataset[int]):
    """Sample i is the number i."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __len__(self) -> int:
        return self.samples

    def __getitem__(self, index: int) -> int:
        return index


class Dice(Numbers):
    """Each sample is a number drawn from torch's generator when it is read."""

    def __getitem__(self, index: int) -> int:
        return int(torch.randint(2**40, ()))


class Stream(IterableDataset[int]):
    """The numbers from 0 on, without a length."""

    def __init__(self, samples: int) -> None:
        self.samples = samples

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.samples))


def options(seed: int | None = None, rank: int = 0, ranks: int = 1, **factors: int) -> poptorch.Options:
    """Return options of one rank; factors are g, r and d."""
    made = poptorch.Options()
    made.Distributed.configureProcessId(rank, ranks)
    made.Training.gradientAccumulation(factors.get("g", 1))
    made.replicationFactor(factors.get("r", 1)).deviceIterations(factors.get("d", 1))
    return made if seed is None else made.randomSeed(seed)


def loader(samples: int, batch_size: int | None = 1, *, seed: int | None = None, **how: Any) -> poptorch.DataLoader:
    """Return a loader over the numbers; `rank`, `ranks`, g, r and d go to its options, the rest to itself."""
    of_options = {name: how.pop(name) for name in ("rank", "ranks", "g", "r", "d") if name in how}
    return poptorch.DataLoader(options(seed, **of_options), Numbers(samples), batch_size, **how)


def epoch(loader: Any) -> list[list[int]]:
    """Iterate one epoch and return its steps as lists."""
    return [[int(sample) for sample in step] for step in loader]


def flat(steps: list[list[int]]) -> list[int]:
    """Return the samples of all steps."""
    return [sample for step in steps for sample in step]
