"""What set_epoch of a dataset sets is told, unless a copy may hear of it in another way."""

import multiprocessing
from collections.abc import Iterator
from typing import Any

import torch

from conformance.watch.copies import epoch_state


class Dataset:
    """Has a stage and a name, and much else that set_epoch does not set."""

    def __init__(self, **more: Any) -> None:
        self.size, self.stage, self.name = 8, 1, "all"
        self.__dict__.update(more)

    def set_epoch(self, epoch: int) -> None:
        """Set two of them."""
        self.stage = epoch + 1
        self.order = [epoch]


class Plain:
    """Hears of no epoch."""

    epoch = 0


class Corpus:
    """Reads what fits, and counts its passes."""

    def __init__(self) -> None:
        self.longest, self.passes, self.unread = 12, 0, 1

    def __iter__(self) -> Iterator[int]:
        """Those that fit."""
        self.passes += 1
        yield from (each for each in range(99) if self._fits(each))

    def _fits(self, each: int) -> bool:
        return each < self.longest


def test_what_decides_on_the_samples_is_told() -> None:
    """What reading asks for, in the methods that it calls too; no count of its own, and nothing that is not read."""
    assert {"longest": 12} == epoch_state(Corpus())


class Jitter:
    """A transform with a strength."""

    def __init__(self, strength: float) -> None:
        self.strength, self.unread = strength, 1

    def __call__(self, sample: float) -> float:
        """The sample, and a bit."""
        return sample + self.strength


class Images:
    """Reads by two transforms, of which one is in a list."""

    def __init__(self) -> None:
        self.transform, self.steps, self.count = Jitter(0.5), [Jitter(0.25)], 3

    def __getitem__(self, index: int) -> float:
        """A sample."""
        return self.steps[0](self.transform(float(index % self.count)))


def test_what_a_transform_reads_is_told() -> None:
    """By the way to it, from the dataset on; with what is shared there nothing is."""
    images = Images()
    assert {"count": 3, "steps[0].strength": 0.25, "transform.strength": 0.5} == epoch_state(images)
    images.transform.unread = torch.zeros(1).share_memory_()  # type: ignore[assignment]
    assert epoch_state(images) is None


def test_only_what_set_epoch_assigns_is_told() -> None:
    """Numbers and texts, and nothing that holds others."""
    dataset = Dataset()
    dataset.set_epoch(3)
    assert {"stage": 4} == epoch_state(dataset)
    assert epoch_state(Plain()) is None


def test_a_dataset_that_shares_something_is_not_looked_at() -> None:
    """Its copies may hear of the epoch in shared memory."""
    for shared in (torch.tensor(0).share_memory_(), multiprocessing.Value("i", 0)):
        assert epoch_state(Dataset(shared=shared)) is None
    assert {"stage": 1} == epoch_state(Dataset(own=torch.tensor(0)))
