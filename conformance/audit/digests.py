"""How often each digest came in one epoch: decides how contents are counted, for which there is no dense range.

The first words are sorted in parts; only digests whose first word is not alone are compared whole. So two contents are
one only if all of their 128 bits are equal.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]  # of shape [samples, 2]
# This many digests are parted at a time by their highest byte; what is fewer is sorted as it is.
_BLOCK = 1 << 20
_PARTS = 256


class Digests:
    """All digests of an epoch. `total` counts deliveries."""

    def __init__(self) -> None:
        self.total = 0
        self._new: list[Words] = []
        self._waiting = 0
        self._parts: list[list[Words]] = []
        self._counts: tuple[dict[int, int], Words, npt.NDArray[np.int64]] | None = None

    def add(self, words: Words) -> None:
        """Take in a block."""
        self.total += len(words)
        self._waiting += len(words)
        self._new.append(words)
        self._counts = None
        if self._waiting >= _BLOCK:
            self._split()

    def merge(self, other: "Digests") -> None:
        """Add what another one counted, which keeps it."""
        for part in other._each_part():
            self.add(part)

    @property
    def room(self) -> int:
        """The bytes that it holds in memory."""
        return self.total * 16

    def histogram(self) -> dict[int, int]:
        """How many digests came how often."""
        return self._counted()[0]

    def repeated(self, limit: int = 8) -> list[tuple[bytes, int]]:
        """The digests that came more than once, the commonest first, and how often."""
        _, words, times = self._counted()
        order = np.lexsort((words[:, 1], words[:, 0], -times))[:limit]
        return [(words[at].astype("<u8").tobytes(), int(times[at])) for at in order.tolist()]

    def in_both(self, other: "Digests") -> list[bytes]:
        """The digests that came here and there."""
        mine, theirs = self._different(), other._different()
        common = np.intersect1d(mine[:, 0], theirs[:, 0])
        here, there = ({tuple(row) for row in each[np.isin(each[:, 0], common)].tolist()} for each in (mine, theirs))
        return [np.array(row, "<u8").tobytes() for row in sorted(here & there)]

    def _different(self) -> Words:
        words = np.concatenate([np.zeros((0, 2), np.uint64), *self._each_part()])
        return _runs(words)[0] if len(words) else words

    def stored(self) -> dict[str, Any]:
        """The one form of these digests for a partial result: sorted."""
        words = np.concatenate([np.zeros((0, 2), np.uint64), *self._each_part()])
        order = np.lexsort((words[:, 1], words[:, 0]))
        return {"total": self.total, "data": _taken(words, order).astype("<u8").tobytes()}

    @classmethod
    def restored(cls, stored: dict[str, Any]) -> "Digests":
        """What `stored` gave."""
        made = cls()
        words = np.frombuffer(stored["data"], "<u8").reshape(-1, 2)
        if len(words):
            made.add(words)
        return made

    def _split(self) -> None:
        self._parts = self._parts or [[] for _ in range(_PARTS)]
        words = np.concatenate(self._new)
        self._new, self._waiting = [], 0
        top = (words[:, 0] >> np.uint64(56)).astype(np.uint8)
        ordered = _taken(words, np.argsort(top, kind="stable"))  # a radix sort
        ends = np.cumsum(np.bincount(top, minlength=_PARTS))
        for part, found in zip(self._parts, np.split(ordered, ends[:-1]), strict=True):
            part.append(found)

    def _each_part(self) -> Iterator[Words]:
        """The digests in parts, each of which has all the copies of what is in it."""
        yield from (np.concatenate(part) for part in self._in_parts() if part)

    def _in_parts(self) -> list[list[Words]]:
        """The same, each part in pieces."""
        if self._new and self._parts:
            self._split()
        return self._parts or [self._new]

    def _counted(self) -> tuple[dict[int, int], Words, npt.NDArray[np.int64]]:
        if self._counts is None:
            self._counts = _count(self._in_parts())
        return self._counts


def _count(parts: Iterable[list[Words]]) -> tuple[dict[int, int], Words, npt.NDArray[np.int64]]:
    """How many came how often, and the digests that came more than once with their numbers."""
    histogram: dict[int, int] = {}
    again, how_often = [np.zeros((0, 2), np.uint64)], [np.zeros(0, np.int64)]
    for pieces in parts:
        # The first words alone: most often there is no need of the others.
        first = np.concatenate([np.zeros(0, np.uint64), *(piece[:, 0] for piece in pieces)])
        first.sort()
        if not (first[1:] == first[:-1]).any():
            histogram[1] = histogram.get(1, 0) + len(first)
            continue
        different, times = _runs(np.concatenate(pieces))
        for number, many in enumerate(np.bincount(times).tolist()):
            if many:
                histogram[number] = histogram.get(number, 0) + many
        again.append(different[times > 1])
        how_often.append(times[times > 1])
    told = {times: histogram[times] for times in sorted(histogram) if histogram[times]}
    return told, np.concatenate(again), np.concatenate(how_often)


def _runs(part: Words) -> tuple[Words, npt.NDArray[np.int64]]:
    """The different digests of a part, and how often each came."""
    ordered = _taken(part, np.argsort(part[:, 0]))
    new = np.ones(len(part), bool)
    new[1:] = ordered[1:, 0] != ordered[:-1, 0]
    if (~new[1:] & (ordered[1:, 1] != ordered[:-1, 1])).any():
        # Two contents agree in 64 bits, which among 10^9 happens in 3 of 100 records.
        ordered = _taken(part, np.lexsort((part[:, 1], part[:, 0])))
        new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    starts = np.flatnonzero(new)
    return ordered[starts], np.diff(np.append(starts, len(part)))


def _taken(words: Words, order: npt.NDArray[np.intp]) -> Words:
    """`words[order]`; items of 16 bytes are taken eight times as fast as rows of two words."""
    return words.view(np.complex128)[:, 0].take(order).view(np.uint64).reshape(-1, 2)
