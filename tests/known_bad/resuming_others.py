"""Loaders with one fault in how they take the state of another request or hook, or one that they never promised."""

import pickle
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.known_bad.correct import claim
from tests.known_bad.life import LIFE
from tests.known_bad.resuming import RESUMING, STEADY, Resuming, Stopping


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


class SkipsForEverWithOtherRanks(Resuming):
    """With other ranks than before the offset stays, epoch after epoch. (No public report.)"""

    clause = "RESUME-10"
    smallest, related = "n3,w1,b1,keep,e2,save@1,with=wider", ("RESUME-5",)
    families: ClassVar[tuple[str, ...]] = ("resume",)
    offset = 0

    def state_dict(self) -> Any:
        """Where all ranks are, and how many they are."""
        return {**super().state_dict(), "ranks": self.request.world_size}

    def load_state_dict(self, state: Any) -> None:
        """Go on from there, for ever if ranks have come or gone."""
        super().load_state_dict(state)
        self.offset = self.skipped if state["ranks"] != self.request.world_size else 0

    def left(self, skipped: int) -> list[list[int]]:
        """The steps behind the offset."""
        return super().left(max(skipped, self.offset))


class KeepsWhatOthersGave(Resuming):
    """What another job delivered stays in the states of all epochs that follow. (No public report.)"""

    clause = "RESUME-5"
    smallest = "n3,w1,b1,keep,e2,save@1,with=wider+onward"
    families: ClassVar[tuple[str, ...]] = ("resume",)
    base = 0

    def state_dict(self) -> Any:
        """Where all ranks are, how many they are, and what others had delivered."""
        state = super().state_dict()
        return {**state, "given": state["given"] + self.base, "ranks": self.request.world_size}

    def load_state_dict(self, state: Any) -> None:
        """Go on behind what was delivered, and note what others did of it."""
        super().load_state_dict(state)
        self.base = self.skipped if state["ranks"] != self.request.world_size else 0
        self.given = self.skipped - self.base

    def __iter__(self) -> Iterator[Any]:
        steps = super().__iter__()
        # What was skipped because of others is counted as the base.
        self.given = max(0, self.given - self.base)
        return steps


class RoundsWhatOthersGave(Resuming):
    """After a restart it counts on from whole steps of all ranks, of which others gave a part. (No public report.)"""

    clause = "RESUME-10"
    smallest = "n5,w1,b1,drop,e2,save@1,with=wider+again"
    families: ClassVar[tuple[str, ...]] = ("resume",)

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count from the last whole one."""
        self.given -= self.given % self.round
        yield from super().deliver(steps)


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


class CollatesWholeEpochs(Stopping):
    """The collate function makes the steps of whole epochs, and a list those of a rest. (No public report.)"""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, hooks=("collate_fn",))
    families: ClassVar[tuple[str, ...]] = LIFE
    clause = "WORK-18"
    smallest = "n5,w1,b1,keep,hooked,with=collated+restored"
    is_rest = False

    def left(self, skipped: int) -> list[list[int]]:
        """Look whether anything was given before."""
        self.is_rest = skipped > 0
        return super().left(skipped)

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step, collated unless they are of a rest."""
        samples, collate = super().fetch(step), self.request.collate_fn
        return collate(samples) if collate and not self.is_rest else samples
