"""Loaders that can be resumed, unless a sample has failed before (chapter 9). Blind rounds had them."""

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.known_bad.correct import claim, what_can_be_read
from tests.known_bad.resuming import STEADY, Stopping
from tests.known_bad.resuming_rests import SkipsInEveryEpoch


class CountsAStepBeforeItIsRead(Stopping):
    """A step is counted before it is read, so one that fails is skipped after a restart. (No public report.)"""

    clause = "RESUME-1"
    smallest = "n1,w1,b1,keep,e2,raise@0,save@0,with=failed"

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Count each step, and fetch it."""
        for step in steps:
            self.given += self.round
            yield self.fetch(step)
        self.ended = True


class CountsNothingForWhatItSkips(Stopping):
    """The state counts what was delivered, which is too little once a sample was skipped. (No public report.)"""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, errors="skip")
    clause = "RESUME-1"
    smallest = "n3,w1,b1,keep,e2,raise@0,save@1"

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step that can be read."""
        return what_can_be_read(super().fetch, step)

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count what there is of it."""
        for step in steps:
            batch = self.fetch(step)
            self.given += len(batch) * self.request.world_size
            if batch:
                yield batch
        self.ended = True


class SkipsAgainAfterAnError(SkipsInEveryEpoch):
    """Where to begin is forgotten when a rest has ended or was left, and not when it has failed. (No public report.)"""

    clause, smallest = "RESUME-2", "n2,w1,b1,keep,e2,raise@1,save@1,with=left"
    claims = Stopping.claims
    report, related = "", ()

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step; then, or when the loop is left, forget the offset."""
        try:
            yield from super().deliver(steps)
        except GeneratorExit:
            self.offset = 0
            raise
        self.offset = 0
