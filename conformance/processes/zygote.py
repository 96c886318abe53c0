"""The parent of a fleet's processes: imports the implementation once, forks members from itself, ends and reaps them.

Forking a member costs milliseconds where starting an interpreter and importing torch costs seconds. The pytest process
never imports the implementation: whatever the import does, it does here.
"""

import atexit
import contextlib
import gc
import json
import os
import select
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle
from typing import Any

from conformance.contract import AdapterError, Implementation
from conformance.processes import alive, huge_pages, seen
from conformance.processes.descendants import (
    KNOWN_TO,
    adopt_orphans,
    die_with_parent,
    direct_children,
    end_strays,
    note_known,
)
from conformance.processes.origin import Origin, origin_of
from conformance.processes.own_errors import Unusable, broken
from conformance.processes.task import Task

# The file that lists the processes of the fleet, and the variable by which a member knows where it is.
KNOWN = "known"
_GRACE = 1.0  # seconds that a dying member gets before it is killed


def serve(control: Connection, load: Callable[[], tuple[Implementation, Origin]], workdir: str) -> None:
    """Answer the fleet until it hangs up; then end every member."""
    # The one interpreter-wide setting: members must not fight over two cores with thread pools of their own.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    try:
        implementation, origin = load()
    except AdapterError as error:
        control.send(("error", str(error)))
        return
    _keep_what_is_there()
    beyond = dict(implementation.elsewhere.beyond) if implementation.elsewhere else {}
    control.send(("ready", implementation.claims, dict(implementation.known_failures), origin, beyond))
    members: set[int] = set()
    # What the implementation's import has started is its own to end.
    started = frozenset(direct_children(os.getpid()))
    adopt_orphans()
    os.makedirs(workdir, exist_ok=True)
    known = os.path.join(workdir, KNOWN)
    try:
        while True:
            order, *arguments = control.recv()
            if order == "fork":
                member = _fork(control, implementation, os.path.join(workdir, arguments[0]))
                members.add(member)
                # Before anything is asked of it.
                note_known(known, members | started)
                control.send(member)
            elif order == "prepare":
                _prepare(*arguments)
                control.send("prepared")
            elif order == "end":
                members.discard(arguments[0])
                how = _end(*arguments)
                end_strays(members | started)
                note_known(known, members | started)
                control.send(how)
    except (EOFError, ConnectionError):
        return
    finally:
        # One grace for all of them together.
        deadline = time.monotonic() + _GRACE
        for pid in members:
            _end(pid, deadline - time.monotonic())
        end_strays(started)


def _keep_what_is_there() -> None:
    """What imports have made stays for good: without this, each look for what a loader left behind walks all of it."""
    gc.collect()
    gc.freeze()


def _prepare(performer: str) -> None:
    """Import a performer with what it needs, so that no member forked from now on spends seconds on that."""
    getattr(import_module(performer), "prepare", lambda: None)()
    _keep_what_is_there()


def _fork(control: Connection, implementation: Implementation, workdir: str) -> int:
    descriptor = recv_handle(control)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            control.close()
            _live(Connection(descriptor), implementation, workdir)
            code = 0
        finally:
            # Not sys.exit: a member must not run the exit handlers that belong to its parent.
            os._exit(code)
    os.close(descriptor)
    return pid


def _live(orders: Connection, implementation: Implementation, workdir: str) -> None:
    # A session of its own, so that the workers which a loader starts can be ended with it.
    os.setsid()
    die_with_parent()
    heed()
    temporary = os.path.join(workdir, "t")
    os.makedirs(temporary, exist_ok=True)
    # A temporary folder of its own, so that what is left in it is this member's.
    os.environ["TMPDIR"] = tempfile.tempdir = temporary
    os.environ[seen.SEEN_IN] = os.path.join(os.path.dirname(workdir), seen.FILE)
    os.environ[KNOWN_TO] = os.path.join(os.path.dirname(workdir), KNOWN)
    log = os.open(os.path.join(workdir, "output.txt"), os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    nothing = os.open(os.devnull, os.O_RDONLY)
    # What an implementation prints or reads must not reach the report, nor the person's terminal.
    for descriptor, target in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(descriptor, target)
    # A notebook's or a test's own files stand in for the three: those of a forked process would still be theirs.
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(to, "w" if to else "r", closefd=False) for to in (0, 1, 2))
    alive.connect(orders)
    while True:
        try:
            tasks = orders.recv()
        except (EOFError, ConnectionError):
            return
        orders.send([_answered(implementation, task, workdir) for task in tasks])


def _answered(implementation: Implementation, task: Task, workdir: str) -> Any:
    elsewhere = implementation.elsewhere
    try:
        if elsewhere:
            elsewhere.begin()
        answer = _perform(implementation, task, workdir)
        return Unusable(told) if elsewhere and (told := elsewhere.complaint()) else answer
    except BaseException as error:
        # Whatever else comes out here takes the process down, and the fleet sees that.
        answer = broken(error)
        if answer is None:
            raise
        return answer


def _perform(implementation: Implementation, task: Task, workdir: str) -> Any:
    perform: Callable[[Implementation, Task, str], Any] = import_module(task.performer).perform
    if task.process_group is None:
        return perform(implementation, task, workdir)
    import torch.distributed as distributed

    path, rank, world_size = task.process_group
    distributed.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=world_size)
    # A process that is done at once must not close what another is still opening.
    distributed.barrier()
    try:
        return perform(implementation, task, workdir)
    finally:
        distributed.destroy_process_group()


def _end(pid: int, grace: float = _GRACE) -> str:
    """Wait a moment for a member that is ending, kill what is left of its session, and say how it ended."""
    deadline = time.monotonic() + grace
    while not (ended := _has_ended(pid)) and time.monotonic() < deadline:
        select.select([], [], [], 0.002)
    # Before the member is reaped: until then its id, and so its session's, can't belong to anybody else.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return _how(os.waitstatus_to_exitcode(status)) if ended else "killed"


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _how(code: int) -> str:
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def leave(workdir: str) -> None:
    """Remove a zygote's files; the last one takes the fleet's folder along, if its maker was killed."""
    shutil.rmtree(workdir, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.rmdir(os.path.dirname(workdir))


def main() -> None:
    """Entry point of a zygote with an interpreter of its own: arguments are a descriptor and JSON."""
    from conformance.processes.resolve import resolve

    settings = json.loads(sys.argv[2])
    control = Connection(int(sys.argv[1]))
    if settings["elsewhere"]:
        _have_fewer_cores()

    def load() -> tuple[Implementation, Origin]:
        implementation = resolve(settings["implementation"])
        huge_pages.gather()
        return implementation, origin_of(implementation.home, implementation.shape, settings["implementation"])

    try:
        serve(control, load, settings["workdir"])
    finally:
        leave(settings["workdir"])
        sys.stdout.flush()
        # What the implementation's import wants done at the end is done; taking torch's modules apart is for nothing.
        atexit._run_exitfuncs()
        os._exit(0)


def _have_fewer_cores() -> None:
    """Leave out one of the cores, as on another machine: what an order is made by must not hang on their number."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[1:] or cores)


def heed() -> None:
    """Let SIGINT interrupt this process and those that it starts, as it does in a terminal.

    A shell lets what it starts in the background ignore it, and with that every process of the run.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
