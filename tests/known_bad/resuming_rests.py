"""Loaders with one fault in what comes after a restart: the rest of the epoch, and those around it (RESUME-1 to 4)."""

import random
from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import claim, through_a_buffer
from tests.known_bad.resuming import COUNTING, STEADY, Stopping


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


class CountsOnAfterABreak(Stopping):
    """The count goes back to 0 at the end of an epoch, which a break never reaches. (No public report.)"""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,e3,save@1,with=broken"
    counted = 0

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count on from where the last epoch was left."""
        self.given += self.counted
        for batch in super().deliver(steps):
            self.counted += self.round
            yield batch
        self.counted = 0


class PlansForItsLength(Stopping):
    """len() plans the next epoch, of which a state in the middle of this one then is. (No public report.)"""

    clause = "RESUME-1"
    smallest = "n2,w1,b1,keep,e2,save@1,with=asked"
    planned = 0

    def __len__(self) -> int:
        self.planned = int(self.begun)
        return super().__len__()

    def __iter__(self) -> Iterator[Any]:
        self.planned = 0
        return super().__iter__()

    def state_dict(self) -> Any:
        """Where it is, in the epoch that was planned last."""
        state = super().state_dict()
        return {**state, "epoch": state["epoch"] + self.planned}


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
    smallest = "n2,w1,b1,keep,shuffle,e3,save@1"
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


class SkipsAfterABeginning(Stopping):
    """A state from before the first iter() gives its epoch whole, and the next one without its head."""

    clause = "RESUME-2"
    smallest = "n1,w1,b1,keep,e2,save@0,with=unbegun"
    related = ("RESUME-5",)
    report = "Lightning-AI/litData#316"
    read = 0

    def state_dict(self) -> Any:
        """Where it is, and whether it has begun."""
        return {**super().state_dict(), "unbegun": not self.begun}

    def load_state_dict(self, state: Any) -> None:
        """Go on from there."""
        super().load_state_dict(state)
        self.read = 1 if state["unbegun"] else 0

    def left(self, skipped: int) -> list[list[int]]:
        """The steps of an epoch; of the second one after a state of the beginning, without the first."""
        steps = super().left(skipped)
        self.read += bool(self.read)
        return steps[1:] if self.read == 3 else steps


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
