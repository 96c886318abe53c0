"""How far a run is: plain data that a campaign gives to what shows it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """How many cases of a family were tried, and of how many; how many hung, and which clauses were violated."""

    family: str
    tried: int
    of: int
    hung: int = 0
    violated: frozenset[str] = frozenset()


Shows = Callable[[Progress], None]


def nothing(progress: Progress) -> None:
    """Show nothing."""
