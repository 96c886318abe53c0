"""How often each index came in one epoch: decides how a billion of them are counted in a gigabyte.

A byte an index, and a table for those that came more often than a byte holds. Few deliveries are kept as they are
until counting them pays; counts that are not needed for now are packed.
"""

import zlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[Any]

# After each block no byte is above this, and no block adds as much to one as would wrap it: 256 would read as 0.
_HIGHEST, _MOST_IN_A_BLOCK = 120, 120
# Indices from here on are looked up like digests, unless the dataset is known to be larger.
DENSE = 1 << 30
_PART = 1 << 22


def different(histogram: Mapping[int, int]) -> int:
    """How many samples came at all, of how many came how often."""
    return sum(number for times, number in histogram.items() if times)


class Counts:
    """How often each index came. `total` counts deliveries, `length` is one more than the highest index there is."""

    def __init__(self) -> None:
        self.total = 0
        self.length = 0
        self._few: list[Ids] = []
        self._bytes: npt.NDArray[np.uint8] | None = None
        self._more: dict[int, int] = {}  # what an index has on top of its byte
        self._packed: bytes | None = None  # what the bytes were when they were last packed, if they are still that
        self._told: dict[int, int] | None = None  # the histogram

    def add(self, ids: Ids, length: int) -> None:
        """Count a block of indices, all of which are below `length`."""
        if not len(ids):
            return
        self.total += len(ids)
        self.length = max(self.length, length)
        self._told = None
        if self._bytes is None and self._packed is None and self.total * 8 < self.length:
            self._few.append(ids)
        else:
            self._count(ids, self._dense(changing=True))

    def merge(self, other: "Counts") -> None:
        """Add what another one counted, which keeps it."""
        if not other.total:
            return
        self.total += other.total
        self.length = max(self.length, other.length)
        self._told = None
        mine, theirs = self._dense(changing=True), other._dense()
        for at in range(0, len(theirs), _PART):
            wide = mine[at : at + _PART][: len(theirs) - at] + theirs[at : at + _PART].astype(np.int64)
            mine[at : at + len(wide)] = np.minimum(wide, _HIGHEST)
            high = np.flatnonzero(wide > _HIGHEST)
            self._put_aside(high + at, wide[high] - _HIGHEST)
        for index, more in other._more.items():
            self._more[index] = self._more.get(index, 0) + more

    def histogram(self) -> dict[int, int]:
        """How many indices came how often, those that never came under 0."""
        if self._told is not None:
            return dict(self._told)
        dense = self._dense()
        found = np.zeros(256, np.int64)
        for at in range(0, len(dense), _PART):
            found += np.bincount(dense[at : at + _PART], minlength=256)
        told = {times: int(number) for times, number in enumerate(found)}
        for index, more in self._more.items():
            low = int(dense[index])
            told[low] -= 1
            told[low + more] = told.get(low + more, 0) + 1
        self._told = {times: told[times] for times in sorted(told) if told[times]}
        return dict(self._told)

    def first(self, least: int, most: int | None = None, limit: int = 8) -> list[int]:
        """The first indices that came at least `least` and at most `most` times."""
        dense = self._dense()
        found = [index for index in self._more if self._within(index, least, most)]
        plain: list[int] = []
        for at in range(0, len(dense), _PART):
            part = dense[at : at + _PART]
            hits = part >= min(least, 255)
            if most is not None:
                hits &= part <= min(most, 255)
            plain += [index + at for index in np.flatnonzero(hits).tolist() if self._within(index + at, least, most)]
            if len(plain) >= limit:
                break
        return sorted({*found, *plain})[:limit]

    def of(self, index: int) -> int:
        """How often one index came."""
        dense = self._dense()
        return int(dense[index]) + self._more.get(index, 0) if index < len(dense) else 0

    def span(self, first: int, end: int) -> tuple[int, int]:
        """How often the indices from `first` up to `end` came: at least, and at most."""
        dense = self._dense()[first:end]
        more = {index: self.of(index) for index in self._more if first <= index < end}
        least = int(dense.min(initial=255)) if len(dense) == end - first else 0
        return least, max([int(dense.max(initial=0)), *more.values()])

    def in_both(self, other: "Counts") -> list[int]:
        """The indices that came here and there."""
        mine, theirs = self._dense(), other._dense()
        found: list[int] = []
        for at in range(0, min(len(mine), len(theirs)), _PART):
            both = theirs[at : at + _PART]
            found += (
                np.flatnonzero((mine[at : at + _PART][: len(both)] > 0) & (both[: len(mine) - at] > 0)) + at
            ).tolist()
        return found

    def pack(self) -> None:
        """Keep it small until it is asked for again."""
        if self._bytes is not None:
            if self._packed is None:
                self._packed = zlib.compress(self._bytes.data, 1)
            self._bytes = None

    @property
    def room(self) -> int:
        """The bytes that it holds in memory as it stands, packed ones aside."""
        return (len(self._bytes) if self._bytes is not None else 0) + sum(ids.nbytes for ids in self._few)

    def stored(self) -> dict[str, Any]:
        """The one form of these counts for a partial result: bytes up to 255, and what is above."""
        dense = self._dense().copy()
        above = {}
        for index, more in sorted(self._more.items()):
            times = int(dense[index]) + more
            dense[index] = min(times, 255)
            if times > 255:
                above[index] = times - 255
        most = int(dense.max(initial=0))
        data = np.packbits(dense) if most < 2 else dense
        packed = zlib.compress(data.tobytes(), 1)
        return {"total": self.total, "length": self.length, "bits": most < 2, "above": above, "data": packed}

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> "Counts":
        """What `stored` gave."""
        made = cls()
        made.total, made.length = stored["total"], stored["length"]
        data = np.frombuffer(bytearray(zlib.decompress(stored["data"])), np.uint8)
        made._bytes = np.unpackbits(data, count=made.length) if stored["bits"] else data
        high = np.flatnonzero(made._bytes > _HIGHEST)
        made._put_aside(high, made._bytes[high].astype(np.int64) - _HIGHEST)
        made._bytes[high] = _HIGHEST
        for index, more in stored["above"].items():
            made._more[int(index)] += more
        return made

    def _within(self, index: int, least: int, most: int | None) -> bool:
        times = self.of(index)
        return times >= least and (most is None or times <= most)

    def _dense(self, changing: bool = False) -> npt.NDArray[np.uint8]:
        """The byte of each index, all of them counted. `changing`: the caller will count more."""
        if self._bytes is None and self._packed is not None:
            self._bytes = np.frombuffer(bytearray(zlib.decompress(self._packed)), np.uint8)
        if changing or self._few or (self._bytes is not None and len(self._bytes) < self.length):
            self._packed = None
        if self._bytes is None:
            self._bytes = np.zeros(self.length, np.uint8)
        elif len(self._bytes) < self.length:
            self._bytes = np.concatenate([self._bytes, np.zeros(max(self.length - len(self._bytes), 0), np.uint8)])
        few, self._few = self._few, []
        for ids in few:
            self._count(ids, self._bytes)
        return self._bytes

    def _count(self, ids: Ids, dense: npt.NDArray[np.uint8]) -> None:
        if _may_wrap(ids):
            numbers, times = np.unique(ids, return_counts=True)
            wide = dense[numbers].astype(np.int64) + times
            dense[numbers] = np.minimum(wide, _HIGHEST)
            self._put_aside(numbers, wide - _HIGHEST)
            return
        places = ids.astype(np.intp)  # once for both
        np.add.at(dense, places, np.uint8(1))  # a plain 1 takes a path that is twenty times as slow
        reached = dense[places]
        if reached.max() > _HIGHEST:
            numbers = np.unique(ids[reached > _HIGHEST])
            wide = dense[numbers].astype(np.int64)
            dense[numbers] = _HIGHEST
            self._put_aside(numbers, wide - _HIGHEST)

    def _put_aside(self, numbers: Ids, more: Ids) -> None:
        for index, extra in zip(numbers.tolist(), more.tolist(), strict=True):
            if extra > 0:
                self._more[index] = self._more.get(index, 0) + extra


def _may_wrap(ids: Ids) -> bool:
    """Whether an index may come so often in a block that its byte wraps: not if no bin that they fall into is full."""
    bins = (ids.astype(np.uint32) * np.uint32(0x9E3779B1)) >> np.uint32(16)
    return bool(np.bincount(bins).max() > _MOST_IN_A_BLOCK)


def merged(parts: Iterable[Counts]) -> Counts:
    """How often each index came in all of these."""
    whole = Counts()
    for part in parts:
        whole.merge(part)
    return whole
