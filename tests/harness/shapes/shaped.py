"""Loaders without an adapter: one correct loader under the parameters of many, and what can't be asked for."""

import random
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, Sampler


class Plain:
    """A loader of one rank."""

    def __init__(self, dataset: Any, batch_size: int = 1, shuffle: bool = False, seed: int = 0) -> None:
        if batch_size < 1 or type(batch_size) is not int:
            raise ValueError(f"batch_size={batch_size!r} is no positive integer")
        self.dataset, self.batch_size, self.shuffle, self.seed = dataset, batch_size, shuffle, seed
        self.epoch = 0

    def load(self) -> None:
        """What some loaders have is no `load` of an adapter."""
        raise AssertionError

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes."""
        self.epoch = epoch

    def shard(self) -> list[int]:
        """All indices in the order of the epoch."""
        order = list(range(len(self.dataset)))
        if self.shuffle:
            random.Random(f"{self.seed} {self.epoch}").shuffle(order)
        return order

    def __iter__(self) -> Iterator[list[Any]]:
        shard = self.shard()
        for start in range(0, len(shard), self.batch_size):
            yield [self.dataset[index] for index in shard[start : start + self.batch_size]]


class Ranked(Plain):
    """One that is told its rank, and the rest through keywords."""

    def __init__(self, data: Any, bs: int, *, process_index: int, process_count: int, **others: Any) -> None:
        super().__init__(data, bs, **others)
        if type(process_count) is not int or not 0 <= process_index < process_count:
            raise ValueError(f"there is no rank {process_index} of {process_count}")
        self.process_index, self.process_count = process_index, process_count

    def shard(self) -> list[int]:
        """Every so manieth index."""
        return super().shard()[self.process_index :: self.process_count]


class OfAnEpoch:
    """One that is made for an epoch, whose number it is given."""

    def __init__(self, dataset: Any, batch_size: int, seed: int, shuffle: bool, epoch: int) -> None:
        self.plain = Plain(dataset, batch_size, shuffle, seed)
        self.plain.set_epoch(epoch)

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.plain)


class Needy(Plain):
    """One that needs what nobody can guess."""

    def __init__(self, path: str, dataset: Any) -> None:
        super().__init__(dataset)


def of_samples(dataset: Any) -> list[Any]:
    """One without steps."""
    return [dataset[index] for index in range(len(dataset))]


def seeded_by_generator(dataset: Any, shuffle: bool, generator: torch.Generator) -> list[Any]:
    """A seed that comes as a generator."""
    order = torch.randperm(len(dataset), generator=generator) if shuffle else range(len(dataset))
    return [dataset[int(index)] for index in order]


class OwnLoader(DataLoader[Any]):
    """A class derived from torch's loader, which passes on what it is given."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)


class OwnSampler(Sampler[int]):
    """A sampler of ranks, which may leave ranks with a sample more."""

    def __init__(self, data_source: Any, rank: int, world_size: int, shuffle: bool = True, seed: int = 0) -> None:
        self.ranked = Ranked(data_source, 1, process_index=rank, process_count=world_size, shuffle=shuffle, seed=seed)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes."""
        self.ranked.set_epoch(epoch)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ranked.shard())


class OwnBatches(BatchSampler):
    """A batch sampler on top of a sampler."""
