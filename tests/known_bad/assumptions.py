"""Loaders that take something for granted: that keys differ, that no element is None, that a TypeError is their own."""

import atexit
import threading
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile
from random import Random
from typing import Any, ClassVar

import numpy as np

from tests.known_bad.ahead import BadAhead, Delivery, Loading
from tests.known_bad.asynchronous import PLAIN
from tests.known_bad.correct import KnownBad, claim
from tests.known_bad.faults import MAP
from tests.known_bad.life import LIFE, SAMPLES, STREAM
from tests.known_bad.pool import BadPool, Worker
from tests.known_bad.resuming import STEADY, Stopping

DEALT = dict(when_dropping="drop", when_keeping="pad")
SHUFFLED = dict(DEALT, shuffle="global")
TIMED = dict(workers=True, hooks=("timeout",))
SKIPPING = claim(STEADY, errors="skip", shuffle=None, when_dropping=None, when_keeping="uneven", without=("drop_last",))

# --- of the dataset -------------------------------------------------------------------------------------------------


class EndsWhereNoneComes(BadPool):
    """`next(stream, None)` tells the end of a stream, and an element that is None does as well. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n3,w1,b3,keep,iterable,kind=absent"

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        return super().grouped(takewhile(lambda element: element is not None, elements))


class NamesADatasetByItsSize(KnownBad):
    """Samples are kept for all loaders, by the dataset's class and length, as if no other had them."""

    claims = SHUFFLED
    report = "seisbench/seisbench#80"
    clause, smallest, related = "PART-7", "n3,w1,b2,keep,after", ("ORDER-5",)
    kept: ClassVar[dict[tuple[str, int, int], Any]] = {}

    def fetch(self, step: list[int]) -> list[Any]:
        return [self.read(index) for index in step]

    def read(self, index: int) -> Any:
        """The sample, read once a process."""
        dataset = self.request.dataset
        key = (type(dataset).__qualname__, len(dataset), index)
        if key not in self.kept:
            self.kept[key] = dataset[index]
        return self.kept[key]


class SortsKeysOfAFloat(KnownBad):
    """The order is that of random numbers of 24 bits, as a float32 has them: equal ones stay. (No public report.)"""

    claims, families = SHUFFLED, ("statistics",)
    clause, smallest = "ORDER-12", "n1000003,w1,b400000,keep,shuffle,head"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        keys = np.random.default_rng(generator.getrandbits(64)).integers(2**24, size=len(order))
        return np.argsort(keys, kind="stable").tolist()  # type: ignore[no-any-return]


# --- of the request -------------------------------------------------------------------------------------------------


class ChecksARankAmongSeveral(KnownBad):
    """The rank is looked at where samples are dealt out, and of one rank none are. (No public report.)"""

    claims, families = DEALT, ("refusals",)
    clause, smallest = "BATCH-4", "n4,w1,b1,keep,rank=-1"

    def check(self, request: Any) -> None:
        super().check(replace(request, rank=0) if request.world_size == 1 else request)

    def shard(self, order: list[int]) -> list[int]:
        return order if self.request.world_size == 1 else super().shard(order)


class CallsCollateOtherwise(BadPool):
    """A collate function that raises TypeError is called again, with the samples one by one. (No public report.)"""

    claims, families = claim(MAP, hooks=("collate_fn",)), LIFE
    clause, smallest = "ERROR-5", "n4,w1,b1,keep,collate@3,with=type"

    def collate(self, samples: list[Any]) -> Any:
        try:
            return super().collate(samples)
        except TypeError:
            return self.request.collate_fn(*samples)


# --- of those who read ----------------------------------------------------------------------------------------------


class KnowsItsLastStep(Loading):
    """One epoch on its way: a step is given once all the room is full, so that no race decides how much is held."""

    last: Any = None

    def take(self) -> tuple[str, Any]:
        """The next thing, which is known until the one after it is given."""
        with self.changed:
            self.changed.wait_for(
                lambda: len(self.ready) >= self.room or any(kind != "batch" for kind, _ in self.ready)
            )
        self.last = super().take()
        return self.last


class KeepsItsReadersForTheExit(BadAhead):
    """Each epoch's reader is to be stopped at exit, and is kept for that with all it has. (No public report.)"""

    claims, families = dict(PLAIN, hooks=("buffer_size",)), SAMPLES
    clause, smallest = "LEAK-5", "n32,w1,b8,keep,a2,async,leave@1,kind=large"

    def begin(self, epoch: int) -> Loading:
        loading = KnowsItsLastStep(epoch, self.reader(epoch), self.room)
        atexit.register(loading.stop)
        return loading


class HasFourHands(BadAhead):
    """Four threads read for all epochs of a process, each until its own is read. (No public report.)"""

    claims, families = PLAIN, LIFE
    clause, smallest = "WORK-13", "n3,w1,b1,keep,e6,async,lives,with=held+held+held+held+held"
    patience = 1.0
    hands = threading.Semaphore(4)

    def begin(self, epoch: int) -> Loading:
        return Waiting(epoch, self.reader(epoch), self.room)


class Waiting(Loading):
    """One epoch on its way, which a hand must be free for."""

    def load(self, batches: Any) -> None:
        """Read it as soon as one is."""
        with HasFourHands.hands:
            super().load(batches)


class StopsAllThatItReads(BadAhead):
    """What reads for an iterator that is left is stopped by a flag, and so are all others. (No public report.)"""

    claims, families = PLAIN, LIFE
    clause, smallest = "WORK-13", "n4,w1,b1,keep,e2,async,lives,with=peeked"
    stops = False

    def begin(self, epoch: int) -> Loading:
        self.stops = False
        return Flagged(self, epoch)

    def deliver(self, loading: Loading) -> Delivery:
        return Flagging(self, loading)


class Flagged(Loading):
    """One epoch on its way, until the loader's flag is raised."""

    def __init__(self, owner: StopsAllThatItReads, epoch: int) -> None:
        self.owner = owner
        super().__init__(epoch, owner.reader(epoch), owner.room)

    def has_room(self) -> bool:
        """Wait for room; False if nobody wants any epoch."""
        return super().has_room() and not self.owner.stops


class Flagging(Delivery):
    """The consumer's side, which raises it where an epoch is left."""

    def __del__(self) -> None:
        if isinstance(self.loader, StopsAllThatItReads) and not self.ended:
            self.loader.stops = True
        super().__del__()


# --- of states ------------------------------------------------------------------------------------------------------


class NamesAFunctionByItsAddress(Stopping):
    """A state says by the repr of the collate function what it is of, and that names an address."""

    claims = claim(STEADY, hooks=("collate_fn",))
    # Forks have all functions where they were.
    spawned = True
    clause, smallest = "RESUME-8", "n1,w1,b1,keep,e2,save@0,with=collated"
    report = "huggingface/datasets#3808"

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "collate_fn": repr(self.request.collate_fn)}


class GivesItsListOfFailuresAway(Stopping):
    """A state holds the loader's own list of what has failed, and with it what fails later. (No public report.)"""

    claims = claim(
        STEADY, errors="skip", shuffle=None, when_dropping=None, when_keeping="uneven", without=("drop_last",)
    )
    clause, smallest = "RESUME-7", "n1,w1,b1,keep,e2,raise@0,save@0,with=held+mended"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.failed: list[int] = []

    def fetch(self, step: list[int]) -> list[Any]:
        return [sample for index in step for sample in self.read(index)]

    def read(self, index: int) -> list[Any]:
        """The sample, unless it fails or has failed before."""
        if index in self.failed:
            return []
        try:
            return [self.own(self.request.dataset[index])]
        except Exception:
            self.failed.append(index)
            return []

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        return (batch for batch in super().deliver(steps) if batch)

    def state_dict(self) -> Any:
        return {**super().state_dict(), "failed": self.failed}

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.failed = [*state["failed"]]


# --- of workers -----------------------------------------------------------------------------------------------------


class LetsItsWorkersFinish(BadPool):
    """A loop that is left waits for what its workers are reading, and no time-out counts there."""

    claims, families = TIMED, LIFE
    clause, smallest = "ERROR-7", "n2,w1,b1,keep,k1,hang@1,leave@1"
    report = "pytorch/pytorch#21554"
    patience = 2.0

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        try:
            yield from super().in_turn(crew)
        except GeneratorExit:
            for worker in crew:
                worker.line.poll(None)
            raise
