"""Loaders that can't live through one thing after the other, or through nothing at all (chapters 4 and 10)."""

import os
import pickle
import threading
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, ClassVar

from tests.known_bad.correct import KnownBad, claim
from tests.known_bad.life import LIFE, STREAM
from tests.known_bad.order import SHUFFLING
from tests.known_bad.pool import POOL, BadPool, Pool, Worker


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


class Lasting(Pool):
    """Workers live on, and are told the steps of each epoch: correct."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, hooks=("collate_fn", "timeout", "persistent_workers"))
    both_ways = True

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.crew: list[Worker] = []

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        """Send the batches of one epoch after the other."""
        with suppress(EOFError, OSError):
            while True:
                super().work(pickle.loads(line.recv_bytes()), number, line)

    def fill(self, crew: list[Worker], plan: list[list[int]]) -> None:
        """Start the workers that it lacks."""
        while len(crew) < self.request.num_workers:
            crew.append(self.start(plan, len(crew), crew))

    def living(self, crew: list[Worker]) -> list[Worker]:
        """The workers that are told."""
        return crew

    def __iter__(self) -> Iterator[Any]:
        plan = self.plan()
        if not self.request.num_workers:
            yield from self.batches(plan, 0)
            return
        # Whoever comes while they are at work gets others.
        crew, self.crew = self.crew, []
        self.crews.append(crew)
        self.fill(crew, plan)
        told, ended = self.living(crew), False
        try:
            for worker in told:
                worker.line.send_bytes(pickle.dumps(plan))
            yield from self.in_turn(told)
            ended = not self.crew
        finally:
            if ended:
                self.crew = crew
            else:
                self.end(crew)

    def __del__(self) -> None:
        self.close()


class RelievesItsWorkers(Lasting, BadPool):
    """A persistent worker that was told a thousand steps is relieved by a new one. (No public report.)"""

    claims, families = dict(workers=True, hooks=("persistent_workers",)), LIFE
    clause, smallest = "WORK-18", "n1000,w1,b1,keep,k1,e2,persistent,hooked,with=lasting"
    done = 0

    def living(self, crew: list[Worker]) -> list[Worker]:
        plan = self.plan()
        if self.done >= 1000:
            self.end(crew)
            crew.clear()
            self.fill(crew, plan)
        self.done += len(plan)
        return crew


class StrikesOffItsDead(Lasting, BadPool):
    """A worker that dies between two epochs is taken off the crew, and its steps with it. (No public report.)"""

    claims, families = dict(workers=True), LIFE
    clause, smallest = "ERROR-4", "n2,w1,b1,keep,k1,e2,idle@1"

    def living(self, crew: list[Worker]) -> list[Worker]:
        return [worker for worker in crew if os.path.exists(f"/proc/{worker.process}/exe")]
