"""Loaders with one fault in how they are gone on with after a restart (chapter 9), and the correct one.

The correct one counts what all ranks were given of the order that they share, so that other ranks go on with it too.
"""

import pickle
import random
import threading
from collections.abc import Iterator
from itertools import cycle, islice
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import FULL, KnownBad, claim, through_a_buffer

RESUMING = claim(FULL, device_options=None, resume=True, elastic=True, end_of_epoch="next")
STEADY = claim(RESUMING, elastic=None)
COUNTING = claim(STEADY, epochs="automatic")


class Resuming(KnownBad):
    """One rank's loader, which can be stopped and gone on with."""

    claims: ClassVar[dict[str, Any]] = RESUMING
    families: ClassVar[tuple[str, ...]] = ("map", "life", "resume")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.skipped = self.given = 0
        self.begun = self.ended = False

    @property
    def round(self) -> int:
        """The samples of one step of all ranks."""
        return int(self.request.combined_batch * self.request.world_size)

    # --- states -------------------------------------------------------------------------------------------------------

    def state_dict(self) -> Any:
        """Where all ranks are, when each is as far as this one."""
        # RESUME-4
        epoch, given = (self.epoch + 1, 0) if self.ended else (self.epoch, self.given)
        return {"epoch": epoch, "given": given, **self.facts()}

    def facts(self) -> dict[str, Any]:
        """What a state must have in common with the request (RESUME-11)."""
        return {
            "samples": len(self.request.dataset),
            "seed": self.request.seed if self.request.shuffle else None,
        }

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        for name, mine in self.facts().items():
            if state[name] != mine:
                raise ValueError(f"the state is of {name} {state[name]}, and this loader has {mine}")
        self.begun = self.ended = False
        self.epoch, self.skipped = state["epoch"], state["given"]
        # RESUME-5
        self.given = self.skipped

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; the one of the state that was loaded goes on."""
        if self.begun or epoch != self.epoch:
            self.skipped = self.given = 0
        self.epoch, self.begun, self.ended = epoch, False, False

    # --- what is left of an epoch -------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        if self.begun and self.claims["epochs"] == "automatic":
            self.set_epoch(self.epoch + 1)
        # RESUME-2
        skipped, self.skipped = self.skipped, 0
        self.given, self.begun, self.ended = skipped, True, False
        return self.deliver(self.left(skipped))

    def left(self, skipped: int) -> list[list[int]]:
        """The steps behind so many samples of the order."""
        order = self.order()
        rest = order[skipped:]
        return self.cut(self.shared_out(rest, order))

    def shared_out(self, rest: list[int], order: list[int]) -> list[int]:
        """This rank's part of what is left; what is repeated is taken from the beginning of the order."""
        ranks = self.request.world_size
        missing = -len(rest) % ranks
        if self.policy() == "drop":
            rest = rest[: len(rest) - len(rest) % ranks]
        elif self.policy() == "pad":
            rest = [*rest, *islice(cycle(order), missing)]
        return rest[self.request.rank :: ranks]

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count it as given."""
        for step in steps:
            batch = self.fetch(step)
            # RESUME-1
            self.given += self.round
            yield batch
        self.ended = True


class Stopping(Resuming):
    """The same for those that are judged by chapter 9 alone."""

    claims: ClassVar[dict[str, Any]] = STEADY
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def facts(self) -> dict[str, Any]:
        """What a state must have in common with the request: steps and ranks as well."""
        return {**super().facts(), "round": self.round}


class CorrectStopping(Stopping):
    """Refuses other requests."""


class CountsItsEpochs(Stopping):
    """Counts its epochs itself."""

    claims: ClassVar[dict[str, Any]] = COUNTING


class EndsEmpty(Stopping):
    """Gives an empty rest of an epoch that is over."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, end_of_epoch="empty")

    def state_dict(self) -> Any:
        """Where it is; the end is a place in the epoch like any other."""
        return {**super().state_dict(), "epoch": self.epoch, "given": self.given}


# The first one is judged as a loader that is not stopped as well.
CORRECT_RESUMING = (Resuming, CorrectStopping, CountsItsEpochs, EndsEmpty)

# --- the rest -------------------------------------------------------------------------------------------------------


class CountsWhatItHasRead(Stopping):
    """The state counts the step that was read ahead and given to nobody."""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,e2,save@1"
    report = "lhotse-speech/lhotse#785"

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch a step before it is asked for, and count it."""
        ready = None
        for step in steps:
            batch = self.fetch(step)
            self.given += self.round
            if ready is not None:
                yield ready
            ready = batch
        if ready is not None:
            yield ready
        self.ended = True


class CountsAStepWhenTheNextIsAskedFor(Stopping):
    """The step that the consumer holds is counted only behind the yield, so it comes again."""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,e2,save@1"
    report = "NVIDIA/Megatron-Energon PR #79"
    related = ("RESUME-4",)

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count it too late."""
        for step in steps:
            yield self.fetch(step)
            self.given += self.round
        self.ended = True


class SkipsSamplesForSteps(Stopping):
    """Skips so many samples as there were steps."""

    clause = "RESUME-1"
    smallest = "n3,w1,b2,keep,e2,save@1"
    report = "mosaicml/llm-foundry PR #1277"
    related = ("RESUME-4",)

    def left(self, skipped: int) -> list[list[int]]:
        """The steps behind too few samples."""
        return super().left(skipped // self.round * self.request.world_size)


class GoesOnInTheFirstEpoch(Stopping):
    """A new loader counts epochs from 0, so the rest is that of the first epoch's order."""

    clause = "RESUME-1"
    smallest = "n4,w1,b1,keep,shuffle,e3,save@1"
    report = "huggingface/transformers PR #40691"
    related = ("RESUME-2", "RESUME-3", "RESUME-4")
    claims: ClassVar[dict[str, Any]] = COUNTING

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, in another epoch."""
        super().load_state_dict(state)
        self.epoch = 0


class ShufflesByWhatTheProcessDrew(Stopping):
    """The order is drawn from the process's own generator, which stands elsewhere after a restart."""

    clause = "RESUME-1"
    smallest = "n4,w1,b1,keep,shuffle,e2,save@1"
    report = "huggingface/accelerate#2823"
    related = ("RESUME-2", "RESUME-3", "RESUME-4")

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """The order, shuffled by the global generator as it stood when the first order was drawn."""
        if not hasattr(self, "drawn"):
            self.drawn = random.getrandbits(32)
        return super().shuffled(order, Random(self.drawn + self.epoch))


class LosesItsBuffer(Stopping):
    """What stood in the shuffle's buffer is neither given nor in the state."""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,shuffle,e2,save@1"
    report = "huggingface/datasets#7444"
    claims: ClassVar[dict[str, Any]] = claim(STEADY, shuffle="buffered", when_keeping="uneven")

    def left(self, skipped: int) -> list[list[int]]:
        """A buffer that is filled anew, from where the old one had read to."""
        if not (self.request.shuffle and skipped):
            return super().left(skipped)
        held = 4 if skipped < len(self.request.dataset) else 0
        rest = list(range(len(self.request.dataset)))[skipped + held :]
        return self.cut(self.shared_out(through_a_buffer(rest, Random(self.mixed_seed())), rest))


# --- the epochs around it -------------------------------------------------------------------------------------------


class SkipsInEveryEpoch(Stopping):
    """The offset stays, so the head of the data is never seen again."""

    clause = "RESUME-2"
    smallest = "n2,w1,b1,keep,e2,save@1"
    report = "NVIDIA-NeMo/Megatron-Bridge#4565"
    related = ("RESUME-4",)
    claims: ClassVar[dict[str, Any]] = COUNTING
    offset = 0

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, for ever."""
        super().load_state_dict(state)
        self.offset = self.skipped

    def left(self, skipped: int) -> list[list[int]]:
        """The steps behind the offset."""
        return super().left(max(skipped, self.offset))


class StaysResumedAfterABreak(SkipsInEveryEpoch):
    """The offset is taken back at the end of the epoch, which a break never reaches."""

    clause = "RESUME-2"
    smallest = "n2,w1,b1,keep,e2,save@1,with=left"
    report = "huggingface/accelerate#1451"
    related = ()

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Take the offset back at the end."""
        yield from super().deliver(steps)
        self.offset = 0


class TakesNothingForTheFirstStep(Stopping):
    """A count of 0 is taken for a missing one, and the first step is skipped."""

    clause = "RESUME-3"
    smallest = "n1,w1,b1,keep,e2,save@0"
    report = "NVIDIA/Megatron-Energon PR #68"

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, or behind the first step."""
        super().load_state_dict(state)
        if not self.state_was_of_an_end(state):
            self.skipped = self.given = state["given"] or self.round

    def state_dict(self) -> Any:
        """Where it is, and whether that is an end."""
        return {**super().state_dict(), "ended": self.ended}

    def state_was_of_an_end(self, state: Any) -> bool:
        """Whether the epoch had ended."""
        return bool(state["ended"])


class NeverLeavesItsEnd(Stopping):
    """A state of an epoch's end is a place behind its last step, although the next epoch is promised."""

    clause = "RESUME-4"
    smallest = "n1,w1,b1,keep,e2,save@2"
    report = "KempnerInstitute/KempnerForge#57"

    def state_dict(self) -> Any:
        """Where it is, at the end too."""
        return {**super().state_dict(), "epoch": self.epoch, "given": self.given}

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; it begins where the last one ended."""
        kept = self.skipped
        super().set_epoch(epoch)
        self.skipped = kept


class GivesItsLastStepAgain(NeverLeavesItsEnd):
    """At the end of an epoch the last step is not counted."""

    clause = "RESUME-4"
    smallest = "n2,w1,b1,keep,e2,save@3"
    report = "Lightning-AI/litData#363"

    def state_dict(self) -> Any:
        """Where it is, but for the last step."""
        state = super().state_dict()
        return {**state, "given": max(0, self.given - self.round)} if self.ended else state


# --- states ---------------------------------------------------------------------------------------------------------


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
    smallest = "n2,w1,b1,keep,e2,save@0,with=again"
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
    smallest = "n0,w1,b1,keep,e2,save@0,with=unbegun"
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


class LoadsNothingOnceItWasRead(Stopping):
    """A state that is loaded after an iteration is ignored."""

    clause = "RESUME-9"
    smallest = "n2,w1,b1,keep,e2,save@1,with=used"
    report = "alibaba/TorchEasyRec PR #544"

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, if nothing was read yet."""
        if not self.begun:
            super().load_state_dict(state)


# --- other requests, and no promise ---------------------------------------------------------------------------------


class CountsStepsOfOneRank(Resuming):
    """The state counts the steps of a rank, whatever the number of ranks."""

    clause = "RESUME-10"
    smallest = "n2,w1,b1,keep,e2,save@1,with=wider"
    report = "Lightning-AI/litData PR #878"
    related = ("RESUME-11",)
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def state_dict(self) -> Any:
        """Where this rank is."""
        state = super().state_dict()
        return {**state, "given": state["given"] // self.round}

    def load_state_dict(self, state: Any) -> None:
        """Go on behind so many steps of this loader's."""
        super().load_state_dict({**state, "given": state["given"] * self.round})


class RefusesOtherRanks(Stopping):
    """Promises to go on with other ranks, and refuses."""

    clause = "RESUME-10"
    smallest = "n0,w1,b1,keep,e2,save@0,with=wider"
    report = "huggingface/transformers#40245"
    claims: ClassVar[dict[str, Any]] = RESUMING


class SkipsStepsOfAnotherSize(Stopping):
    """The state counts steps, and does not say of which size."""

    clause = "RESUME-11"
    smallest = "n2,w1,b1,keep,e2,save@1,with=wider"
    report = "NVIDIA-BioNeMo/bionemo-recipes PR #1250"

    def state_dict(self) -> Any:
        """Where it is, in steps."""
        state = super().state_dict()
        return {**state, "given": state["given"] // self.round}

    def facts(self) -> dict[str, Any]:
        """What must be alike: neither steps nor ranks."""
        return Resuming.facts(self)

    def load_state_dict(self, state: Any) -> None:
        """Go on behind so many steps of this loader's."""
        super().load_state_dict({**state, "given": state["given"] * self.round})


class HasAStateForShow(Stopping):
    """Promises no restart, takes a state, and does nothing with it."""

    clause = "RESUME-12"
    smallest = "n2,w1,b1,keep,e2,save@1"
    report = "Lightning-AI/pytorch-lightning#19122"
    claims: ClassVar[dict[str, Any]] = claim(STEADY, resume=None, end_of_epoch=None)

    def load_state_dict(self, state: Any) -> None:
        """Take a state."""
        pickle.dumps(state)


EXHIBITS = [
    each for each in list(vars().values()) if isinstance(each, type) and issubclass(each, Resuming) and each.clause
]
