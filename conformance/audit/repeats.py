"""Who got what came more than once: decides between ranks, workers of one rank, and one reader alone."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]  # as Witnesses has them: id, attempt, epoch, rank, worker, step, place


@dataclass(frozen=True)
class Repeats:
    """The deliveries of one epoch whose samples came more than once, as far as it is kept who got them.

    `rows` are sorted by their ids. `iterable`: the readers of a rank are its workers; else a sampler deals to them.
    """

    rows: Rows
    iterable: bool

    @cached_property
    def _starts(self) -> npt.NDArray[np.intp]:
        """Where each sample begins in the rows."""
        ids = self.rows[:, 0]
        return np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])) if len(ids) else np.zeros(0, np.intp)

    def _changes(self, column: int) -> npt.NDArray[np.bool_]:
        """Of each sample whether its deliveries differ in this column."""
        if not len(self.rows):
            return np.zeros(0, bool)
        least = np.minimum.reduceat(self.rows[:, column], self._starts)
        most = np.maximum.reduceat(self.rows[:, column], self._starts)
        differ: npt.NDArray[np.bool_] = least < most
        return differ

    @cached_property
    def known(self) -> int:
        """Of how many samples it is known who got them."""
        return len(self._starts)

    @cached_property
    def between_ranks(self) -> int:
        """How many samples came to more than one rank."""
        return int(self._changes(3).sum())

    @cached_property
    def _between_workers(self) -> npt.NDArray[np.bool_]:
        return self._changes(4) & ~self._changes(3) if self.iterable else np.zeros(self.known, bool)

    @cached_property
    def between_workers(self) -> int:
        """How many came to one rank, from more than one of its workers."""
        return int(self._between_workers.sum())

    @property
    def alone(self) -> int:
        """How many came from one reader only: a worker, or a rank whose sampler deals to its workers."""
        return self.known - self.between_ranks - self.between_workers

    @cached_property
    def within_a_rank(self) -> int:
        """How many came to some rank more than once, whatever others got."""
        if not len(self.rows):
            return 0
        same = (self.rows[1:, [0, 3]] == self.rows[:-1, [0, 3]]).all(axis=1)
        return len(np.unique(self.rows[1:][same, 0]))

    @cached_property
    def workers(self) -> dict[int, tuple[int, ...]]:
        """Of each rank the workers that gave the same samples as another worker of it, and no other rank did."""
        which = np.repeat(self._between_workers, np.diff([*self._starts.tolist(), len(self.rows)]))
        found: dict[int, set[int]] = {}
        for rank, worker in np.unique(self.rows[which][:, 3:5], axis=0).tolist():
            found.setdefault(rank, set()).add(worker)
        return {rank: tuple(sorted(workers)) for rank, workers in found.items()}

    @cached_property
    def readers_alone(self) -> list[tuple[int, int]]:
        """The rank and the worker of each reader that gave a sample twice which no other reader gave."""
        lone = ~self._changes(3) & ~self._between_workers
        firsts = self.rows[self._starts[lone]] if len(self.rows) else self.rows
        return [(rank, worker) for rank, worker in np.unique(firsts[:, 3:5], axis=0).tolist()]

    def first(self, limit: int) -> list[int]:
        """The samples that came again first, by the place at which a reader gave them the second time."""
        later = np.ones(len(self.rows), bool)
        later[self._starts] = False
        rows = self.rows[later]
        order = np.lexsort((rows[:, 0], rows[:, 3], rows[:, 6]))
        return list(dict.fromkeys(rows[order, 0].tolist()))[:limit]


def repeats_in(rows: Rows, iterable: bool) -> Repeats:
    """Those of an epoch's witnesses, sorted by their ids, whose samples came more than once."""
    same = rows[1:, 0] == rows[:-1, 0]
    again = np.concatenate([[False], same]) | np.concatenate([same, [False]]) if len(rows) else np.zeros(0, bool)
    return Repeats(rows[again], iterable)
