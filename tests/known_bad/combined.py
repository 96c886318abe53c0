"""Loaders that do right by each thing that is done to them, and not by two, or with other requests (chapter 4)."""

import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from random import Random
from typing import Any, ClassVar

from tests.known_bad.ahead import BadAhead, Delivery, Loading
from tests.known_bad.asynchronous import PLAIN
from tests.known_bad.correct import SHORT, SHUFFLING, KnownBad, claim
from tests.known_bad.grouping import Choosing
from tests.known_bad.resuming import STEADY, Resuming, Stopping

LIVES = ("lives",)


class GivesTheOrderOfTheLatest(KnownBad):
    """The steps of the epoch lie on the class, and another loader that is begun meanwhile puts its own there."""

    claims, families = SHUFFLING, LIVES
    clause, smallest = "WORK-21", "n2,w1,b1,keep,shuffle,e2,life=beside"
    report = "webdataset/webdataset#178"
    latest: ClassVar[list[list[int]]] = []

    def __iter__(self) -> Iterator[Any]:
        GivesTheOrderOfTheLatest.latest = self.steps()
        for at in range(len(self)):
            yield self.fetch(GivesTheOrderOfTheLatest.latest[at])


class DrawsOnInTheSameEpoch(KnownBad):
    """The generator is made when the epoch's number changes; who reads one again draws on. (No public report.)"""

    claims, families = SHUFFLING, LIVES
    clause, smallest = "WORK-21", "n2,w1,b1,keep,shuffle,e2,life=often"
    drawing: tuple[int, Random] | None = None

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        if self.drawing is None or self.drawing[0] != self.epoch:
            self.drawing = (self.epoch, generator)
        return super().shuffled(order, self.drawing[1])


class MindsNoBreakAfterAnError(BadAhead):
    """An error closes the queue: of an epoch that is left after one, the rest comes next. (No public report.)"""

    claims, families = PLAIN, LIVES
    clause, smallest = "WORK-21", "n1,w1,b1,keep,e3,async,life=failed+fled"
    failed = False
    going: Loading | None = None

    def deliver(self, loading: Loading) -> Delivery:
        return Closing(self, loading)

    def wanted(self) -> Loading:
        going, self.going = self.going, None
        return going or super().wanted()


class Closing(Delivery):
    """The consumer's side of an epoch, which stops what nobody waits for unless there was an error once."""

    loader: MindsNoBreakAfterAnError

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except StopIteration:
            raise
        except Exception:
            self.loader.failed = True
            raise

    def __del__(self) -> None:
        if self.loader.failed and not self.ended:
            self.loader.going = self.loading
        else:
            super().__del__()


class ThrowsWhatWasMetBefore(BadAhead):
    """The thread's error waits on the loader for an end; an epoch that is left has none. (No public report.)"""

    claims, families = PLAIN, LIVES
    clause, smallest = "WORK-21", "n4,w1,b1,keep,e2,async,life=fled"
    met: Exception | None = None

    def begin(self, epoch: int) -> Loading:
        return Telling(self, epoch, self.reader(epoch), self.room)

    def at_the_end(self, epoch: int) -> None:
        met, self.met = self.met, None
        if met is not None:
            raise met
        super().at_the_end(epoch)


class Telling(Loading):
    """An epoch on its way, which ends where its thread meets an error, and leaves that on the loader."""

    def __init__(self, loader: ThrowsWhatWasMetBefore, *loading: Any) -> None:
        self.loader = loader
        super().__init__(*loading)

    def put(self, kind: str, value: Any = None) -> None:
        if kind == "error":
            self.loader.met, kind = value, "end"
        super().put(kind, value)


class HasSlotsForItsMicroBatch(Choosing, BadAhead):
    """Of a step that was packed, reading ahead keeps as many samples as a micro-batch has. (No public report.)"""

    claims, families = claim(PLAIN, batches=("budget",), when_keeping="uneven"), LIVES
    clause, smallest = "WORK-21", "n2,w1,b1,keep,budget,t4,e2,life=ahead+begun"

    def fetch(self, step: list[int]) -> Any:
        is_kept = self.copied and self.request.batches
        return super().fetch(step[: self.request.batch_size] if is_kept else step)


class Following(Stopping):
    """Follows the user's sampler, and is resumed by the number of samples that it has given: correct."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, hooks=("sampler",))

    def __len__(self) -> int:
        return super().__len__() if self.request.sampler is None else len(self.cut([*self.request.sampler]))

    def left(self, skipped: int) -> list[list[int]]:
        """The sampler's steps behind as many as were given."""
        if self.request.sampler is None:
            return super().left(skipped)
        return self.cut([*self.request.sampler])[skipped // self.round :]


class ForgetsItsSamplerInARestart(Following):
    """What is left of an epoch is cut from the dataset, whatever the sampler says. (No public report.)"""

    families, clause, smallest = LIVES, "WORK-21", "n2,w1,b1,keep,e2,life=sampler+saved"

    def left(self, skipped: int) -> list[list[int]]:
        return Stopping.left(self, skipped) if skipped else super().left(skipped)


class LeavesItsStateOpen(Stopping):
    """What is left of an epoch is written to a file, whose descriptor stays open. (No public report.)"""

    families, grace = ("life",), SHORT
    clause, smallest = "LEAK-2", "n3,w1,b1,keep,shuffle,e2,lives,with=saved"

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        super().load_state_dict(state)
        _, path = tempfile.mkstemp()
        os.unlink(path)


class Gathering(Stopping, Choosing):
    """Takes each step from one group, and is resumed by the number of steps that it has given: correct."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, batches=("grouped",), when_keeping="uneven", layout=None)

    def left(self, skipped: int) -> list[list[int]]:
        """The steps of an epoch behind as many as were given."""
        if not self.request.batches:
            return super().left(skipped)
        return Choosing.steps(self)[skipped // self.round :]


class CountsWhatABreakHadGiven(Gathering):
    """Of steps by group, the state counts those of the epochs that were left before it as well. (No public report.)"""

    families, clause, smallest = LIVES, "WORK-21", "n3,w1,b1,keep,grouped,e3,life=left+saved"
    before = 0

    def set_epoch(self, epoch: int) -> None:
        self.before += self.given if self.request.batches and self.begun and not self.ended else 0
        super().set_epoch(epoch)

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        self.given += self.before
        return batches


class TellsItsDatasetWhatIsNew(KnownBad):
    """The dataset is told an epoch that this loader has not told it last; others tell it too. (No public report.)"""

    claims: ClassVar[dict[str, Any]] = dict(datasets=("iterable",), epochs="set_epoch", hooks=("set_epoch",))
    families, clause, smallest = LIVES, "WORK-21", "n2,w1,b1,keep,stream,e2,with=own,life=beside"
    told = -1

    def __iter__(self) -> Iterator[Any]:
        dataset = self.request.dataset
        if self.epoch != self.told and hasattr(dataset, "set_epoch"):
            dataset.set_epoch(self.epoch)
        self.told = self.epoch
        samples = iter(dataset)
        while step := list(islice(samples, self.request.batch_size)):
            if len(step) == self.request.batch_size or not self.request.drop_last:
                yield step


class PlansWithoutDropLast(KnownBad):
    """The plans of all loaders lie on the class, by all of the request but drop_last. (No public report.)"""

    claims, families = SHUFFLING, ("map",)
    clause, smallest, related = "PART-7", "n1,w1,b2,keep,after", ("ORDER-5",)
    plans: ClassVar[dict[tuple[Any, ...], list[list[int]]]] = {}

    def steps(self) -> list[list[int]]:
        request = self.request
        asked = (len(request.dataset), request.rank, request.world_size, request.batch_size)
        key = (*asked, request.shuffle and self.mixed_seed())
        if key not in self.plans:
            self.plans[key] = super().steps()
        return self.plans[key]


class KeepsLargeOrdersInAFile(KnownBad):
    """A large order lies in a file until the epoch is at its end, and one that is left has none. (No public report.)"""

    claims, families, grace = SHUFFLING, ("life",), SHORT
    clause, smallest = "LEAK-3", "n65537,w1,b1,keep,shuffle,leave@1"

    def __iter__(self) -> Iterator[Any]:
        if len(self.request.dataset) <= 1 << 16:
            yield from super().__iter__()
            return
        file, path = tempfile.mkstemp()
        os.close(file)
        yield from super().__iter__()
        os.unlink(path)


class BeginsBesideTheRest(BadAhead):
    """The next epoch is begun when this one is read, and has a buffer of its own. (No public report.)"""

    claims, families = claim(PLAIN, hooks=("buffer_size", "load_indefinitely")), ("async",)
    clause, smallest = "ASYNC-3", "n9,w1,b2,keep,e2,a2,async,look@3,synchronous"

    current: int | None = None  # which of the epochs on their way is delivered

    def begin(self, epoch: int) -> Loading:
        return Eager(self, epoch, self.reader(epoch), self.room)

    def deliver(self, loading: Loading) -> Delivery:
        self.current = id(loading)
        return super().deliver(loading)

    def close(self) -> None:
        """End what reads ahead."""
        self.current = None
        super().close()


class Eager(Loading):
    """An epoch on its way, behind which the next one is begun."""

    def __init__(self, loader: BeginsBesideTheRest, *loading: Any) -> None:
        # A loader that is dropped is not kept by its thread.
        self.loader = weakref.proxy(loader)
        super().__init__(*loading)

    def put(self, kind: str, value: Any = None) -> None:
        with suppress(ReferenceError):
            if kind == "end" and self.loader.current == id(self) and self.loader.request.load_indefinitely:
                self.loader.early = self.loader.begin(self.epoch + 1)
        super().put(kind, value)


class ForgetsTheJobBeforeTheLast(Resuming):
    """With other ranks for a second time the state counts what the last job gave alone. (No public report.)"""

    families, clause = ("resume",), "RESUME-10"
    smallest = "n6,w3,b1,keep,e2,save@1,with=narrower+again+further"
    before = changes = 0

    def state_dict(self) -> Any:
        """Where all ranks are, and what this job has given of it."""
        more = {"round": self.round, "own": self.given - self.before, "changes": self.changes}
        return {**super().state_dict(), **more}

    def load_state_dict(self, state: Any) -> None:
        """Go on behind what was given."""
        is_other = state["round"] != self.round
        given = state["own"] if is_other and state["changes"] else state["given"]
        super().load_state_dict({**state, "given": given})
        self.before, self.changes = self.given, state["changes"] + is_other
