"""Loaders with one fault in the states that they give and take (RESUME-5 to 9)."""

import threading
from collections.abc import Iterator
from typing import Any

from tests.known_bad.resuming import Stopping


class CountsFromTheRestart(Stopping):
    """The counter begins at 0 when the rest is begun."""

    clause = "RESUME-5"
    smallest = "n3,w1,b1,keep,e2,save@1,with=again"
    report = "KempnerInstitute/KempnerForge#57"

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count from here."""
        self.given = 0
        yield from super().deliver(steps)


class ForgetsWhatItWasGiven(Stopping):
    """A state that is taken before the rest is begun is that of a new loader."""

    clause = "RESUME-5"
    smallest = "n2,w1,b1,keep,e2,save@1,with=relayed"
    report = "Lightning-AI/pytorch-lightning#19122"

    def load_state_dict(self, state: Any) -> None:
        """Go on from there; nothing is counted yet."""
        super().load_state_dict(state)
        self.given = 0


class GivesBackTheStateItWasGiven(Stopping):
    """The state that was loaded is returned for the rest of the epoch."""

    clause = "RESUME-5"
    smallest = "n3,w1,b1,keep,e2,save@1,with=again"
    report = "Lightning-AI/pytorch-lightning#19122"
    loaded: Any = None

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, and keep the state."""
        super().load_state_dict(state)
        self.loaded = state

    def state_dict(self) -> Any:
        """The state that was loaded, while it is of this epoch."""
        state = super().state_dict()
        return self.loaded if self.loaded and self.loaded["epoch"] == state["epoch"] else state


class CountsOnInTheNextEpoch(Stopping):
    """What was skipped at a restart is counted in the epoch behind the rest, too. (No public report.)"""

    clause = "RESUME-5"
    smallest = "n2,w1,b1,keep,e2,save@1,with=onward"
    offset = resumed = 0

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, and remember it."""
        super().load_state_dict(state)
        self.offset, self.resumed = self.skipped, self.epoch

    def state_dict(self) -> Any:
        """Where it is, and what was skipped."""
        state = super().state_dict()
        later = state["epoch"] > self.resumed and state["given"]
        return {**state, "given": state["given"] + (self.offset if later else 0)}


class TakesThePositionWithItsState(Stopping):
    """A state that is taken before the rest is begun takes the position away. (No public report.)"""

    clause = "RESUME-6"
    smallest = "n1,w1,b1,keep,e2,save@1,with=relayed"

    def state_dict(self) -> Any:
        """Where it is, and was."""
        state = super().state_dict()
        if not self.begun:
            self.skipped = 0
        return state


class GivesItsCountAway(Stopping):
    """The count goes into the first state; one that is taken right after it counts nothing. (No public report.)"""

    clause = "RESUME-6"
    smallest = "n1,w1,b1,keep,e2,save@1,with=twice"
    told = -1

    def state_dict(self) -> Any:
        """Where it is, once."""
        state = super().state_dict()
        told, self.told = self.told, self.given
        return {**state, "given": 0} if told == self.given else state


class DropsWhatIsReadyForAState(Stopping):
    """A second state in one epoch throws away the step that was read ahead for the first."""

    clause = "RESUME-6"
    smallest = "n2,w1,b1,keep,e2,save@0,with=watched"
    report = "OpenRLHF/OpenRLHF#1320"
    taken = 0

    def state_dict(self) -> Any:
        """Where it is."""
        self.taken += 1
        return super().state_dict()

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, but for one after two states."""
        for batch in super().deliver(steps):
            if self.taken > 1:
                self.taken = 0
            else:
                yield batch
        self.taken = 0


class MovesOnWithItsState(Stopping):
    """The state is the loader's own dict, which is counted on. (No public report.)"""

    clause = "RESUME-7"
    smallest = "n1,w1,b1,keep,e2,save@0,with=held"
    related = ("RESUME-9",)

    def __init__(self, request: Any) -> None:
        self.state: dict[str, Any] = {}
        super().__init__(request)

    def state_dict(self) -> Any:
        """The own dict, brought up to date."""
        self.state.update(super().state_dict())
        return self.state

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and keep the dict up to date."""
        for batch in super().deliver(steps):
            self.state.update(given=self.given)
            yield batch


class FillsOneDictForAllStates(MovesOnWithItsState):
    """All states are one dict, which is brought up to date whenever one is taken. (No public report.)"""

    smallest = "n2,w1,b1,keep,e2,save@1,with=watched+held"
    related = ()

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and leave the dict as it is."""
        return Stopping.deliver(self, steps)


class GoesOnInTheStateItWasGiven(Stopping):
    """Later states are written into the one that was loaded. (No public report.)"""

    clause = "RESUME-7"
    smallest = "n2,w1,b1,keep,e2,save@1,with=watched+shared"
    state: dict[str, Any] | None = None

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, and keep the dict."""
        super().load_state_dict(state)
        self.state = state

    def state_dict(self) -> Any:
        """A dict of its own, or the one that was loaded."""
        if self.state is None:
            return super().state_dict()
        self.state.update(super().state_dict())
        return self.state


class TakesTheStateApart(Stopping):
    """Loading takes the position out of the state. (No public report.)"""

    clause = "RESUME-7"
    smallest = "n2,w1,b1,keep,e2,save@1,with=shared"

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, and leave 0 behind."""
        super().load_state_dict(state)
        state["given"] = 0


class HasNoStateBeforeItBegins(Stopping):
    """What the state counts is made by the first iteration."""

    clause = "RESUME-8"
    smallest = "n0,w1,b1,keep,e2,save@0,with=relayed"
    report = "Lightning-AI/litData#362"

    def state_dict(self) -> Any:
        """Where it is, once it has begun."""
        if not self.begun:
            raise AttributeError("there is no iterator yet")
        return super().state_dict()


class KeepsALockInItsState(Stopping):
    """The state holds what can't be pickled."""

    clause = "RESUME-8"
    smallest = "n0,w1,b1,keep,e2,save@0"
    report = "pytorch/data#1404"

    def state_dict(self) -> Any:
        """Where it is, and the lock around it."""
        return {**super().state_dict(), "lock": threading.Lock()}


class RefusesInTheMiddle(Stopping):
    """A state that is loaded after an iteration is refused after one step of its rest. (No public report.)"""

    clause = "RESUME-9"
    smallest = "n2,w1,b1,keep,e2,save@0,with=used"
    used = False

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, if nothing was read yet; else for one step."""
        self.used = self.begun
        super().load_state_dict(state)

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """One step, and the refusal."""
        for at, step in enumerate(super().deliver(steps)):
            if at and self.used:
                raise RuntimeError("the state is not of this loader")
            yield step


class LoadsNothingOnceItWasRead(Stopping):
    """A state that is loaded after an epoch was read is ignored."""

    clause = "RESUME-9"
    smallest = "n2,w1,b1,keep,e2,save@1,with=used"
    report = "alibaba/TorchEasyRec PR #544"
    over = False

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, if no epoch was read yet."""
        if not self.over:
            super().load_state_dict(state)

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """The steps, and a note that they are over."""
        yield from super().deliver(steps)
        self.over = True
