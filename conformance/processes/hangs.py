"""What hangs cost: decides how long is waited for the next one, and when a run has spent enough on them.

The first two are waited for with the whole patience. After that most waiting is for nothing, so that a part of it
does while cases are looked for; whatever is reported in the end has hung for the whole patience, in new processes.
"""

import math
import threading
from dataclasses import dataclass, field

_WAITED_FOR = 2
_PART, _LEAST = 0.2, 2.0  # of the patience; seconds
_SLOWER = 4  # times as long as the slowest run that ended


class TimeIsOver(Exception):
    """The time of the whole run came to its end during a task, of which nothing is known therefore."""


@dataclass
class Hangs:
    """The hangs of one fleet: how many, the seconds that they took, and the seconds of the slowest run without one."""

    number: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    whole: bool = False
    # How often a smaller case that hangs was looked for, and one was confirmed.
    searches: int = 0
    confirmed: int = 0
    # When the whole run must have come to its end, by the monotonic clock.
    end: float = math.inf
    _noting: threading.Lock = field(default_factory=threading.Lock)

    def note(self, seconds: float, hung: bool, waits: float = 0.0) -> None:
        """A run has taken so long, and hung or ended; so much of it the suite itself may have waited."""
        with self._noting:
            if hung:
                self.number += 1
                self.seconds += seconds
            else:
                self.slowest = max(self.slowest, seconds - waits)

    def patience(self, usual: float) -> float:
        """The seconds that a stage may take now, if it may usually take this many."""
        if self.whole or self.number < _WAITED_FOR:
            return usual
        return min(usual, max(_PART * usual, _LEAST, _SLOWER * self.slowest))
