"""Loaders that choose, and keep something of an epoch that was left, or failed (chapter 11). Blind rounds had all."""

from collections.abc import Iterator
from random import Random
from typing import Any

from tests.known_bad.grouping import KnownBadChoosing
from tests.known_bad.streams import KnownBadStreaming


class KeepsItsBuckets(KnownBadChoosing):
    """What waits in a bucket when an epoch is left comes in the next one as well. (No public report.)"""

    families, clause, smallest = ("left",), "LEFT-1", "n13,w1,b2,keep,grouped,g3,e2,with=left"
    waiting: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        left, self.waiting = self.waiting, ()
        members = self.groups(self.order()) if self.request.batches == "grouped" else {}
        for at, step in enumerate(self.steps()):
            self.waiting = tuple(rest[0] for rest in members.values() if rest[0] not in step)[:1]
            yield self.fetch([*left, *step] if not at else step)
        self.waiting = ()


class EmptiesItsBucketsForABreakAlone(KnownBadChoosing):
    """What waits in a bucket when a sample fails comes in the next epoch as well. (No public report.)"""

    families, clause, smallest = ("left",), "LEFT-1", "n13,w1,b2,keep,grouped,g3,e2,with=failed"
    waiting: tuple[int, ...] = ()

    def __iter__(self) -> Iterator[Any]:
        left, self.waiting = self.waiting, ()
        members = self.groups(self.order()) if self.request.batches == "grouped" else {}
        for at, step in enumerate(self.steps()):
            try:
                batch = self.fetch([*left, *step] if not at else step)
            except Exception:
                self.waiting = tuple(rest[0] for rest in members.values() if rest[0] not in step)[:1]
                raise
            yield batch


class SharesItsBuckets(KnownBadChoosing):
    """A new epoch empties the buckets of the loader, and of an iterator that is still alive. (No public report.)"""

    families, clause, smallest = ("left",), "LEFT-1", "n13,w1,b2,keep,grouped,g3,e2,with=held"
    buckets: dict[int, list[int]]

    def __iter__(self) -> Iterator[Any]:
        return (
            super().__iter__() if self.request.batches != "grouped" else self.through_buckets(self.shard(self.order()))
        )

    def through_buckets(self, order: list[int]) -> Iterator[Any]:
        """A step whenever a bucket is full; then the rests."""
        self.buckets = {}
        for index in order:
            bucket = self.buckets.setdefault(self.request.groups[index], [])
            bucket.append(index)
            if len(bucket) == self.request.batch_size:
                yield self.fetch(self.buckets.pop(self.request.groups[index]))
        for bucket in list(self.buckets.values()):
            yield self.fetch(bucket)


class SeedsItsBufferOnce(KnownBadStreaming):
    """The buffer's generator is made for an epoch's number, and goes on where that comes again. (No public report.)"""

    families, clause, smallest = ("left",), "LEFT-1", "n24,w1,b2,keep,stream,shuffle,g3,e2,with=retried"
    drawing: dict[tuple[int, ...], Random] | None = None

    def generator(self, *more: int) -> Random:
        if self.drawing is None or (self.epoch,) not in {key[:1] for key in self.drawing}:
            self.drawing = {}
        return self.drawing.setdefault((self.epoch, *more), super().generator(*more))
