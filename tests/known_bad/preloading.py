"""Loaders that begin to read before they know what they were handed (chapters 4 and 5). A blind round had the first."""

from typing import Any

from tests.known_bad.ahead import BadAhead
from tests.known_bad.asynchronous import PLAIN
from tests.known_bad.life import LIFE


class PreloadsBeforeItsHooks(BadAhead):
    """The base class preloads in its constructor, before the collate function is taken over. (No public report.)"""

    claims, families = dict(PLAIN, hooks=("collate_fn", "early_preload", "load_indefinitely")), LIFE
    clause, smallest = "WORK-18", "n1,w1,b1,keep,async,early,hooked,with=collated"
    collating: Any = None

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.collating = request.collate_fn

    def collate(self, samples: list[Any]) -> Any:
        return self.collating(samples) if self.collating else samples

    def at_the_end(self, epoch: int) -> None:
        """Begin no epoch early, whose calls would stand for those of the first one, or not, as threads run."""
