"""Decides which elements of an iterable-style dataset each worker of each rank reads, so that each is read once.

A stream has no indices, so each process has to know which elements are its own. With R ranks of W workers:

    "strided"     element i belongs to rank i mod R, and there to worker (i div R) mod W
    "contiguous"  rank r has one run of elements, and each of its workers one run of that; needs the length

Either way no two shares of an epoch differ by more than one element between ranks, nor between the workers of one
rank, and what a rank has does not depend on how many workers help it. There are two ways to apply it:

    split(dataset, rank, ranks)              wraps any iterable dataset; right with workers and without
    split_worker_init_fn(rank, ranks)        narrows a dataset that has bounds (`start`, `end`, `step`) in each worker

The second is called in workers only, so without workers each rank reads everything: for several ranks give it at
least one. Wrapping skips what belongs to others, so each worker reads the stream up to its own last element; a
dataset that is slow to skip had better split itself, by `share`.

drop_last. Each worker cuts its own elements into steps, so each drops a rest of its own, up to N - 1 elements: of
100 elements on 7 workers with steps of 4, the workers have 15, 15, 14, ... 14 and use 12 each, 84 in all (80 if the
workers' shares are rounded up: 15 for six and 10 for the last). Kept, each worker's last step may be smaller.
"""

from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass
from itertools import islice
from typing import Any

from torch.utils.data import IterableDataset, get_worker_info

from .arithmetic import count_steps, shard_size, shard_start
from .checks import check_integer, check_rank, show

LAYOUTS = ("contiguous", "strided")


@dataclass(frozen=True, slots=True)
class Splitter:
    """What is known of a split before a worker asks for its share. Make it with `splitter`, which checks."""

    rank: int
    ranks: int
    layout: str
    length: int | None
    """Elements of the whole dataset, or None if the dataset is to be asked."""


def splitter(rank: int, ranks: int, layout: str = "strided", length: int | None = None) -> Splitter:
    """Return a checked split. Raises TypeError or ValueError (BATCH-4, BATCH-5)."""
    rank, ranks = check_rank(rank, ranks)
    if layout not in LAYOUTS:
        raise ValueError(f"layout is {show(layout)}, but must be one of {LAYOUTS}: give 'strided', for example.")
    return Splitter(rank, ranks, layout, None if length is None else check_integer("length", length, least=0))


def share(
    length: int | None, rank: int, ranks: int, worker: int = 0, workers: int = 1, layout: str = "strided"
) -> slice:
    """Return which elements one worker of one rank reads, as a slice of the dataset.

    `length` None means unknown, and the slice of a strided share is then open at its end. Raises TypeError or
    ValueError for a bad argument.
    """
    asked = splitter(rank, ranks, layout, length)
    worker = check_integer("worker", worker, least=0, most=check_integer("workers", workers) - 1)
    if layout == "strided":
        # WORK-3: i = rank + ranks * (worker + workers * k) has one solution for each i, so no element is read twice
        # and none is left out. PART-6: dealing out in turn makes shares differ by at most one.
        return slice(asked.rank + asked.ranks * worker, asked.length, asked.ranks * workers)
    if asked.length is None:
        raise TypeError(
            "A contiguous split needs the length of the dataset, which is not known: give length=, or "
            "layout='strided', which needs none."
        )
    # WORK-3: both cuts are the partition of `arithmetic.py`, whose blocks neither overlap nor leave a gap.
    # Rounding each share up instead, or down, loses elements or makes empty ones: the shares must add up.
    block = shard_size(asked.length, 1, asked.ranks, asked.rank, False)
    first = shard_start(asked.length, 1, asked.ranks, asked.rank, False)
    first += shard_start(block, 1, workers, worker, False)
    return slice(first, first + shard_size(block, 1, workers, worker, False), 1)


def share_steps(how: Splitter, length: int, workers: int, combined_batch: int, drop_last: bool) -> int:
    """Return the steps that all workers of the rank yield together, each cutting its own elements."""
    parts = (
        share(length, how.rank, how.ranks, worker, max(workers, 1), how.layout) for worker in range(max(workers, 1))
    )
    # WORK-5: the rest is dropped by each worker, so the floors are added up, not the elements.
    return sum(count_steps(len(range(length)[part]), combined_batch, drop_last) for part in parts)


class Split(IterableDataset[Any]):
    """A dataset whose every worker on every rank iterates its own share of another one. See `split`."""

    def __init__(self, dataset: Iterable[Any], how: Splitter) -> None:
        self.dataset = dataset
        self.how = how

    def __iter__(self) -> Iterator[Any]:
        # Asked for when an epoch begins and not before: only here is it known in which worker.
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        length = self.length() if self.how.layout == "contiguous" else None
        mine = share(length, self.how.rank, self.how.ranks, worker, workers, self.how.layout)
        elements = iter(self.dataset)
        # WORK-6: skipping keeps the order in which the dataset yields.
        yield from islice(elements, mine.start, mine.stop, mine.step)
        is_last = (self.how.rank, worker) == (self.how.ranks - 1, workers - 1)
        if length is not None and is_last and next(elements, elements) is not elements:
            # WORK-3: what comes after the length would be in nobody's share.
            raise RuntimeError(
                f"The dataset has more elements than its length, {length}, so a contiguous split would lose some: "
                f"fix the length, or use layout='strided'."
            )

    def length(self) -> int | None:
        """Return how many elements the whole dataset has, or None if nobody says."""
        if self.how.length is not None or not isinstance(self.dataset, Sized):
            return self.how.length
        return check_integer("the length of the dataset", len(self.dataset), least=0)

    def __len__(self) -> int:
        """Return how many elements this rank has. Raises TypeError if the length is not known."""
        length = self.length()
        if length is None:
            raise TypeError(
                f"The dataset {show(self.dataset)} has no len(), so its shares can't be counted: give it __len__, or "
                f"length= to the split, or don't ask."
            )
        return len(range(length)[share(length, self.how.rank, self.how.ranks, layout=self.how.layout)])


def split(
    dataset: Iterable[Any], rank: int = 0, ranks: int = 1, *, layout: str = "strided", length: int | None = None
) -> Split:
    """Return the dataset, split over ranks and workers at each iteration; see the module docstring."""
    return Split(dataset, splitter(rank, ranks, layout, length))


@dataclass(frozen=True, slots=True)
class SplitInWorker:
    """A worker initialiser that narrows the bounds of the worker's own copy of the dataset."""

    how: Splitter

    def __call__(self, worker: int) -> None:
        info = get_worker_info()
        if info is None:
            raise RuntimeError("A worker initialiser was called outside of a worker: give it as worker_init_fn=.")
        dataset: Any = info.dataset
        for name in ("start", "end", *(["step"] if self.how.layout == "strided" else [])):
            if not hasattr(dataset, name):
                raise TypeError(
                    f"The dataset {show(dataset)} has no attribute {name!r}, which a {self.how.layout} split narrows: "
                    f"let it iterate from `start` to `end` by `step`, or wrap it in split(dataset, rank, ranks)."
                )
        step = getattr(dataset, "step", 1)
        length = self.how.length if dataset.end is None else len(range(dataset.start, dataset.end, step))
        mine = share(length, self.how.rank, self.how.ranks, worker, info.num_workers, self.how.layout)
        # The end comes first: it is counted from the start that the whole dataset has.
        if mine.stop is not None:
            dataset.end = dataset.start + mine.stop * step
        dataset.start += mine.start * step
        if hasattr(dataset, "step"):
            dataset.step = step * mine.step


def split_worker_init_fn(
    rank: int = 0, ranks: int = 1, *, layout: str = "strided", length: int | None = None
) -> SplitInWorker:
    """Return a `worker_init_fn` that narrows `start`, `end` and `step` of the dataset to the worker's share."""
    return SplitInWorker(splitter(rank, ranks, layout, length))
