"""How far a run is: plain data that a campaign gives to whoever shows it."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """So many cases of a family were tried, of so many; so many of them hung, and so many clauses were violated."""

    family: str
    tried: int
    of: int
    hung: int = 0
    violated: int = 0


Shows = Callable[[Progress], None]


def nothing(progress: Progress) -> None:
    """Show nothing."""
