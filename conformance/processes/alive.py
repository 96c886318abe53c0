"""Signs of life of a rank's process: decides how the fleet learns that what goes on there is not a hang.

A rank's patience is for one stage of a run: to read a loader, to wait until it reads no more, to see what it leaves.
Code that begins a stage says so, with the seconds that the stage itself may spend waiting; so a hang costs the patience
of one stage, and not of all that could have come.
"""

import contextlib
import os
from multiprocessing.connection import Connection

_line: list[tuple[int, Connection]] = []


def connect(line: Connection) -> None:
    """Tell the fleet from now on, in this process and not in those that are forked from it."""
    _line[:] = [(os.getpid(), line)]


def stage(waits: float = 0.0) -> None:
    """A stage begins, which may spend this many seconds waiting. Called by the thread that carries out the task."""
    for process, line in _line:
        if process == os.getpid():
            # Nobody listens any more where the run is being ended.
            with contextlib.suppress(OSError):
                line.send(float(waits))
