"""Loaders that go on rightly unless an iterator is there, or nobody names the epoch (chapter 9)."""

from collections.abc import Iterator
from typing import Any

from tests.known_bad.correct import claim
from tests.known_bad.resuming import STEADY, Resuming, Stopping


class EndsForEver(Resuming):
    """After a state of the end every epoch is empty until set_epoch is called."""

    claims, families = STEADY, ("resume",)
    clause, smallest = "RESUME-4", "n1,w1,b1,keep,e2,save@2,with=unset"
    report = "huggingface/datasets#6673"
    spent = False

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.spent = state["over"]

    def state_dict(self) -> Any:
        return {**super().state_dict(), "over": self.ended}

    def set_epoch(self, epoch: int) -> None:
        self.spent = False
        super().set_epoch(epoch)

    def __iter__(self) -> Iterator[Any]:
        return iter(()) if self.spent else super().__iter__()


class CountsTheRestOnly(Resuming):
    """After a restart len() tells how long the rest was, in every epoch."""

    claims, families = STEADY, ("resume",)
    clause, smallest = "RESUME-2", "n2,w1,b1,keep,e2,save@1"
    report = "NVIDIA/DALI#1203"
    loaded = 0

    def load_state_dict(self, state: Any) -> None:
        super().load_state_dict(state)
        self.loaded = state["given"] // self.request.batch_size

    def __len__(self) -> int:
        return super().__len__() - self.loaded


class TakesWhatWasPreloaded(Resuming):
    """What was read before the state was loaded is taken if it is of the right epoch. (No public report.)"""

    claims = claim(STEADY, asynchronous=True, hooks=("buffer_size", "early_preload"))
    families = ("resume",)
    clause, smallest = "RESUME-1", "n2,w1,b1,keep,e2,async,early,save@1"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.preloaded = self.epoch if request.asynchronous and request.early_preload else -1

    def __iter__(self) -> Iterator[Any]:
        if self.preloaded == self.epoch:
            self.skipped = 0
        self.preloaded = -1
        return super().__iter__()


class IgnoresAStateUnderWay(Resuming):
    """A state that is loaded while an epoch is being read is put aside, and never used. (No public report.)"""

    claims, families = STEADY, ("resume",)
    clause, smallest = "RESUME-9", "n2,w1,b1,keep,e2,save@1,with=amid"

    def load_state_dict(self, state: Any) -> None:
        if self.begun and not self.ended:
            return
        super().load_state_dict(state)


class ClosesWhatWasLoaded(Resuming):
    """An iterator that is closed takes the state along that was loaded meanwhile. (No public report.)"""

    claims, families = STEADY, ("resume",)
    clause, smallest = "RESUME-9", "n2,w1,b1,keep,e2,save@1,with=amid"

    def __iter__(self) -> Iterator[Any]:
        steps = self.left(self.skipped)
        self.given, self.begun, self.ended = self.skipped, True, False
        return self.closing(steps)

    def closing(self, steps: list[list[int]]) -> Iterator[Any]:
        """Give the steps; what was loaded is used up with the first of them, or by a break."""
        if self.skipped == 0:
            steps = self.left(0)
        try:
            self.skipped = 0
            yield from self.deliver(steps)
        except GeneratorExit:
            self.skipped = 0
            raise


class ForgetsARestThatBegins(Resuming):
    """Between iter() and its first step a rest is taken for a whole epoch."""

    claims, families = STEADY, ("resume",)
    clause, smallest = "RESUME-5", "n2,w1,b1,keep,e2,save@1,with=anew"
    report = "KempnerInstitute/KempnerForge#57"
    moved = True

    def __iter__(self) -> Iterator[Any]:
        self.moved = False
        return self.moving(super().__iter__())

    def moving(self, steps: Iterator[Any]) -> Iterator[Any]:
        for step in steps:
            self.moved = True
            yield step

    def state_dict(self) -> Any:
        return super().state_dict() if self.moved else {**super().state_dict(), "given": 0}


class KeepsItsPlaceForOneCall(Stopping):
    """After a restart set_epoch leaves the place alone once; a second call begins the epoch. (No public report.)"""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,e2,save@1,with=asked"
    loaded = False

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, and remember it."""
        super().load_state_dict(state)
        self.loaded = True

    def set_epoch(self, epoch: int) -> None:
        """Begin an epoch, but for the first time after a restart."""
        loaded, self.loaded = self.loaded, False
        self.begun = self.begun or not loaded
        super().set_epoch(epoch)
