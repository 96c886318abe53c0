"""Where the processes of an implementation come from: decides how a zygote is started, asked and ended.

A zygote has imported the implementation; members are forked from it. It is an interpreter of its own, or a fork of this
one where the implementation only exists here.
"""

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any, Protocol

from conformance.contract import BY_NAME_ONLY, AdapterError, Claims, Implementation, parse_claims
from conformance.processes import huge_pages
from conformance.processes.origin import Origin, origin_of
from conformance.processes.resolve import from_object

HASH_SEEDS = ("1", "2")
START_SECONDS = 120.0  # importing a large framework on a busy machine
END_SECONDS = 10.0

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
    origin: Origin = field(default_factory=Origin)
    beyond: Mapping[str, str] = field(default_factory=dict)

    def ask(self, *order: Any) -> None:
        """Give an order. One that nobody reads any more shows at the answer."""
        with suppress(OSError):
            self.control.send(order)

    def receive(self, seconds: float, doing: str) -> Any:
        """The next answer. AdapterError if none comes in time, or the zygote ended."""
        try:
            if self.control.poll(seconds):
                return self.control.recv()
        except (EOFError, OSError):
            raise AdapterError(
                f"the implementation's process{self._how_it_ended()} while {doing}; see what its import does, whether "
                "the loader ends its parent process, and whether the machine ran out of memory"
            ) from None
        raise AdapterError(
            f"the implementation's process gave no answer within {seconds:g} s while {doing}; see what its import does"
        )

    def _how_it_ended(self) -> str:
        """`` ended``, or `` was killed by SIGKILL``."""
        if isinstance(self.process, int):
            return " ended"
        try:
            code = self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            return " ended"
        return f" was killed by {signal.Signals(-code).name}" if code < 0 else " ended"

    def expect_ready(self) -> None:
        """Wait until the implementation is imported. AdapterError if it can't be."""
        kind, *rest = self.receive(START_SECONDS, "importing it")
        if kind == "error":
            raise AdapterError(rest[0])
        self.claims, self.known_failures, self.origin, self.beyond = rest

    def close(self) -> None:
        """Hang up, and wait until the zygote has ended its members and itself."""
        self.control.close()
        if isinstance(self.process, int):
            os.waitpid(self.process, 0)
            return
        try:
            self.process.wait(END_SECONDS)
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
        ours, theirs = pair()
        elsewhere = hash_seed != HASH_SEEDS[0]
        settings = json.dumps({"implementation": self.implementation, "workdir": workdir, "elsewhere": elsewhere})
        # Our import path, so that the same packages are found; then the folder the person stands in.
        path = [*sys.path, os.getcwd()]
        program = f"import sys; sys.path[:] = {path!r}; from conformance.processes.zygote import main; main()"
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
        return Zygote(connection(ours), process)


@dataclass(frozen=True)
class ForkedSource:
    """Zygotes that are forks of this process, for an implementation that only exists here (a REPL, a test)."""

    implementation: Implementation
    hash_seeds: Sequence[str] = ("",)

    def start(self, hash_seed: str, workdir: str) -> Zygote:
        """Fork one; it has this process's hash seed."""
        from conformance.processes import zygote

        # Here, and not in each fork: the second time, next to nothing is left to do.
        huge_pages.gather()
        loaded = self.implementation, origin_of(self.implementation.home, self.implementation.shape)
        ours, theirs = pair()
        # What is here already is no garbage of the zygote's: looking through it all would copy it, page by page.
        gc.freeze()
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                ours.close()
                for end in list(_our_ends):
                    end.close()
                os.setsid()
                forget_exit_handlers()
                zygote.serve(Connection(theirs.detach()), lambda: loaded, workdir)
                code = 0
            finally:
                zygote.leave(workdir)
                os._exit(code)
        gc.unfreeze()
        theirs.close()
        return Zygote(connection(ours), pid)


def source_of(implementation: Any, claims: Mapping[str, Any] | None = None) -> tuple[Source, str]:
    """Where the processes for an implementation come from, and its name in reports."""
    if isinstance(implementation, str):
        if claims is not None:
            raise AdapterError("claims go into the adapter when the implementation is given by name; put them there")
        return SpawnedSource(implementation), implementation
    name = getattr(implementation, "__name__", type(implementation).__name__)
    found = from_object(name, implementation)
    if claims is not None:
        found = replace(found, claims=parse_claims(claims))
    for claim in BY_NAME_ONLY:
        if getattr(found.claims, claim):
            raise AdapterError(
                f"{name} claims {claim}, but is given as an object, which instances of a job can't import; give the "
                "name of its module, module:attribute, or its file"
            )
    return ForkedSource(found), name


def pair() -> tuple[socket.socket, socket.socket]:
    """Two ends of a line: ours, and the one that the other process takes."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)


def connection(ours: socket.socket) -> Connection:
    """Our end, which a forked zygote will close."""
    made = Connection(ours.detach())
    _our_ends.add(made)
    return made


def forget_exit_handlers() -> None:
    """Release the handlers of a process that was forked from a person's own: they are not this one's to run."""
    import weakref
    from multiprocessing import util

    atexit._clear()
    atexit.register(util._exit_function)  # type: ignore[attr-defined]
    # It registers a handler of its own with the first finalizer that is made from here on.
    for name, value in (("_registry", {}), ("_registered_with_atexit", False)):
        setattr(weakref.finalize, name, value)
