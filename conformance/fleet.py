"""The processes in which ranks run: decides where a task is carried out, how long it may take, and what its end means.

Two zygotes with different hash seeds, and members forked from them: rank r runs in a member of zygote r mod 2, so that
ranks differ in their hash seed as the processes of a real job do. Members are started once and used again; one that
hangs or dies is ended and replaced, and the rank's run becomes a failure in the trace.
"""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import send_handle
from typing import Any, Protocol

from conformance.contract import AdapterError, Claims, Implementation
from conformance.member import Task
from conformance.trace import Failure, RankRun

HASH_SEEDS = ("1", "2")
_START_SECONDS = 120.0  # importing a large framework on a busy machine
_END_SECONDS = 10.0

# A forked zygote inherits our ends of all sockets; it must close them, or a fleet that hangs up is never noticed.
_our_ends: "weakref.WeakSet[Connection]" = weakref.WeakSet()


class Source(Protocol):
    """Where zygotes come from: an interpreter of their own, or a fork of this one."""

    @property
    def hash_seeds(self) -> Sequence[str]:
        """The PYTHONHASHSEED of each zygote."""
        ...

    def start(self, hash_seed: str, workdir: str) -> "Zygote":
        """Start a zygote; it is ready when its `expect_ready` returns."""
        ...


@dataclass
class Zygote:
    """Our side of a zygote: its control line, and what it said about the implementation."""

    control: Connection
    process: "subprocess.Popen[bytes] | int"
    claims: Claims = field(default_factory=Claims)
    known_failures: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def receive(self, seconds: float, doing: str) -> Any:
        """The next answer. AdapterError if none comes in time, or the zygote ended."""
        try:
            if self.control.poll(seconds):
                return self.control.recv()
        except (EOFError, ConnectionError):
            raise AdapterError(f"the implementation's process ended while {doing}; see what its import does") from None
        raise AdapterError(
            f"the implementation's process gave no answer within {seconds:g} s while {doing}; see what its import does"
        )

    def expect_ready(self) -> None:
        """Wait until the implementation is imported. AdapterError if it can't be."""
        kind, *rest = self.receive(_START_SECONDS, "importing it")
        if kind == "error":
            raise AdapterError(rest[0])
        self.claims, self.known_failures = rest

    def close(self) -> None:
        """Hang up, and wait until the zygote has ended its members and itself."""
        self.control.close()
        if isinstance(self.process, int):
            os.waitpid(self.process, 0)
            return
        try:
            self.process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@dataclass(frozen=True)
class SpawnedSource:
    """Zygotes that are fresh interpreters and import `implementation` by its name: what the command line uses."""

    implementation: str
    hash_seeds: Sequence[str] = HASH_SEEDS

    def start(self, hash_seed: str, workdir: str) -> Zygote:
        """Start one; it is ready when `expect_ready` returns."""
        ours, theirs = _pair()
        settings = json.dumps({"implementation": self.implementation, "workdir": workdir})
        # Our import path, so that the same packages are found; then the folder the person stands in.
        path = [*sys.path, os.getcwd()]
        program = f"import sys; sys.path[:] = {path!r}; from conformance.zygote import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(theirs.fileno()), settings],
            pass_fds=[theirs.fileno()],
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "OMP_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        theirs.close()
        return Zygote(_connection(ours), process)


@dataclass(frozen=True)
class ForkedSource:
    """Zygotes that are forks of this process, for an implementation that only exists here (a REPL, a test)."""

    implementation: Implementation
    hash_seeds: Sequence[str] = ("",)

    def start(self, hash_seed: str, workdir: str) -> Zygote:
        """Fork one; it has this process's hash seed."""
        from conformance import zygote

        ours, theirs = _pair()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                ours.close()
                for connection in list(_our_ends):
                    connection.close()
                os.setsid()
                zygote.serve(Connection(theirs.detach()), lambda: self.implementation, workdir)
                code = 0
            finally:
                zygote.leave(workdir)
                os._exit(code)
        theirs.close()
        return Zygote(_connection(ours), pid)


@dataclass
class _Member:
    pid: int
    zygote: Zygote
    orders: Connection


class Fleet:
    """The members of one implementation. Use it as a context manager; nothing of it outlives the block."""

    def __init__(self, source: Source, patience: float = 10.0) -> None:
        self.source = source
        self.patience = patience
        self._members: dict[tuple[int, int], _Member] = {}
        self._root = tempfile.mkdtemp(prefix="loaderspec-")
        self._groups = 0
        self._zygotes: list[Zygote] = []
        try:
            for position, seed in enumerate(source.hash_seeds):
                self._zygotes.append(source.start(seed, os.path.join(self._root, f"zygote-{position}")))
            for zygote in self._zygotes:
                zygote.expect_ready()
        except BaseException:
            self.close()
            raise

    @property
    def claims(self) -> Claims:
        """What the implementation promises."""
        return self._zygotes[0].claims

    @property
    def known_failures(self) -> Mapping[str, Mapping[str, Any]]:
        """The known failures that the adapter lists."""
        return self._zygotes[0].known_failures

    def run(self, tasks: Sequence[Task], shift: int = 0, patience: float | None = None) -> tuple[RankRun, ...]:
        """Carry out one task a rank, all at the same time, each in its own process.

        `shift` = 1 uses other processes, with the other hash seed. The run of a rank that hangs or dies is a Failure.
        """
        tasks = self._with_process_group(tasks)
        members = [self._member((rank + shift) % len(self._zygotes), 2 * rank + shift) for rank in range(len(tasks))]
        for member, task in zip(members, tasks, strict=True):
            # A member that died between two tasks shows at the answer, like one that dies in this one.
            with contextlib.suppress(OSError):
                member.orders.send([task])
        deadline = time.monotonic() + (self.patience if patience is None else patience)
        waiting = {member.orders for member in members}
        while waiting and (ready := wait(list(waiting), max(0.0, deadline - time.monotonic()))):
            waiting.difference_update(ready)
        return tuple(
            self._answer(member, task, hung=member.orders in waiting)
            for member, task in zip(members, tasks, strict=True)
        )

    def renew(self) -> None:
        """End all members; the next tasks run in new processes."""
        for key in list(self._members):
            self._end(key)

    def close(self) -> None:
        """End everything that was started and remove every file."""
        for member in self._members.values():
            member.orders.close()
        self._members.clear()
        for zygote in self._zygotes:
            zygote.close()
        self._zygotes = []
        shutil.rmtree(self._root, ignore_errors=True)

    def __enter__(self) -> "Fleet":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _with_process_group(self, tasks: Sequence[Task]) -> list[Task]:
        if self.claims.ranks != "process_group":
            return list(tasks)
        self._groups += 1
        path = os.path.join(self._root, f"rendezvous-{self._groups}")
        return [replace(task, process_group=(path, rank, len(tasks))) for rank, task in enumerate(tasks)]

    def _member(self, zygote: int, slot: int) -> _Member:
        key = (zygote, slot)
        if key not in self._members:
            ours, theirs = _pair()
            parent = self._zygotes[zygote]
            parent.control.send(("fork", f"member-{slot}"))
            send_handle(parent.control, theirs.fileno(), None)
            theirs.close()
            self._members[key] = _Member(parent.receive(_END_SECONDS, "forking"), parent, _connection(ours))
        return self._members[key]

    def _answer(self, member: _Member, task: Task, hung: bool) -> RankRun:
        rank = task.arguments["rank"]
        if not hung:
            try:
                (run,) = member.orders.recv()
                return run  # type: ignore[no-any-return]  # what `member.perform` gave
            except (EOFError, ConnectionError):
                pass
        key = next(key for key, value in self._members.items() if value is member)
        if hung:
            self._end(key, 0.0)  # it had its time
            return RankRun(rank, (), Failure("hung", "step", f"no answer within {self.patience:g} s"))
        return RankRun(rank, (), Failure("died", "step", f"the process ended with {self._end(key)}"))

    def _end(self, key: tuple[int, int], *grace: float) -> str:
        member = self._members.pop(key)
        member.orders.close()
        member.zygote.control.send(("end", member.pid, *grace))
        return str(member.zygote.receive(_END_SECONDS, "ending a process"))


def _pair() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def _connection(ours: socket.socket) -> Connection:
    connection = Connection(ours.detach())
    _our_ends.add(connection)
    return connection
