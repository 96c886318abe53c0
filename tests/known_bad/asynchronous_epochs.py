"""Loaders that read ahead and spoil what is kept, what comes after an early end, or an error that comes late."""

import re
import weakref
from collections.abc import Iterator
from typing import Any

from tests.known_bad.ahead import BadAhead, Delivery, Loading
from tests.known_bad.asynchronous import FAMILY, PLAIN, POOLED, SHUFFLED, with_hook


class FillsKeptSlotsAgain(BadAhead):
    """Steps come in slots of a ring, and a slot is filled again once the next step is asked for; nobody says so."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-2", "n5,w1,b1,keep,async,kept"
    report = "scitix/InstantTensor#9"

    def read(self) -> Iterator[Any]:
        if not self.is_asynchronous:
            yield from super().read()
            return
        # Those that wait, the one that is held and the one that is filled.
        slots: list[list[Any]] = [[] for _ in range(self.room + 2)]
        for number, step in enumerate(super().read()):
            slot = slots[number % len(slots)] if isinstance(step[0], int) else []
            slot[:] = step
            yield slot


class TakesBackWhatIsHeld(BadAhead):
    """The step that is held when an epoch is left goes back to the pool, for the next epoch. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-2", "n2,w1,b1,keep,e2,async,hold@2"

    def __init__(self, request: Any) -> None:
        self.free: list[list[Any]] = []
        super().__init__(request)

    def deliver(self, loading: Loading) -> Delivery:
        return FreesWhatIsHeld(self, loading)

    def hand_over(self, batch: Any) -> Any:
        slot = self.free.pop() if self.free and isinstance(batch[0], int) else []
        slot[:] = batch
        return slot


class FreesWhatIsHeld(Delivery):
    """The consumer's side of an epoch: what it holds at the end of its life is taken for free."""

    held: list[Any] | None = None

    def __next__(self) -> Any:
        self.held = None
        self.held = super().__next__()
        return self.held

    def __del__(self) -> None:
        if self.held is not None:
            self.loader.free.append(self.held)  # type: ignore[attr-defined]  # the loader above
        super().__del__()


class TakesStopIterationForTheEnd(BadAhead):
    """The thread that reads takes a StopIteration of the dataset for the end of the epoch. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,stop@0,synchronous"

    def begin(self, epoch: int) -> Loading:
        return EndsAtAStop(epoch, self.reader(epoch), self.room)


class WaitsAtAStop(BadAhead):
    """The thread that reads keeps a StopIteration to itself, and the consumer waits for ever. (No public report.)"""

    claims, families, patience, grace = PLAIN, FAMILY, 2.0, 0.3
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,async,stop@0,synchronous"

    def begin(self, epoch: int) -> Loading:
        return NeverTells(epoch, self.reader(epoch), self.room)


class NeverTells(Loading):
    """Keeps such an error to itself."""

    def put(self, kind: str, value: Any = None) -> None:
        if kind != "error" or not re.search("StopIteration|IndexError", f"{value!r}{value.__cause__!r}"):
            super().put(kind, value)


class HasFourBuffers(BadAhead):
    """A step has one of four buffers until it is let go of, and there is none for the fifth. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-2", "n3,w1,b1,keep,e2,async,kept"

    def __init__(self, request: Any) -> None:
        self.held: list[weakref.ref[Any]] = []
        super().__init__(request)

    def hand_over(self, batch: Any) -> Any:
        self.held = [each for each in self.held if each() is not None]
        if len(self.held) == 4:
            raise RuntimeError("no buffer is free")
        step = Step(batch)
        self.held.append(weakref.ref(step))
        return step


class Step(list[Any]):
    """A step that can be waited for."""


class GoesOnBehindAnIndexError(BadAhead):
    """After a sample that raised IndexError the next epoch begins behind its step. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-6", "n1,w1,b1,keep,e2,async,index@0,synchronous"
    behind = 0

    def steps(self) -> list[list[int]]:
        return super().steps()[self.behind :]

    def deliver(self, loading: Loading) -> Delivery:
        self.behind, delivery = 0, NotesAnIndexError(self, loading)
        return delivery


class NotesAnIndexError(Delivery):
    """Notes behind which step an IndexError came."""

    taken = 0

    def __next__(self) -> Any:
        try:
            step = super().__next__()
        except IndexError:
            self.loader.behind = self.taken + 1  # type: ignore[attr-defined]
            raise
        self.taken += 1
        return step


class EndsAtAStop(Loading):
    """Ends where the dataset stops."""

    def put(self, kind: str, value: Any = None) -> None:
        stops = kind == "error" and "StopIteration" in f"{value!r}{value.__cause__!r}"
        super().put(*(("end",) if stops else (kind, value)))


class LosesTheErrorOfTheNextEpoch(BadAhead):
    """An epoch that is begun at the end of another ends at an error, without a word. (No public report.)"""

    claims, families = with_hook("load_indefinitely"), FAMILY
    clause, smallest = "ASYNC-7", "n1,w1,b1,keep,e2,async,again@0"
    early_on = False

    def at_the_end(self, epoch: int) -> None:
        # Of the second epoch only: how far the third is read when the run ends is chance.
        self.early_on = epoch == 0
        if self.early_on:
            super().at_the_end(epoch)
        self.early_on = False

    def begin(self, epoch: int) -> Loading:
        kind = EndsAtAnError if self.early_on else Loading
        return kind(epoch, self.reader(epoch), self.room)


class EndsAtAnError(Loading):
    """Takes an error for the end."""

    def put(self, kind: str, value: Any = None) -> None:
        super().put("end" if kind == "error" else kind, value)


class ShortAfterAllSteps(BadAhead):
    """After an epoch whose steps were all taken, but not its end, the next one lacks its last step."""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-6", "n1,w1,b1,keep,e2,async,leave@1"
    report = "pytorch/data#825"
    short = False

    def deliver(self, loading: Loading) -> Delivery:
        return Counting(self, loading)

    def reader(self, epoch: int) -> Iterator[Any]:
        steps = list(range(len(self.steps())))
        short, self.short = self.short, False
        whole = super().reader(epoch)
        return (step for _, step in zip(steps[:-1], whole, strict=False)) if short else whole


class Counting(Delivery):
    """Knows whether all steps were taken when it goes."""

    taken = 0

    def __next__(self) -> Any:
        batch = super().__next__()
        self.taken += 1
        return batch

    def __del__(self) -> None:
        if not self.ended and self.loader.is_asynchronous and self.taken == len(self.loader.steps()):
            self.loader.short = True
        super().__del__()


class CountsWhatWasLeft(BadAhead):
    """After an epoch that was left early, len() is what was left of it. (No public report.)"""

    claims, families = dict(PLAIN, length=True, when_dropping="drop", when_keeping="pad"), FAMILY
    clause, smallest = "ASYNC-10", "n1,w1,b1,keep,e2,async,leave@1"
    gone = 0

    def deliver(self, loading: Loading) -> Delivery:
        return Leaving(self, loading)

    def __len__(self) -> int:
        return max(0, super().__len__() - self.gone)


class Leaving(Counting):
    """Tells the loader how many steps were taken."""

    def __del__(self) -> None:
        if not self.ended:
            self.loader.gone = self.taken
        Delivery.__del__(self)


class GivesWhatWasPreloaded(BadAhead):
    """What was preloaded is given as the first epoch, whatever set_epoch has said since. (No public report.)"""

    claims, families = dict(SHUFFLED, hooks=("early_preload",)), FAMILY
    clause, smallest = "ASYNC-6", "n4,w1,b1,keep,shuffle,e2,async,early,later,synchronous"

    def wanted(self) -> Loading:
        if self.early is not None and self.early.epoch == 0:
            self.early.epoch = self.epoch
        return super().wanted()


class ShortWhereWorkersPersist(BadAhead):
    """Workers that persist have given their word that all is read, and it is believed an epoch later as well."""

    claims, families = dict(POOLED, hooks=("persistent_workers",)), FAMILY
    clause, smallest, related = "ASYNC-1", "n1,w1,b1,keep,k1,e2,async,persistent,synchronous", ("ASYNC-6",)
    report = "pytorch/data#825"

    def reader(self, epoch: int) -> Iterator[Any]:
        whole = super().reader(epoch)
        if not (epoch and self.request.persistent_workers):
            return whole
        steps = len(self.steps())
        return (step for _, step in zip(range(steps - 1), whole, strict=False))


class PreloadsBesideItsBuffer(BadAhead):
    """What was preloaded has places of its own, and the first epoch's buffer has as many again. (No public report.)"""

    claims, families = dict(PLAIN, hooks=("buffer_size", "early_preload")), FAMILY
    clause, smallest = "ASYNC-3", "n4,w1,b1,keep,e2,a2,async,early,look@0,synchronous"

    def wanted(self) -> Loading:
        early, loading = self.early, super().wanted()
        if self.preloads and loading is early:
            with loading.changed:
                loading.room = 2 * self.room - 1  # the first one is held
                loading.changed.notify_all()
        return loading


class PreloadsEachEpoch(BadAhead):
    """What is asked for before the first iterator is done before each, though no epoch goes on. (No public report.)"""

    claims, families = dict(PLAIN, hooks=("early_preload", "load_indefinitely")), FAMILY
    clause, smallest = "ASYNC-5", "n1,w1,b1,keep,async,early,once,between"

    def at_the_end(self, epoch: int) -> None:
        if self.preloads and self.early is None:
            self.early = self.begin(epoch + 1)
        super().at_the_end(epoch)
