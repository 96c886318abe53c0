"""Loaders that are wrong under one condition of a real job: a slow read, a break, a held step, a class of error."""

import time
from collections.abc import Iterator
from queue import Empty
from types import SimpleNamespace
from typing import Any

import numpy as np

from tests.known_bad.ahead import BadAhead, Delivery, Loading
from tests.known_bad.asynchronous import FAMILY, PLAIN, SHUFFLED, with_hook
from tests.known_bad.lasting import FillsWhatWasLeft
from tests.known_bad.life import LIFE, STREAM
from tests.known_bad.pool import BadPool, Worker
from tests.known_bad.samplers import BadSampled
from tests.known_bad.workers import SEVERAL, WORKERS

_LARGE = 1 << 20  # bytes


class CountsTheDatasetBesideASampler(BadSampled):
    """len() counts the dataset, though a sampler says how many indices an epoch has. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,hooked,with=batches"

    def __len__(self) -> int:
        return -(-len(self.request.dataset) // self.request.batch_size)


class AsksABatchSamplerForItsSize(BadSampled):
    """len() asks a batch sampler for its `batch_size`, which it need not have. (No public report.)"""

    clause, smallest = "WORK-19", "n1,w1,b1,keep,hooked,with=batches"

    def __len__(self) -> int:
        chosen = self.request.batch_sampler
        return super().__len__() if chosen is None else len(chosen) * chosen.batch_size


class ReadsASlowStepTwice(BadPool):
    """A step that does not come for a quarter of a second is read here as well. (No public report.)"""

    claims, families = dict(SEVERAL, datasets=("map",), iterable_workers=None), WORKERS
    clause, smallest = "WORK-2", "n6,w1,b2,keep,k1,slow@4,workers"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        if not worker.line.poll(0.25):
            at = self.steps()[worker.number :: self.workers]
            for step in at[1:2]:
                self.fetch(step)
        return super().receive(worker)


class FeedsTheNextEpoch(BadAhead):
    """The thread of an epoch that is left is waited for a fifth of a second; later it feeds the epoch that follows."""

    claims, families, patience = PLAIN, FAMILY, 3.0
    clause, smallest = "ASYNC-6", "n1,w1,b1,keep,e2,async,slow@0,leave@0,with=always"
    report = "Lightning-AI/pytorch-lightning#15688"

    def begin(self, epoch: int) -> Loading:
        self.last = LivesOn(epoch, self.reader(epoch), self.room, getattr(self, "last", None))
        return self.last


class LivesOn(Loading):
    """An epoch on its way, in the queue of the one before it."""

    def __init__(self, epoch: int, batches: Iterator[Any], room: int, before: "LivesOn | None") -> None:
        self.after: LivesOn | None = None
        if before is not None and before.thread.is_alive():
            before.after = self
        super().__init__(epoch, batches, room)

    def put(self, kind: str, value: Any = None) -> None:
        if self.stopped and self.after is not None and kind == "batch":
            self.after.put(kind, value)
        else:
            super().put(kind, value)

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        self.thread.join(0.2)


class HasThreeLargeBuffers(BadPool):
    """Steps of a MiB and more lie in one of three buffers, which are used in turn. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n2,w1,b1,keep,e2,iterable,hold@2,kind=big"
    number = 0

    def collate(self, samples: list[Any]) -> Any:
        batch = np.array(samples)
        if batch.nbytes < _LARGE:
            return batch
        self.ring = getattr(self, "ring", None) or [np.zeros_like(batch) for _ in range(3)]
        self.number += 1
        slot = self.ring[self.number % 3][: len(samples)]
        slot[:] = batch
        return slot


class FreesAFailedEpoch(FillsWhatWasLeft):
    """An epoch that fails takes all of its arrays back, those that were handed over among them. (No public report.)"""

    clause, smallest = "WORK-16", "n4,w1,b1,keep,e2,iterable,raise@3,hold@0,kind=aging"

    def takes_back(self, error: BaseException) -> bool:
        return isinstance(error, Exception)


class RetriesWhatLooksTransient(BadAhead):
    """The thread that reads tries again after a TimeoutError, of which nobody hears. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0,with=late"

    def fetch(self, step: list[int]) -> Any:
        try:
            return super().fetch(step)
        except TimeoutError:
            if not self.is_asynchronous:
                raise
            return super().fetch(step)


class TakesABrokenPipeForTheEnd(BadAhead):
    """A pipe that breaks means that the workers were ended, and so that the epoch is over. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0,with=pipe"

    def begin(self, epoch: int) -> Loading:
        return EndsAtABrokenPipe(epoch, self.reader(epoch), self.room)


class EndsAtABrokenPipe(Loading):
    """An epoch on its way, which such an error ends."""

    def put(self, kind: str, value: Any = None) -> None:
        super().put("end" if kind == "error" and isinstance(value, BrokenPipeError) else kind, value)


class TakesEmptyForItsOwn(BadAhead):
    """A queue.Empty means that nothing is left where the thread has ended, whoever raised it. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,raise@0,with=empty"

    def begin(self, epoch: int) -> Loading:
        return EndsWhereAQueueIsEmpty(epoch, self.reader(epoch), self.room)


class EndsWhereAQueueIsEmpty(Loading):
    """An epoch on its way, which such an error ends."""

    def put(self, kind: str, value: Any = None) -> None:
        super().put("end" if kind == "error" and isinstance(value, Empty) else kind, value)


class CountsTheConsumersTime(BadPool):
    """The time-out of a step runs from the step before, and so while the consumer holds that. (No public report.)"""

    claims, families = dict(SEVERAL, hooks=("timeout",)), WORKERS
    clause, smallest = "WORK-1", "n2,w1,b1,keep,k1,dawdle,workers"

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        since = time.monotonic()
        for batch in super().in_turn(crew):
            taken = time.monotonic() - since
            if self.request.timeout and taken > self.request.timeout:
                raise TimeoutError(f"a step took {taken:.1f} s")
            since = time.monotonic()
            yield batch


class LendsRoomAtEachBreak(BadAhead):
    """A thread whose epoch is left is lent room to wake it, which it gives back to the loader. (No public report.)"""

    claims, families = with_hook("buffer_size"), FAMILY
    clause, smallest = "ASYNC-3", "n43,w1,b1,keep,a1,async,look@0,with=breaks,synchronous"
    lent = 0

    @property
    def room(self) -> int:
        return (self.request.buffer_size or 2) + self.lent

    def deliver(self, loading: Loading) -> Delivery:
        return Lends(self, loading)


class Lends(Delivery):
    """The consumer's side of an epoch, which lends room where it is left."""

    def __del__(self) -> None:
        if not self.ended and len(self.loading.ready) == self.loading.room:
            self.loader.lent += 1  # type: ignore[attr-defined]  # the loader above
        super().__del__()


class KeepsThePlacesOfABreak(BadAhead):
    """What was ready when an epoch was left keeps its places in a budget of 32 for good. (No public report.)"""

    claims, families, patience, awaits = PLAIN, FAMILY, 2.0, 1.0
    clause, smallest = "ASYNC-1", "n2,w1,b1,keep,async,look@0,with=breaks,synchronous"

    def __init__(self, request: Any) -> None:
        self.budget = SimpleNamespace(places=32)
        super().__init__(request)

    def begin(self, epoch: int) -> Loading:
        return TakesPlaces(epoch, self.reader(epoch), self.room, self.budget)


class TakesPlaces(Loading):
    """An epoch on its way, each step of which has a place of the loader's until it is delivered."""

    def __init__(self, epoch: int, batches: Iterator[Any], room: int, budget: SimpleNamespace) -> None:
        self.budget = budget
        super().__init__(epoch, batches, room)

    def has_room(self) -> bool:
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or (len(self.ready) < self.room and self.budget.places > 0))
            self.budget.places -= not self.stopped
            return not self.stopped

    def put(self, kind: str, value: Any = None) -> None:
        self.budget.places += kind != "batch" and not self.stopped
        super().put(kind, value)

    def take(self) -> tuple[str, Any]:
        kind, value = super().take()
        with self.changed:
            self.budget.places += kind == "batch"
            self.changed.notify_all()
        return kind, value


class CountsOnUnlessTold(BadAhead):
    """Who never calls set_epoch gets the epoch that was begun ahead, and else the same again. (No public report.)"""

    claims, families = dict(SHUFFLED, hooks=("load_indefinitely",)), FAMILY
    clause, smallest = "ASYNC-1", "n2,w1,b1,keep,shuffle,e3,async,untold,synchronous"
    told = False

    def set_epoch(self, epoch: int) -> None:
        self.told = True
        super().set_epoch(epoch)

    def wanted(self) -> Loading:
        if self.early is not None and not self.told:
            self.epoch = self.early.epoch
        self.told = False
        return super().wanted()
