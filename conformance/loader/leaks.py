"""What a loader leaves behind: decides which resources are counted, and when something counts as left.

Counted in the process that iterates: child processes, open descriptors, threads, files in its temporary folder and
shared-memory segments. What a library opens once for good (a resource tracker, a thread pool) is no leak: only what a
second round of the same reading adds to the first is one.
"""

import gc
import os
import re
import select
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from conformance.processes.descendants import KNOWN_TO, children, listed, state_of, strays, text_of
from conformance.trace import Topic

_SHARED_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Resources:
    """What a process holds at one moment."""

    processes: frozenset[int]
    descriptors: int
    threads: int
    files: frozenset[str]
    segments: frozenset[str]


def held(temporary: str | None) -> Resources:
    """What this process holds now; `temporary` is its own temporary folder, or None if files don't count."""
    return Resources(
        processes=frozenset([*children(os.getpid()), *strays(os.environ.get(KNOWN_TO, ""))]),
        descriptors=len(listed("/proc/self/fd")),
        threads=len(listed("/proc/self/task")),
        files=_files(Path(temporary)) if temporary is not None else frozenset(),
        segments=_segments() if temporary is not None else frozenset(),
    )


def left_behind(before: Resources, temporary: str | None, grace: float) -> list[tuple[Topic, str]]:
    """What is held now and was not before, after waiting `grace` seconds for what is about to end.

    Half as long again where something of it still waits for a processor: on a busy machine, an end takes its time.
    """
    gc.collect()
    began = time.monotonic()
    while left := _more(before, held(temporary)):
        waited = time.monotonic() - began
        if waited > grace and (waited > 1.5 * grace or not at_work()):
            break
        select.select([], [], [], 0.02)
    return left


def _more(before: Resources, now: Resources) -> list[tuple[Topic, str]]:
    left: list[tuple[Topic, str]] = []
    if processes := now.processes - before.processes:
        left.append(("process", _counted(len(processes), "child process is", "child processes are")))
    if (more := now.descriptors - before.descriptors) > 0:
        left.append(("descriptor", _counted(more, "open descriptor is", "open descriptors are")))
    if (more := now.threads - before.threads) > 0:
        # Python numbers its threads, "Thread-7 (work)", so that a name would be another one each time.
        names = sorted({re.sub(r"[-_ ]?\d+", "", thread.name) for thread in threading.enumerate()} - {"MainThread"})
        left.append(
            ("thread", _counted(more, "thread is", "threads are") + (f" ({', '.join(names)})" if names else ""))
        )
    if segments := now.segments - before.segments:
        segments = _without_owner(segments)
    if files := (now.files - before.files):
        left.append(("file", _counted(len(files), "temporary file is", "temporary files are")))
    elif segments:
        left.append(("file", _counted(len(segments), "shared-memory segment is", "shared-memory segments are")))
    return left


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many} left"


def at_work() -> bool:
    """Whether another thread of this process, or of one that descends from it, runs or waits for a processor now."""
    me = threading.get_native_id()
    tasks = [
        f"/proc/{process}/task/{task}/stat"
        for process in (os.getpid(), *children(os.getpid()))
        for task in listed(f"/proc/{process}/task")
        if int(task) != me
    ]
    return "R" in map(state_of, tasks)


def _files(folder: Path) -> frozenset[str]:
    return frozenset(str(path.relative_to(folder)) for path in folder.rglob("*"))


def _segments() -> frozenset[str]:
    return frozenset(listed(str(_SHARED_MEMORY)))


def _without_owner(segments: frozenset[str]) -> frozenset[str]:
    """Those that no process outside this one's family uses: a neighbour's segments are not our leak."""
    family = {os.getpid(), *children(os.getpid())}
    others = [int(name) for name in listed("/proc") if name.isdigit() and int(name) not in family]
    used = "".join(text_of(f"/proc/{process}/maps") for process in others)
    return frozenset(name for name in segments if f"{_SHARED_MEMORY}/{name}" not in used)


def resident_bytes() -> int:
    """The memory that this process and those below it hold now."""
    return sum(_resident(process) for process in (os.getpid(), *children(os.getpid())))


def _resident(process: int) -> int:
    pages = text_of(f"/proc/{process}/statm").split()[1:2]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0
