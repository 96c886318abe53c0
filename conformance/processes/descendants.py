"""The processes below a process: how they are found, adopted when their own parent ends, and ended.

A loader may start a process that leaves its session and its parent, as a daemon does. On Linux such an orphan becomes a
child of the zygote, which adopts them, and ends those that are left with the run. The rank's process counts them: they
are the children of its parent that are none of the fleet's, which a file lists. Elsewhere orphans are not seen.
"""

import contextlib
import ctypes
import os
import select
import signal
import sys
import time
from collections.abc import Collection
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
# The variable that says where the file is that lists the processes of a fleet.
KNOWN_TO = "LOADERSPEC_KNOWN_PROCESSES"
_GONE = 2.0  # seconds in which what was killed is gone


def die_with_parent() -> None:
    """Let this process be killed when the one that forked it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def adopt_orphans(adopt: bool = True) -> None:
    """Become the parent of every descendant whose own parent ends; or no longer."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def children(process: int) -> list[int]:
    """The living processes below a process; those that have ended and only wait to be reaped don't count."""
    found = []
    for child in direct_children(process):
        found += [child] if _is_alive(child) else []
        found += children(child)
    return found


def direct_children(process: int) -> list[int]:
    """The children of a process alone, living or ended and not reaped."""
    tasks = listed(f"/proc/{process}/task")
    return [int(child) for task in tasks for child in text_of(f"/proc/{process}/task/{task}/children").split()]


def note_known(file: str, known: Collection[int]) -> None:
    """Write down which children of this process are no strays; whole or not at all, for readers at any time."""
    with open(f"{file}.new", "w") as text:
        text.write(" ".join(map(str, known)))
    os.replace(f"{file}.new", file)


def strays(file: str) -> list[int]:
    """The living children of this process's parent that the file does not list, and what is below them."""
    known = {int(each) for each in text_of(file).split()}
    if os.getpid() not in known:
        return []
    found = [child for child in direct_children(os.getppid()) if child not in known and _is_alive(child)]
    return [process for stray in found for process in (stray, *children(stray))]


def end_strays(known: Collection[int]) -> None:
    """End and reap all children of this process but those that are known, and what is below them."""
    deadline = time.monotonic() + _GONE
    # What is below a stray becomes a child when the stray is gone.
    while strays := [child for child in direct_children(os.getpid()) if child not in known]:
        for stray in strays:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(stray, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(stray, os.WNOHANG)
        if time.monotonic() > deadline:
            return
        select.select([], [], [], 0.002)


def state_of(stat: str) -> str:
    """The letter of a process's or a thread's state, by the path of its `stat`; "" if it is gone."""
    # The first field after the name, which stands in brackets and may hold anything.
    return "".join(text_of(stat).rpartition(")")[2].split()[:1])


def _is_alive(process: int) -> bool:
    return state_of(f"/proc/{process}/stat") not in ("", "Z", "X")


def listed(folder: str) -> list[str]:
    """The names in a folder of /proc; none if what it is about has ended."""
    try:
        return os.listdir(folder)
    except OSError:
        return []


def text_of(path: str) -> str:
    """The text of a file of /proc; "" if what it is about has ended."""
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""
