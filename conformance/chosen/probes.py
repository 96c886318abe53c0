"""The probes of chapter 11: a stream in shards, one whose order hangs on an epoch of its own, sources of a mixture."""

import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

from conformance.loader.datasets import FIRST_SAMPLE, MapDataset
from conformance.loader.probes import Watch, WatchedIterable


class Shard:
    """One shard of a stream: an iterable of its elements, in their order."""

    def __init__(self, indices: range, watch: Watch) -> None:
        self.indices = indices
        self.watch = watch

    def __iter__(self) -> Iterator[Any]:
        for index in self.indices:
            self.watch.read(index, self)
            yield FIRST_SAMPLE + index


class Stream(WatchedIterable):
    """An iterable probe in shards. It yields everything, shard by shard; one may also be read alone."""

    def __init__(self, length: int, watch: Watch, shards: Sequence[range]) -> None:
        super().__init__(length, watch)
        self.shards = tuple(Shard(indices, watch) for indices in shards)


class EpochStream(Stream):
    """The same, which yields its elements in an order of its own in each epoch, and must be told which it is."""

    def __init__(self, length: int, watch: Watch, shards: Sequence[range]) -> None:
        super().__init__(length, watch, shards)
        self.epoch = -1

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        epoch = self.epoch
        self.watch.note({"heard": epoch, "process": os.getpid()})
        for index in sorted(range(self.length), key=lambda index: blake2b(f"{epoch} {index}".encode()).digest()):
            self.watch.read(index, self)
            yield FIRST_SAMPLE + index


class Source(MapDataset):
    """One source of a mixture: a map-style probe that begins behind the samples of those before it."""

    def __init__(self, indices: range, watch: Watch) -> None:
        super().__init__(len(indices))
        self.indices = indices
        self.watch = watch

    def __getitem__(self, index: int) -> Any:
        place = super().__getitem__(index) - FIRST_SAMPLE
        self.watch.read(self.indices[place], self)
        return FIRST_SAMPLE + self.indices[place]


def heard(watch: Watch) -> Iterator[tuple[int, list[int]]]:
    """The number of each epoch that the consumer began, and those that the stream was told wherever it was read."""
    epochs: list[tuple[int, list[int]]] = []
    for entry in watch.entries():
        if isinstance(entry, int):
            epochs.append((entry, []))
        elif isinstance(entry, dict) and "heard" in entry and epochs:
            epochs[-1][1].append(entry["heard"])
    yield from ((number, sorted(told)) for number, told in epochs)
