"""Decides how the producer processes of a ring are started, spoken to, and ended.

Each has a line of its own, a pair of connected sockets. The consumer waits on all lines at once and sleeps meanwhile
(no spinning). Who hangs up ends: a producer whose line is closed goes, and one that is busy and does not hear it is
ended by a signal.
"""

import atexit
import os
import pickle
import signal
import tempfile
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.util import Finalize
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import torch.multiprocessing as multiprocessing

from ..enums import SharingStrategy
from ..loading.faults import death
from . import fork_server, shared_memory
from .layout import Layout, parsers
from .lines import Line, wait_for
from .producing import Memory, Stop, Supply, produce

_LOOK_AGAIN = 0.5  # seconds of silence after which it is asked whether the producers are alive
_LAST_ITEM = 1.0  # seconds that a producer may take over the item at hand once it is told to end
_LAST_WORDS = 5.0  # seconds in which a producer ends what it has started itself

# A fork copies the ends of all lines; a copy that stays open would hide that its owner has hung up.
_ends: "weakref.WeakSet[Connection]" = weakref.WeakSet()
_crews: "weakref.WeakSet[Producers]" = weakref.WeakSet()


class Producers:
    """The producers of one ring, running. RuntimeError from `receive` when one has ended by itself."""

    def __init__(self, supply: Supply, count: int, strategy: SharingStrategy) -> None:
        """Start them; SharingStrategy says how each gets the supply."""
        self.owner = os.getpid()
        self.lines: list[Line] = []
        self.processes: list[Any] = []
        self.filed: list[_Filed] = []
        _crews.add(self)
        # ASYNC-8: a process of multiprocessing joins its children, before exit handlers and without saying a word.
        self.last = Finalize(None, _end_all, exitpriority=0)
        if strategy is SharingStrategy.ForkServer:
            fork_server.ensure_running()
        try:
            for number in range(count):
                with _uninterrupted():
                    self._start(supply, number, strategy)
        except BaseException:
            self.end()
            raise

    def _start(self, supply: Supply, number: int, strategy: SharingStrategy) -> None:
        method = {SharingStrategy.Fork: "fork", SharingStrategy.ForkServer: "forkserver"}.get(strategy, "spawn")
        context: Any = multiprocessing.get_context(method)
        ours, theirs = context.Pipe()
        others = [ours, *_ends] if method == "fork" else []
        _ends.add(ours)
        self.lines.append(Line(ours))
        given: Any = supply
        if strategy is SharingStrategy.FileSystem:
            # Kept, because it is read only when the process has come up.
            given = _Filed(supply)
            self.filed.append(given)
        arguments = (theirs, given, number, others, {} if method == "fork" else parsers())
        process = context.Process(target=produce, args=arguments, name=f"producer-{number}")
        try:
            process.start()
            self.processes.append(process)
        finally:
            theirs.close()

    def send(self, number: int, message: Any) -> None:
        """Tell a producer something, without waiting. One that has ended is noticed by `receive`."""
        self.lines[number].send(message)

    def share(self, layout: Layout, slots: int) -> Any:
        """Make the memory of the slots, and give it to all producers; return it as a tensor of uint8."""
        descriptor = shared_memory.create(slots * layout.slot_bytes)
        for line in self.lines:
            line.send(Memory(layout))
            line.send_descriptor(descriptor)
        return shared_memory.attach(descriptor)

    def receive(self, timeout: float = 0) -> Any:
        """Wait for the next message of any producer; `timeout` in seconds, 0 for none.

        Raises RuntimeError when a producer has ended, or when the time is over (ERROR-4, ERROR-7).
        """
        deadline = monotonic() + timeout
        while True:
            rest = deadline - monotonic() if timeout else _LOOK_AGAIN
            ready = wait_for(self.lines, min(rest, _LOOK_AGAIN))
            if ready:
                try:
                    return self.lines[ready[0]].connection.recv()
                except (EOFError, OSError):
                    # It hung up, and has ended or is about to.
                    self._join(_LAST_WORDS, [self.processes[ready[0]]])
                    raise death(self._codes()) from None
            if codes := self._codes():
                raise death(codes)
            if timeout and monotonic() >= deadline:
                raise RuntimeError(
                    f"No worker has delivered anything for {timeout:g} s, the timeout of the loader: see where the "
                    f"dataset hangs, or give a longer timeout."
                )

    def _codes(self) -> list[int | None]:
        """The exit codes of the producers that have ended."""
        return [process.exitcode for process in self.processes if not process.is_alive()]

    def end(self) -> None:
        """Hang up, and end every producer. May be called any number of times."""
        if self.owner != os.getpid():
            return  # a fork has copied the object, and not the processes
        try:
            self._hang_up()
        except BaseException:
            # A second interrupt. One that hangs would keep this process from ending, too.
            for process in self.processes:
                process.kill()
            raise
        for process in self.processes:
            # ASYNC-8, LEAK-1, LEAK-2
            process.close()
        self.lines, self.processes, self.filed = [], [], []
        self.last.cancel()

    def _hang_up(self) -> None:
        for line in self.lines:
            if not line.connection.closed:
                line.send(Stop())
                line.close()
        self._join(_LAST_ITEM, self.processes)
        for end in ("terminate", "kill"):
            for process in self.processes:
                if process.is_alive():
                    getattr(process, end)()
            self._join(_LAST_WORDS, self.processes)

    def _join(self, seconds: float, processes: list[Any]) -> None:
        deadline = monotonic() + seconds
        # Asked for once in each round: one that ends between two questions would be waited for in vain.
        while alive := [process.sentinel for process in processes if process.is_alive()]:
            rest = deadline - monotonic()
            if rest <= 0 or not wait(alive, rest):
                return
            # A process that has closed all that it had open looks as if it had ended, and lives on.
            sleep(0.001)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let an interrupt wait until a process has been started, and is known: else nobody would end it."""
    before = signal.getsignal(signal.SIGINT)
    # Only the main thread is interrupted. A mask would not do: the signal would go to another thread, and so come.
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    came: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        if came:
            signal.raise_signal(signal.SIGINT)


class _Filed:
    """A supply that travels by a file (SharingStrategy.FileSystem), which is gone once it was read."""

    def __init__(self, supply: Supply) -> None:
        descriptor, self.path = tempfile.mkstemp(prefix="loader-", suffix=".pickle")
        weakref.finalize(self, Path(self.path).unlink, missing_ok=True)
        with os.fdopen(descriptor, "wb") as file:
            pickle.dump(supply, file)

    def __reduce__(self) -> Any:
        return _read_once, (self.path,)


def _read_once(path: str) -> Any:
    with open(path, "rb") as file:
        supply = pickle.load(file)
    Path(path).unlink(missing_ok=True)
    return supply


def _end_all() -> None:
    for crew in list(_crews):
        crew.end()


# Registered after multiprocessing's own, and so run before it: that waits for our processes for ever.
atexit.register(_end_all)
