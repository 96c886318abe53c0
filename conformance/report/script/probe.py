"""What a loader is given and what is read out of its batches, as in `conformance.loader.datasets` but without NumPy."""

import importlib
import sys
from collections.abc import Iterator
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

from conformance.report.script.ending import interrupt_once
from conformance.report.script.watch import break_once, log_read, write_log

CASE = SimpleNamespace()


def make_sample(index: int) -> Any:
    """Stands for what a sample of the case is, if it is no number."""
    raise NotImplementedError


class Dataset:
    """Sample i is the integer 1000 + i, or made from i."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> Any:
        if not -self.length <= index < self.length:
            raise IndexError(index)
        log_read(int(index) % self.length, self)  # only: log
        interrupt_once(int(index) % self.length)  # only: interrupts
        break_once(int(index) % self.length)  # only: broken
        return make_sample(int(index) % self.length)  # only: kind
        return 1000 + int(index) % self.length  # only: numbers


class Elements:
    """An iterable dataset: element i is 1000 + i, or made from i. It yields all of them: splitting is not its task."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __iter__(self) -> Iterator[Any]:
        for index in range(self.length):
            log_read(index, self)  # only: log
            interrupt_once(index)  # only: interrupts
            break_once(index)  # only: broken
            yield make_sample(index)  # only: kind
            yield 1000 + index  # only: numbers

    def __reduce__(self) -> Any:
        return elements, (self.length,)


class Stream(Elements):
    """An iterable dataset in shards, each of which may be read alone."""

    def __init__(self, length: int) -> None:
        self.length = length
        self.shards = tuple(Shard(places) for places in CASE.shards)

    def __reduce__(self) -> Any:
        return elements, (self.length, Stream)


class Shard:
    """One shard of a stream."""

    def __init__(self, places: range) -> None:
        self.places = places

    def __iter__(self) -> Iterator[Any]:
        return (1000 + index for index in self.places)


class EpochStream(Stream):
    """A stream that yields its elements in an order of its own in each epoch, and must be told which it is."""

    epoch = -1

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[Any]:
        epoch = self.epoch
        write_log({"heard": epoch})
        order = sorted(range(self.length), key=lambda index: sha256(f"{epoch} {index}".encode()).digest())
        return (1000 + index for index in order)

    def __reduce__(self) -> Any:
        return elements, (self.length, EpochStream), {"epoch": self.epoch}


def elements(length: int, kind: Any = Elements) -> Any:
    """An iterable dataset, of torch's kind where the implementation has loaded torch."""
    if "torch" not in sys.modules:
        return kind(length)
    base = importlib.import_module("torch.utils.data").IterableDataset
    return type("TorchElements", (kind, base), {})(length)


class Source(Dataset):
    """One source of a mixture: it begins behind the samples of those before it."""

    def __init__(self, places: range) -> None:
        super().__init__(len(places))
        self.first = places.start

    def __getitem__(self, index: int) -> Any:
        return super().__getitem__(index) + self.first


def decode(batch: Any) -> list[int]:
    """The numbers in a batch: a tensor, array, list, tuple or dict, nested or not."""
    batch = batch.tolist() if hasattr(batch, "tolist") else batch
    batch = list(batch.values()) if isinstance(batch, dict) else batch
    if hasattr(batch, "__iter__") and not hasattr(batch, "__next__") and not isinstance(batch, str | bytes):
        return [number for part in batch for number in decode(part)]
    if not isinstance(batch, int | float) or isinstance(batch, bool) or batch != int(batch):
        raise TypeError(f"a batch holds {batch!r}, which is no sample")
    return [int(batch)]
