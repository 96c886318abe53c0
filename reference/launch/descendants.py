"""Decides that nothing which a launcher started outlives it: not the children of an instance, not one that got away.

On Linux a process can adopt the orphans among its descendants. So one that is left, also in a session of its own, is a
child of the launcher in the end, and is found and ended. Elsewhere this does nothing, and only those are ended whom the
launcher knows: the instances and their process groups.
"""

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic, sleep

_PR_SET_CHILD_SUBREAPER = 36
_LOOK_AGAIN = 0.02
# Helpers of multiprocessing ignore SIGTERM and end by themselves, once nobody needs them.
PATIENCE = 5.0


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(patience: float = PATIENCE) -> None:
    """End all children, and theirs, and wait for it: with SIGTERM, and after this many seconds with SIGKILL."""
    # LAUNCH-6
    told: set[int] = set()
    gentle = monotonic() + patience
    # A killed process is gone at once, except while it waits for a device: nobody can wait for that.
    last = gentle + patience
    while (left := _children()) and monotonic() < last:
        harsh = monotonic() >= gentle
        for process in left:
            if harsh or process not in told:
                told.add(process)
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL if harsh else signal.SIGTERM)
        _bury()
        sleep(_LOOK_AGAIN)
    _bury()


def _bury() -> None:
    """Take note of the children that have ended, which frees their numbers."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _children() -> list[int]:
    """Return this process's children, as far as the system tells."""
    found, me = [], os.getpid()
    for status in Path("/proc").glob("[0-9]*/stat"):
        # A process may end while it is looked at. Its name, in brackets, may hold anything.
        with suppress(OSError, IndexError, ValueError):
            fields = status.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            if int(fields[1]) == me:
                found.append(int(status.parent.name))
    return found
