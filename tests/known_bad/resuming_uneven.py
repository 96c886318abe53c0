"""Loaders that resume wrongly where ranks don't share the samples evenly (chapter 9). A blind round had them."""

from typing import Any

from tests.known_bad.resuming import Stopping


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
