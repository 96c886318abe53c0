"""Loaders that resume wrongly where ranks don't share the samples evenly (chapter 9). A blind round had both."""

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.known_bad.correct import claim
from tests.known_bad.resuming import STEADY, Stopping


class TakesOffEpochsWithoutPadding(Stopping):
    """A state counts all epochs, each with its padding, and loading takes them off without it. (No public report.)"""

    clause, smallest = "RESUME-1", "n3,w2,b1,keep,e4,save@1"

    def state_dict(self) -> Any:
        """Where it is, behind what earlier epochs had more than the dataset."""
        state, request = super().state_dict(), self.request
        padding = 0 if request.drop_last else -len(request.dataset) % request.world_size
        return {**state, "given": state["given"] + state["epoch"] * padding}

    def load_state_dict(self, state: Any) -> None:
        """Go on from the step in which that is."""
        super().load_state_dict({**state, "given": state["given"] // self.round * self.round})


class EndsWhenTheFirstRankDoes(Stopping):
    """An epoch is over after as many steps as the longest rank has, which others never reach. (No public report.)"""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, when_keeping="uneven")
    clause, smallest = "RESUME-4", "n3,w2,b1,keep,e2,save@2,with=unset"

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and look whether that is all of the first rank's."""
        yield from super().deliver(steps)
        self.ended = self.request.drop_last or self.given >= len(self.request.dataset)
