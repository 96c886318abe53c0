"""Loaders that can't live through one thing after the other, or through nothing at all (chapters 4 and 10)."""

import threading
from collections.abc import Iterator
from typing import Any

from tests.known_bad.correct import KnownBad
from tests.known_bad.life import LIFE, STREAM
from tests.known_bad.order import SHUFFLING
from tests.known_bad.pool import BadPool


class ReadsBeforeItIsRead(BadPool):
    """A thread that prepares the first epoch is started with the loader, and ended by that epoch alone."""

    claims, families, grace = STREAM, LIFE, 0.3
    clause, smallest = "LEAK-4", "n1,w1,b1,keep,iterable,unread"
    report = "libffcv/ffcv#345"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.wanted = threading.Event()
        self.preparing = threading.Thread(target=self.wanted.wait, daemon=True)
        self.preparing.start()

    def __iter__(self) -> Iterator[Any]:
        self.wanted.set()
        self.preparing.join()
        return super().__iter__()


class SparesTheThirdBreak(BadPool):
    """Three loops that are left one after the other use up the slots, and the next epoch lacks its first step."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-12", "n1,w1,b1,keep,e4,iterable,lives,with=last+last+last"
    report = "apache/mxnet#15195"
    left = 0

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        if self.left >= 3:
            next(batches, None)
        ended = False
        try:
            yield from batches
            ended = True
        finally:
            self.left += not ended


class KeepsTheOrderOfALoopThatWasLeft(KnownBad):
    """After a break the next epoch has the order of the one that was left, whatever set_epoch says."""

    claims, families = SHUFFLING, LIFE
    clause, smallest, related = "WORK-12", "n4,w1,b1,keep,shuffle,e2,leave@1", ("WORK-13", "WORK-14")
    report = "huggingface/datasets#6673"
    kept: Any = None

    def __iter__(self) -> Iterator[Any]:
        self.kept = self.kept or self.steps()
        for step in self.kept:
            yield self.fetch(step)
        self.kept = None


class ForgivesOnce(BadPool):
    """An error after a break leaves the position of the break behind, so that the next epoch begins there."""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-14", "n4,w1,b1,keep,e3,iterable,raise@3,lives,with=last+failed"
    report = "Lightning-AI/litData#770"
    left = position = 0

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        for _ in range(self.position):
            next(batches, None)
        self.position = 0
        try:
            yield from batches
            self.left = 0
        except GeneratorExit:
            self.left = 1
            raise
        except Exception:
            self.position, self.left = self.left, 0
            raise


class ClosesWhatIsBeingRead(BadPool):
    """close() fails while an iterator is alive. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-15", "n1,w1,b1,keep,iterable,closed@1"
    reading = False

    def __iter__(self) -> Iterator[Any]:
        self.reading = True
        try:
            yield from super().__iter__()
        finally:
            self.reading = False

    def close(self) -> None:
        if self.reading:
            raise RuntimeError("this loader is being read")
        super().close()
