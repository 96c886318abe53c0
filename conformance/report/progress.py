"""What a person sees while a run works: one line at once, and on a terminal one that is rewritten."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from conformance.trial.progress import Progress

_EVERY = 0.1  # seconds
_WIDTH = 100


def first_line(implementation: str, tier: str, families: int) -> str:
    """``judging my_loader.py: gate, 12 families``."""
    return f"judging {implementation}: {tier}, {families} families"


def text_of(progress: Progress, seconds: float) -> str:
    """``map: 120 of 231 cases, 2 hung, 1 clause violated, about 4 s left``, after this many seconds of that family."""
    words = [f"{progress.family}: {progress.tried} of {progress.of} cases"]
    words += [f"{progress.hung} hung"] if progress.hung else []
    words += [f"{len(progress.violated)} violated"] if progress.violated else []
    left = seconds / progress.tried * (progress.of - progress.tried) if progress.tried else 0
    words += [f"about {left:.0f} s left"] if left >= 1 else []
    return ", ".join(words)


@dataclass
class Line:
    """A line that is rewritten: `write` puts a text in the place of the last one, and "" takes it away."""

    write: Callable[[str], None]
    clock: Callable[[], float] = time.monotonic
    _family: str = ""
    _began: float = 0.0
    _shown: float = field(default=float("-inf"))

    def __call__(self, progress: Progress) -> None:
        """Show how far the run is; a family that is done takes its line away."""
        now = self.clock()
        if progress.family != self._family:
            self._family, self._began = progress.family, now
        if progress.tried >= progress.of:
            self.write("")
        elif now - self._shown >= _EVERY:
            self._shown = now
            self.write(text_of(progress, now - self._began))


def on_standard_error(text: str) -> None:
    """Rewrite the line on standard error."""
    sys.stderr.write(f"\r{text[:_WIDTH]:<{_WIDTH}}\r{text[:_WIDTH]}")
    sys.stderr.flush()
