"""Decides that a figure is taken in a process of its own, which ends in time and leaves nothing behind.

The process is forked, so that a dataset is made once and shared; whatever it starts is in its process group, which is
ended with it. What a family of processes costs is read from /proc.
"""

import contextlib
import os
import signal
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import TypeVar, cast

from conformance.loader.leaks import children

Figure = TypeVar("Figure")
_FAREWELL = 10.0  # seconds for ending after the figure is known


class Failed(Exception):
    """A figure could not be taken; the text says why."""


class Unavailable(Exception):
    """What should be measured is not installed or not built; the text says what is missing."""


def in_child(measure: Callable[[], Figure], patience: float) -> Figure:
    """What `measure()` returns in a forked process.

    Raises Unavailable if it lacks something, Failed if it raises anything else, dies, or takes over `patience` seconds.
    """
    receiver, sender = get_context("fork").Pipe(duplex=False)
    child = get_context("fork").Process(target=_run, args=(measure, sender))
    child.start()
    leader = cast(int, child.pid)
    os.setpgid(leader, leader)  # here, so that the group is there whatever the child has come to
    sender.close()
    try:
        if not receiver.poll(patience):
            raise Failed(f"Nothing came in {patience:g} s: it hangs, or this machine is too slow for it.")
        figure, problem = receiver.recv()
        if problem is not None:
            raise problem
        wait([child.sentinel], _FAREWELL)
        return cast(Figure, figure)
    except EOFError:
        raise Failed("Its process died without a figure.") from None
    finally:
        # The leader is not reaped before this, so its number is nobody else's. macOS forbids a signal that is in vain.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(leader, signal.SIGKILL)
        child.join()
        receiver.close()


def _run(measure: Callable[[], object], sender: Connection) -> None:
    problem: Exception | None = None
    figure: object = None
    try:
        figure = measure()
    except (ImportError, NotImplementedError) as error:
        problem = Unavailable(str(error))
    except Exception as error:
        problem = Failed(f"{type(error).__name__}: {error}")
    sender.send((figure, problem))


def family(root: int) -> list[int]:
    """A process and all below it."""
    return [root, *children(root)]


def memory(root: int) -> int:
    """Bytes that a process and those below it hold, pages that they share counted once (proportional set size).

    Pages of files are left out: programs and libraries are shared with strangers, who come and go.
    """
    if not (found := sum(_memory_of(process) for process in family(root))):
        raise NotImplementedError("Memory is read from /proc/PID/smaps_rollup, which this system does not have.")
    return found


def _memory_of(process: int) -> int:
    lines = _read(process, "smaps_rollup").splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))


def processor_seconds(root: int) -> float:
    """Seconds that a process and those below it have used of the processors."""
    if not _read(root, "stat"):
        raise NotImplementedError("Processor times are read from /proc/PID/stat, which this system does not have.")
    ticks = 0
    for process in family(root):
        # The fields behind the name, which stands in brackets and may hold anything; numbers 11 and 12 are the times.
        fields = _read(process, "stat").rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _read(process: int, name: str) -> str:
    try:
        return Path(f"/proc/{process}/{name}").read_text()
    except OSError:  # it has ended in between
        return ""
