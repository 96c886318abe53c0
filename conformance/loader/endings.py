"""The end of a process: decides how one ends as an interpreter does, though it was forked, and what becomes of orphans.

The child is forked from a member, so that a loader serves that exists only in memory. What an interpreter does at its
end is done by hand: threads that are no daemons are joined, exit handlers run, what is alive is released.
"""

import atexit
import gc
import os
import select
import signal
import threading
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from typing import Any

from conformance.loader import patience
from conformance.loader.interrupts import first, said
from conformance.processes import alive
from conformance.processes.descendants import adopt_orphans, children, end_strays

_UNTIL_READ, _UNTIL_ENDED = 8.0, 5.0  # seconds


def end_a_process(read: Callable[[], Any], folder: str) -> str | None:
    """Fork a process that reads and ends without closing. What is wrong with its end, or None if it could not read."""
    adopt_orphans(True)
    alive.stage(_UNTIL_READ + _UNTIL_ENDED)
    try:
        child = os.fork()
        if child == 0:
            _read_and_end(read, folder)
        _wait(child, _UNTIL_READ, until=lambda: said(folder, "read"))
        has_read = said(folder, "read")
        ended = _wait(child, _UNTIL_ENDED) if has_read else False
        if not ended:
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        _see_orphans_end()
    finally:
        adopt_orphans(False)
    if not has_read:
        return None
    if not ended:
        return f"it does not end within {_UNTIL_ENDED:g} s"
    code = os.waitstatus_to_exitcode(status)
    return f"it ends with {'exit code' if code > 0 else 'signal'} {abs(code)}" if code else ""


def left_by_a_killed_reader(read: Callable[[], Any], folder: str) -> tuple[int, int] | None:
    """Fork a process that reads, and kill it. How many processes it left, of how many; None if it could not read."""
    before = children(os.getpid())
    adopt_orphans(True)
    # Reading has the patience of any run, with what workers are granted that are new interpreters.
    alive.stage()
    try:
        child = os.fork()
        if child == 0:
            _read_and_wait(read, folder)
        _wait(child, patience.STARTED, until=lambda: said(folder, "read"))
        has_read = said(folder, "read")
        alive.stage(patience.ORPHANS_END)
        started = len(_others(before)) - 1
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        deadline = time.monotonic() + patience.ORPHANS_END
        while (left := len(_others(before))) and has_read and time.monotonic() < deadline:
            select.select([], [], [], 0.01)
        end_strays(before)
    finally:
        adopt_orphans(False)
    return (left, started) if has_read else None


def _others(known: Collection[int]) -> list[int]:
    return [process for process in children(os.getpid()) if process not in known]


def _read_and_wait(read: Callable[[], Any], folder: str) -> None:
    try:
        kept = read()
        first(folder, "read")
        while kept:
            signal.pause()
    finally:
        os._exit(1)


def _read_and_end(read: Callable[[], Any], folder: str) -> None:
    code = 1
    try:
        kept = read()
        first(folder, "read")
        # What `Py_FinalizeEx` does, in its order.
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        del kept
        gc.collect()
        code = 0
    finally:
        os._exit(code)


def _wait(child: int, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
    """Whether the child has ended; waits for that, or for something else, for some seconds."""
    deadline = time.monotonic() + seconds
    while not (ended := _has_ended(child)) and not until() and time.monotonic() < deadline:
        select.select([], [], [], 0.005)
    return ended


def _has_ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _see_orphans_end() -> None:
    """Give what the process left a moment to end, and wait for what has ended: nobody else will."""
    deadline = time.monotonic() + patience.SHORT_GRACE
    while children(os.getpid()) and time.monotonic() < deadline:
        select.select([], [], [], 0.01)
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
