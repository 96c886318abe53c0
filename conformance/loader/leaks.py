"""What a loader leaves behind: decides which resources are counted, and when something counts as left.

Counted in the process that iterates (and in the one beside it, of a loader that is no Python): child processes, open
descriptors, threads, files in its temporary folder and shared-memory segments. What a library opens once for good (a
resource tracker, a thread pool) is no leak: only what a second round of the same reading adds to the first is one.
"""

import gc
import os
import re
import select
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from conformance.bridge.implementation import beside
from conformance.loader import patience
from conformance.processes import alive, seen
from conformance.processes.calls import Remarks, closed_and_in_hand
from conformance.processes.descendants import KNOWN_TO, children, direct_children, listed, state_of, strays, text_of
from conformance.trace import RankRun, Topic

_SHARED_MEMORY = Path("/dev/shm")
_LOOKS = 5
# How often a loader must have left something behind, round after round, to be believed.
_OFTEN = 3
# After the first round: as many as make it unlikely that what is left is a neighbour's, or came of one bad moment.
_OF_SEGMENTS, _OF_DEATHS = 2, 8


@dataclass(frozen=True)
class Resources:
    """What a process holds at one moment."""

    processes: frozenset[int]
    zombies: int
    descriptors: int
    threads: int
    files: frozenset[str]
    segments: frozenset[str]


def held(temporary: str | None) -> Resources:
    """What this process holds now; `temporary` is its own temporary folder, or None if files don't count."""
    return Resources(
        processes=frozenset([*children(os.getpid()), *strays(os.environ.get(KNOWN_TO, ""))]),
        zombies=_zombies(os.getpid()),
        descriptors=sum(len(listed(f"/proc/{each}/fd")) for each in ("self", *beside)),
        threads=sum(len(listed(f"/proc/{each}/task")) for each in ("self", *beside)),
        files=_files(Path(temporary)) if temporary is not None else frozenset(),
        segments=_segments() if temporary is not None else frozenset(),
    )


def left_behind(before: Resources, temporary: str | None, grace: float) -> list[tuple[Topic, str]]:
    """What is held now and was not before, after waiting `grace` seconds for what is about to end.

    Half as long again where something of it still waits for a processor: on a busy machine, an end takes its time.
    """
    gc.collect()
    began = time.monotonic()
    now = at_first = held(temporary)
    # What comes now that the loader is gone is a neighbour's; then what came before may be one's as well.
    strangers: frozenset[str] = frozenset()
    looks = 0
    while left := _more(before, now, may_be_ours=not strangers):
        waited = time.monotonic() - began
        # On a busy machine one look may take the whole grace, and a neighbour is only seen by several.
        if looks >= _LOOKS and waited > grace and (waited > 1.5 * grace or not at_work()):
            break
        looks += 1
        select.select([], [], [], 0.02)
        now = held(temporary)
        if came := now.segments - at_first.segments:
            strangers |= came - _own(came)
    return left


def _more(before: Resources, now: Resources, may_be_ours: bool) -> list[tuple[Topic, str]]:
    left: list[tuple[Topic, str]] = []
    if processes := now.processes - before.processes:
        left.append(("process", _counted(len(processes), "child process is", "child processes are")))
    elif (more := now.zombies - before.zombies) > 0:
        # By their number: a loader that waits for the last ones when it starts the next has a few, never more.
        left.append(("process", _counted(more, "ended child process is", "ended child processes are")))
    if (more := now.descriptors - before.descriptors) > 0:
        left.append(("descriptor", _counted(more, "open descriptor is", "open descriptors are")))
    if (more := now.threads - before.threads) > 0:
        # Python numbers its threads, "Thread-7 (work)", so that a name would be another one each time.
        names = sorted({re.sub(r"[-_ ]?\d+", "", thread.name) for thread in threading.enumerate()} - {"MainThread"})
        left.append(
            ("thread", _counted(more, "thread is", "threads are") + (f" ({', '.join(names)})" if names else ""))
        )
    if segments := now.segments - before.segments:
        segments = _without_owner(segments) if may_be_ours else _own(segments)
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


def _zombies(process: int) -> int:
    """How many processes below this one have ended, and nobody has waited for them."""
    below = direct_children(process)
    return sum(state_of(f"/proc/{child}/stat") == "Z" for child in below) + sum(map(_zombies, below))


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


def _own(segments: frozenset[str]) -> frozenset[str]:
    """Those that can be told to be this family's: named by one of its processes, or mapped or held open by one."""
    family = {os.getpid(), *children(os.getpid())}
    used = "".join(text_of(f"/proc/{process}/maps") + _opened(process) for process in family)
    names = {str(process) for process in family}
    return frozenset(
        name for name in segments if names & set(re.findall(r"\d+", name)) or f"{_SHARED_MEMORY}/{name}" in used
    )


def _opened(process: int) -> str:
    links = [f"/proc/{process}/fd/{each}" for each in listed(f"/proc/{process}/fd")]
    return " ".join(map(_target, links))


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def resident_bytes() -> int:
    """The memory that this process and those below it hold now."""
    return sum(_resident(process) for process in (os.getpid(), *children(os.getpid())))


def _resident(process: int) -> int:
    pages = text_of(f"/proc/{process}/statm").split()[1:2]
    return int(pages[0]) * os.sysconf("SC_PAGE_SIZE") if pages else 0


def watching_leaks(once: Callable[[], RankRun], workdir: str, deadly: bool = False) -> RankRun:
    """Do it repeatedly in this process: what later rounds leave behind goes into the remarks.

    `deadly`: a worker dies on the way. LEAK-3 says nothing of the files of what died at once.
    """
    temporary = None if deadly else os.environ.get("TMPDIR", workdir)
    run, left = _round(once, temporary, patience.SHORT_GRACE)
    if left and all(seen.times()[about] >= _OFTEN for about, _ in left):
        return replace(run, remarks=(*run.remarks, *left))
    # What a library opens once for good is no leak: only what a later round adds is. A segment of shared memory may be
    # a neighbour's, left in that very moment. The news of a death is a signal, which comes at any moment: the same
    # must be left in each of many rounds. The grace is long in the first of them: that it stays is seen by then.
    for again in range(_OF_DEATHS if deadly else _OF_SEGMENTS):
        if not left:
            return run
        before = {about for about, _ in left}
        run, left = _round(once, temporary, patience.GRACE if again < _OF_SEGMENTS else patience.SHORT_GRACE)
        if again:
            left = [each for each in left if each[0] in before]
        if not deadly and not all("shared-memory" in told for _, told in left):
            break
    seen.note(about for about, _ in left)
    return replace(run, remarks=(*run.remarks, *left))


def _round(once: Callable[[], RankRun], temporary: str | None, grace: float) -> tuple[RankRun, Remarks]:
    before = held(temporary)
    alive.stage()
    with closed_and_in_hand():
        run = once()
        # It waits half as long again where something is busy.
        alive.stage(1.5 * grace)
        return run, _left_behind(before, temporary, grace)


def _left_behind(before: Resources, temporary: str | None, grace: float) -> Remarks:
    try:
        return left_behind(before, temporary, grace)
    except RuntimeError:  # a death that is raised only now, by a signal handler of the loader's
        return left_behind(before, temporary, grace)
