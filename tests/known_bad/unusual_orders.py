"""Correct loaders of unusual kinds, chapters 1 to 3: how an order comes about, and what a step is."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch

from tests.known_bad.correct import FULL, Correct, claim, mix

PLAIN = claim(FULL, device_options=None)
_MASK = 2**64 - 1


class SwapsWithoutAList(Correct):
    """No order is ever held: each place of the epoch is looked up by itself (swap or not, 64 times)."""

    claims: ClassVar[dict[str, Any]] = PLAIN

    def __len__(self) -> int:
        samples, size = self.shard_size(), self.request.batch_size
        return samples // size if self.request.drop_last else -(-samples // size)

    def shard_size(self) -> int:
        """The samples of this rank."""
        samples, ranks = len(self.request.dataset), self.request.world_size
        return samples // ranks if self.policy() == "drop" else -(-samples // ranks)

    def __iter__(self) -> Iterator[list[int]]:
        size, shard = self.request.batch_size, self.shard_size()
        seed, steps = self.mixed_seed(), len(self)
        for step in range(steps):
            places = range(step * size, min((step + 1) * size, shard))
            yield self.fetch([self.at(place, seed) for place in places])

    def at(self, place: int, seed: int) -> int:
        """The sample at a place of this rank's shard."""
        samples = len(self.request.dataset)
        place = (self.request.rank + place * self.request.world_size) % samples
        for number in range(64) if self.request.shuffle else ():
            # Not the numbers themselves: swaps at equal distances would only move samples to and fro.
            key = scrambled(seed + number & _MASK)
            partner = (key - place) % samples
            if scrambled(key ^ max(place, partner)) >> 63:
                place = partner
        return place


def scrambled(number: int) -> int:
    """A number in which each bit depends on each."""
    for factor in (0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
        number = (number ^ number >> 30) * factor & _MASK
    return number ^ number >> 31


class DropsTheFirst(Correct):
    """What does not fill a step of each rank is left out at the beginning of an epoch, and not at its end."""

    claims: ClassVar[dict[str, Any]] = claim(PLAIN, layout=None)

    def order(self) -> list[int]:
        """The samples of the epoch, in order."""
        order, of_all = super().order(), self.request.combined_batch * self.request.world_size
        return order[len(order) % of_all :] if self.request.drop_last else order


class SortsByHash(Correct):
    """The order is that of the samples' hashes."""

    claims: ClassVar[dict[str, Any]] = claim(FULL, layout="contiguous")

    def order(self) -> list[int]:
        """The samples, sorted by what seed and epoch make of their numbers."""
        key = self.mixed_seed()
        order = list(range(len(self.request.dataset)))
        return sorted(order, key=lambda index: mix(key, index)) if self.request.shuffle else order


def numbers(samples: list[Any]) -> list[int]:
    """The samples of a typed loader, or an error that names the type of another one (WORK-17)."""
    for sample in samples:
        if not isinstance(sample, int):
            raise TypeError(f"a sample is of the type {type(sample).__name__}, and this loader is one of integers")
    return samples


def fetched(loader: Correct, step: list[int]) -> Any:
    """The samples of a step; no error of the dataset ends the epoch of an iterator that is no generator (ERROR-3)."""
    try:
        return loader.fetch(step)
    except (StopIteration, IndexError) as error:
        raise LookupError(f"the step of {step} can't be read: {error}") from error


class GivesArrays(Correct):
    """A step is an array, and the order is numpy's."""

    claims: ClassVar[dict[str, Any]] = PLAIN

    def shuffled(self, order: list[int], generator: Any) -> list[int]:
        """The order, by a generator of its own."""
        return list(np.random.default_rng(self.mixed_seed()).permutation(order))

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step, which must be numbers."""
        return np.asarray(numbers(super().fetch(step)))


class GivesTensors(Correct):
    """A step is a tensor of three axes in a dict, and the order is torch's."""

    claims: ClassVar[dict[str, Any]] = claim(FULL, when_dropping="uneven", when_keeping="uneven")

    def shuffled(self, order: list[int], generator: Any) -> list[int]:
        """The order, by a generator of its own."""
        own = torch.Generator().manual_seed(self.mixed_seed())
        return [order[at] for at in torch.randperm(len(order), generator=own)]

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step."""
        return {"x": torch.tensor(numbers(super().fetch(step))).reshape(-1, 1, 1)}


class CarriesItsOrderOn(Correct):
    """Each epoch shuffles what the one before it had shuffled."""

    claims: ClassVar[dict[str, Any]] = PLAIN

    def order(self) -> list[int]:
        """The order of this epoch, from that of the first one on."""
        order = list(range(len(self.request.dataset)))
        for epoch in range(self.epoch + 1) if self.request.shuffle else ():
            np.random.Generator(np.random.PCG64(mix(self.request.seed, epoch))).shuffle(order)
        return order


class Counter(Iterator[Any]):
    """The iterator over the steps of a loader: an object that counts, and no generator."""

    def __init__(self, loader: Any) -> None:
        self.loader, self.steps, self.at = loader, loader.steps(), 0

    def __next__(self) -> Any:
        if self.at == len(self.steps):
            raise StopIteration
        self.at += 1
        return fetched(self.loader, self.steps[self.at - 1])


class CountsInAnIterator(Correct):
    """Its iterators are objects that know how far they are."""

    claims: ClassVar[dict[str, Any]] = claim(FULL, when_keeping="drop")

    def __iter__(self) -> Iterator[Any]:
        return Counter(self)


class AsksAgainAndAgain(Correct):
    """Its iterators are made by `iter(function, end)`."""

    claims: ClassVar[dict[str, Any]] = PLAIN

    def __iter__(self) -> Iterator[Any]:
        steps = iter(self.steps())

        def more() -> Any:
            step = next(steps, None)
            return step if step is None else fetched(self, step)

        return iter(more, None)


class IsASequence(Sequence[Any]):
    """A sequence of steps, read backwards and forwards by whoever likes to: it has no `__iter__` of its own.

    So an older iterator would go on in the order of a newer epoch: it has one order for all.
    """

    claims: ClassVar[dict[str, Any]] = claim(PLAIN, shuffle=None)

    @classmethod
    def load(cls, request: Any) -> "IsASequence":
        """The adapter's function."""
        return cls(request)

    def __init__(self, request: Any) -> None:
        self.inner = Correct(request)
        self.set_epoch(0)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.inner.set_epoch(epoch)
        self.steps = self.inner.steps()

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, number: Any) -> Any:
        step = self.steps[number]
        return fetched(self.inner, step)


class Delegates:
    """All but its iterator is another object's, found by `__getattr__`."""

    claims: ClassVar[dict[str, Any]] = claim(PLAIN, length=None)

    @classmethod
    def load(cls, request: Any) -> "Delegates":
        """The adapter's function."""
        return cls(request)

    def __init__(self, request: Any) -> None:
        self.inner = Correct(request)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.inner)


class PadsWithAMask(Correct):
    """The last step is filled up with nothing, and a mask says so, which the adapter knows how to read."""

    claims: ClassVar[dict[str, Any]] = claim(PLAIN, when_keeping="uneven")

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step in as many places as a full one has."""
        places = np.full(self.request.batch_size, -1)
        places[: len(step)] = numbers(super().fetch(step))
        return places, places >= 0

    @staticmethod
    def decode(batch: Any) -> Any:
        """The samples of a batch."""
        places, mask = batch
        return places[mask]


class Batch(NamedTuple):
    """The samples of several micro-batches behind one another, and how many each has."""

    values: list[int]
    lengths: list[int]


class InNamedTuples(Correct):
    """A batch is a named tuple, which also holds numbers that are no samples."""

    claims: ClassVar[dict[str, Any]] = FULL

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step, and their numbers."""
        return Batch(super().fetch(step), [len(step)])

    @staticmethod
    def decode(batch: Batch) -> list[int]:
        """The samples of a batch."""
        return batch.values


class DealsOutSteps(Correct):
    """Whole steps are dealt out to ranks in turn, and nothing is claimed of that."""

    claims: ClassVar[dict[str, Any]] = dict(shuffle="global")

    def steps(self) -> list[list[int]]:
        """This rank's steps."""
        size, ranks = self.request.batch_size, self.request.world_size
        order = self.order()
        if self.request.drop_last:
            order = order[: len(order) // (size * ranks) * (size * ranks)]
        steps = [order[at : at + size] for at in range(0, len(order), size)]
        return steps[self.request.rank :: ranks]


UNUSUAL_ORDERS: tuple[type[Any], ...] = (
    SwapsWithoutAList,
    DropsTheFirst,
    SortsByHash,
    GivesArrays,
    GivesTensors,
    CarriesItsOrderOn,
    CountsInAnIterator,
    AsksAgainAndAgain,
    IsASequence,
    Delegates,
    PadsWithAMask,
    InNamedTuples,
    DealsOutSteps,
)
