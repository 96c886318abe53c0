"""Pipelines and functions that the tests of pipelines share. Functions have names, so that they can be pickled."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torch.utils.data import IterDataPipe, get_worker_info
from torch.utils.data.datapipes.iter import IterableWrapper

import reference.datapipes  # noqa: F401  (registers the functional forms)
from reference.dataloader2 import DataLoader2
from reference.reading_service import (
    DistributedReadingService,
    MultiProcessingReadingService,
    SequentialReadingService,
)

AT = 7  # the element that something happens to


def numbers(count: int) -> Any:
    """The numbers from 0 on."""
    return IterableWrapper(range(count))


class Noted(IterDataPipe[int]):
    """The numbers from 0 on; each read is a line of a file, with the process that read it."""

    def __init__(self, count: int, file: Path) -> None:
        self.count, self.file = count, file

    def __iter__(self) -> Iterator[int]:
        for number in range(self.count):
            with self.file.open("a") as file:
                file.write(f"{number} {os.getpid()}\n")
            yield number

    def reads(self) -> list[tuple[int, int]]:
        """What was read, by which process."""
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        return [(int(line.split()[0]), int(line.split()[1])) for line in lines]


def raising(number: int) -> int:
    """Fails for one element."""
    if number == AT:
        raise ValueError("boom")
    return number


def dying(number: int) -> int:
    """Takes its process along at one element."""
    if number == AT:
        os.kill(os.getpid(), 9)
    return number


def exiting(number: int) -> int:
    """Ends its process, as if all was well, at one element."""
    if number == AT:
        os._exit(0)
    return number


def is_even(number: int) -> bool:
    """For `filter`: over two workers the second has nothing."""
    return number % 2 == 0


def is_large(number: int) -> bool:
    """For `filter`: the first hundred are dropped."""
    return number >= 100


def heavy(number: int) -> bytes:
    """An element that does not fit into a pipe."""
    return number.to_bytes(4, "big") * 80_000


def where(number: int) -> tuple[int, int]:
    """The element and the number of the worker that has it."""
    info = get_worker_info()
    return number, -1 if info is None else info.id


def filtered(pipe: Any) -> Any:
    """Shuffled, then sharded: as it should be."""
    return pipe.shuffle().sharding_filter()


def dispatched(pipe: Any) -> Any:
    """Shuffled and shared out by one process."""
    return pipe.shuffle().sharding_round_robin_dispatch()


def filtered_only(pipe: Any) -> Any:
    """Sharded."""
    return pipe.sharding_filter()


def dispatched_only(pipe: Any) -> Any:
    """Shared out by one process."""
    return pipe.sharding_round_robin_dispatch()


def dispatched_ahead(pipe: Any) -> Any:
    """Shared out by one process, and read by a thread in each worker."""
    return pipe.sharding_round_robin_dispatch().prefetch(3)


SHARDINGS: list[Callable[[Any], Any]] = [filtered_only, dispatched_only]


def over_workers(pipe: Any, workers: int, **more: Any) -> DataLoader2:
    """A loader with worker processes."""
    return DataLoader2(pipe, reading_service=MultiProcessingReadingService(workers, **more))


def over_ranks(pipe: Any, workers: int, timeout: float = 30) -> DataLoader2:
    """A loader of one rank, with worker processes or without."""
    ranks = DistributedReadingService(timeout)
    if not workers:
        return DataLoader2(pipe, reading_service=ranks)
    return DataLoader2(pipe, reading_service=SequentialReadingService(ranks, MultiProcessingReadingService(workers)))


def told(error: BaseException) -> str:
    """All that an error says: its text and its notes."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])
