"""Hooks that a request hands over: they note that they were called, or break where the drawn fault is."""

import os
import sys
from typing import Any

import numpy as np

from conformance.loader.datasets import FIRST_SAMPLE
from conformance.loader.errors import broken
from conformance.loader.log import append
from conformance.loader.probes import Watch
from conformance.trial.words import place_of


class NotingCollate:
    """A collate function that gives a plain list, or one array of numbers, and notes that it was called."""

    def __init__(self, watch: Watch, stacks: bool = False) -> None:
        self.watch = watch
        self.stacks = stacks

    def __call__(self, samples: list[Any]) -> Any:
        """The samples as they are; where they are stacked, as a tensor of torch if that is loaded."""
        values = [int(sample) for sample in samples]
        append(self.watch.log, {"collated": [value - FIRST_SAMPLE for value in values]})
        if not self.stacks:
            return samples
        array = np.asarray(values, dtype=np.int64)
        return sys.modules["torch"].from_numpy(array) if "torch" in sys.modules else array


class NotingInitialiser:
    """A worker initialiser that notes in which worker it was called."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, worker: int) -> None:
        """Do nothing else."""
        append(self.watch.log, {"begun": int(worker), "process": os.getpid()})


class BreakingCollate:
    """A collate function that gives a plain list, and raises at the sample of the fault."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, samples: list[Any]) -> list[Any]:
        """The samples as they are."""
        place = place_of(self.watch.fault)
        if FIRST_SAMPLE + place in samples and self.watch.fires():
            raise broken(self.watch.error, self.watch.fault)
        return samples


class StrictCollate:
    """A collate function that gives a plain list, and needs a sample to make it of, as `torch.stack` does."""

    def __call__(self, samples: list[Any]) -> list[Any]:
        """The samples as they are."""
        if not len(samples):
            raise ValueError("a collate function was given no samples")
        return samples


class BreakingInitialiser:
    """A worker initialiser that raises in the worker of the fault."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, worker: int) -> None:
        """Raise, or do nothing."""
        if worker == place_of(self.watch.fault) and self.watch.fires():
            raise broken(self.watch.error, self.watch.fault)


def listed(samples: list[Any]) -> list[Any]:
    """A collate function that gives a plain list."""
    return list(samples)
