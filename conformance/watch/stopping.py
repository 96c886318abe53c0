"""Stopping politely: decides at which batch a job that was seen long enough gets its exception.

`--steps N` gives it to the consumer of a loader of which N batches have come in this process: ranks in step with each
other come there together. `--seconds S` can't be that even: the first rank after the deadline names a step a little
ahead, in a file that the others see, so that no rank is left alone in a collective.
"""

import contextlib
import os
import time
from collections.abc import Callable
from pathlib import Path

from conformance.watch.options import Options

# Ranks that wait for each other in each step are at most one step apart.
_AHEAD = 2
NOTE, LAST_STEP = "stopped.txt", "last-step.txt"


class Enough(SystemExit):
    """Raised in the training loop: enough was seen. The process ends with code 0, and runs what stands in finally."""

    def __init__(self) -> None:
        super().__init__(0)


class Stopping:
    """When this process is to stop."""

    def __init__(self, folder: Path, options: Options) -> None:
        self._folder = folder
        self._options = options
        self._last: int | None = None  # the total of batches at which --seconds ends this process

    def due(self, of_this_line: int, of_all: Callable[[], int]) -> bool:
        """Whether no further batch is wanted, after this many of the loaders of one line, and this many of all."""
        if self._options.steps is not None and of_this_line >= self._options.steps:
            return True
        if self._options.deadline is None or time.time() < self._options.deadline:
            return False
        if self._last is None:
            self._last = self._agreed(of_all() + _AHEAD)
        return of_all() >= self._last

    @property
    def limit(self) -> dict[str, float]:
        """What was asked for, for the record."""
        if self._options.steps is not None:
            return {"steps": self._options.steps}
        return {"seconds": self._options.seconds or 0.0}

    def note(self) -> None:
        """Say that a process was stopped: what its exit does to the others is then no fault of the job."""
        with contextlib.suppress(OSError):
            (self._folder / NOTE).touch()

    def _agreed(self, mine: int) -> int:
        path = self._folder / LAST_STEP
        try:
            # Whole at once: a process that sees the name sees the number.
            draft = path.with_name(f"{path.name}.{os.getpid()}")
            draft.write_text(str(mine))
            try:
                os.link(draft, path)
            finally:
                draft.unlink()
        except OSError:
            pass
        try:
            return int(path.read_text())
        except (OSError, ValueError):
            return mine
