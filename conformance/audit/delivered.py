"""One epoch of one loader in one rank, while its file is read: what is counted, and what is kept as a witness."""

from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.audit.counts import DENSE
from conformance.audit.summary import (
    HEAD_SAMPLES,
    HEAD_STEPS,
    WITNESS,
    Epoch,
    EpochKey,
    Group,
    Order,
    RankSeen,
    WorkerSeen,
    mixed,
)


class Open:
    """What one rank was given in one epoch; `add` takes the batches as they came."""

    def __init__(
        self, group: Group, epoch: Epoch, key: EpochKey, rank: int, seen: RankSeen, iterator: str, length: int
    ) -> None:
        self.group, self.epoch, self.key, self.rank, self.seen = group, epoch, key, rank, seen
        self.iterator = iterator
        self._length = length
        self._order = Order(seen, narrow=0 < length <= 1 << 32)

    def forget(self) -> None:
        """It was no epoch."""
        del self.epoch.ranks[self.rank]
        if not self.epoch.ranks:
            del self.group.epochs[self.key]

    def add(self, ids: npt.NDArray[Any], sizes: npt.NDArray[Any], workers: npt.NDArray[np.int16]) -> None:
        """Batches that came, in their order."""
        if not len(sizes):
            return
        seen = self.seen
        ends = np.cumsum(sizes, dtype=np.int64)
        self._order.add(ids, ends)
        spread = ids[:, 0] if ids.ndim == 2 else mixed(ids)
        self._count(ids)
        self._note_witnesses(ids, spread, ends, sizes, workers)
        self._note_head(ids, ends)
        for size, number in zip(*(each.tolist() for each in np.unique(sizes, return_counts=True)), strict=True):
            seen.sizes[size] = seen.sizes.get(size, 0) + number
        seen.last_size = int(sizes[-1])
        self._note_workers(spread, ends, sizes, workers)
        seen.steps += len(sizes)
        seen.rows += len(ids)

    def _count(self, ids: npt.NDArray[Any]) -> None:
        if ids.ndim == 2:
            self.epoch.digests.add(ids)
            return
        if not len(ids):
            return
        limit = max(self._length, DENSE)
        low, high = int(ids.min()), int(ids.max())
        if low >= 0 and high < limit:
            self.epoch.counts.add(ids, max(self._length, high + 1))
            return
        words = np.zeros((len(ids), 2), np.uint64)
        words[:, 0] = mixed(ids)
        words[:, 1] = ids.astype(np.int64).view(np.uint64)
        self.epoch.digests.add(words)

    def _note_witnesses(
        self,
        ids: npt.NDArray[Any],
        spread: npt.NDArray[np.uint64],
        ends: npt.NDArray[np.int64],
        sizes: npt.NDArray[Any],
        workers: npt.NDArray[np.int16],
    ) -> None:
        kept = self.group.witnesses.below(spread)
        if not len(kept):
            return
        step = np.searchsorted(ends, kept, side="right")
        rows = np.empty((len(kept), WITNESS), np.int64)
        rows[:, 0] = ids[kept, 0].view(np.int64) if ids.ndim == 2 else ids[kept]
        rows[:, 1:4] = (*self.key, self.rank)
        rows[:, 4] = workers[step]
        rows[:, 5] = step + self.seen.steps
        # Before the block, in the worker's batches before this one in it, and in this one.
        rows[:, 6] = self._before(sizes, workers)[step] + kept - (ends - sizes)[step]
        self.group.witnesses.add(spread[kept], rows)

    def _before(self, sizes: npt.NDArray[Any], workers: npt.NDArray[np.int16]) -> npt.NDArray[np.int64]:
        """How many samples of the epoch the reader of each batch of a block gave before it."""
        found = np.zeros(len(sizes), np.int64)
        for worker in np.unique(workers).tolist():
            mine = workers == worker
            seen = self.seen.workers.get(worker)
            found[mine] = np.cumsum(sizes[mine], dtype=np.int64) - sizes[mine] + (seen.rows if seen else 0)
        return found

    def _note_head(self, ids: npt.NDArray[Any], ends: npt.NDArray[np.int64]) -> None:
        starts = np.concatenate([[0], ends[:-1]])
        for step in range(min(HEAD_STEPS - len(self.seen.head), len(ends))):
            some = ids[starts[step] : ends[step]][:HEAD_SAMPLES]
            self.seen.head.append([_hexadecimal(row) for row in some] if ids.ndim == 2 else some.tolist())

    def _note_workers(
        self,
        spread: npt.NDArray[np.uint64],
        ends: npt.NDArray[np.int64],
        sizes: npt.NDArray[Any],
        workers: npt.NDArray[np.int16],
    ) -> None:
        # The sum up to each step; what wraps cancels out.
        up_to = np.concatenate([np.zeros(1, np.uint64), np.cumsum(spread, dtype=np.uint64)])
        each = np.diff(up_to[np.concatenate([[0], ends])])
        self.seen.mixed = (self.seen.mixed + int(up_to[-1])) % (1 << 64)
        for worker in np.unique(workers).tolist():
            mine = workers == worker
            seen = self.seen.workers.setdefault(worker, WorkerSeen())
            seen.batches += int(mine.sum())
            seen.rows += int(sizes[mine].sum())
            seen.mixed = (seen.mixed + int(each[mine].sum(dtype=np.uint64))) % (1 << 64)


def _hexadecimal(words: npt.NDArray[np.uint64]) -> str:
    return words.astype("<u8").tobytes().hex()[:16]
