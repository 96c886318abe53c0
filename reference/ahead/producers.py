"""Decides how the producer processes of a ring are started, spoken to, and ended.

Each has a line of its own (`line.py`). The consumer waits on all lines at once and sleeps meanwhile
(no spinning). Hanging up ends: a producer whose line is closed goes, and one that is busy and does not hear it is
ended by a signal.
"""

import atexit
import os
import threading
import weakref
from collections.abc import Sequence
from multiprocessing.connection import wait
from multiprocessing.util import Finalize
from time import monotonic, sleep
from typing import Any

import torch.multiprocessing as multiprocessing

from ..enums import SharingStrategy
from ..loading.faults import death
from . import fork_server, shared_memory
from .interrupts import interrupts_held
from .layout import Layout, parsers
from .line import NOTHING, Line, pair, ready
from .parcel import Parcel
from .producing import Memory, Supply, produce

_LOOK_AGAIN = 0.5  # seconds of silence after which it is asked whether the producers are alive
_LAST_ITEM = 1.0  # seconds that a producer may take over the item at hand once it is told to end
_LAST_WORDS = 5.0  # seconds in which a producer ends what it has started itself
_HURRY = 0.1  # seconds after which ending looks whether it was interrupted

# A fork copies the ends of all lines; a copy that stays open would hide that its owner has hung up.
_ends: "weakref.WeakSet[Line]" = weakref.WeakSet()
# Strong: a consumer that is interrupted while it ends its producers must not be the last to know of them.
_crews: "set[Producers]" = set()


class Producers:
    """The producers of one ring. RuntimeError from `receive` when one has ended by itself."""

    def __init__(self) -> None:
        """There is none yet: the code that starts them has made sure before that they will be ended."""
        self.owner = os.getpid()
        self.lines: list[Line] = []
        self.processes: list[Any] = []
        # ASYNC-8: a process of multiprocessing joins its children, before exit handlers and without saying a word.
        self.last = Finalize(None, _end_all, exitpriority=0)
        _crews.add(self)

    def start(self, supply: Supply, count: int, strategy: SharingStrategy) -> None:
        """Start this many; SharingStrategy says how each gets the supply. All or none: what fails ends those before."""
        parcel = Parcel(supply, as_file=strategy is SharingStrategy.FileSystem)
        try:
            # ASYNC-8: an interrupt in the middle would leave a process that nobody knows.
            if strategy is SharingStrategy.ForkServer:
                with interrupts_held():
                    fork_server.ensure_running()
            for number in range(count):
                with interrupts_held():
                    self._start(supply if strategy is SharingStrategy.Fork else parcel, number, strategy)
        except BaseException:
            self.end()
            raise
        finally:
            parcel.close()

    def _start(self, given: Any, number: int, strategy: SharingStrategy) -> None:
        method = {SharingStrategy.Fork: "fork", SharingStrategy.ForkServer: "forkserver"}.get(strategy, "spawn")
        context: Any = multiprocessing.get_context(method)
        ours, theirs = pair()
        others = [ours, *_ends] if method == "fork" else []
        _ends.add(ours)
        self.lines.append(ours)
        try:
            is_of_main_thread = method == "forkserver" or threading.current_thread() is threading.main_thread()
            arguments = (theirs, given, number, others, {} if method == "fork" else parsers(), is_of_main_thread)
            process = context.Process(target=produce, args=arguments, name=f"producer-{number}")
            process.start()
            self.processes.append(process)
        finally:
            theirs.close()

    def send(self, number: int, message: Any) -> None:
        """Tell a producer something, now or when it has room for it. One that has ended is noticed by `receive`."""
        # ERROR-7: never waits, since who hangs does not empty its line, and the timeout is that of `receive`.
        self.lines[number].send(message)

    @property
    def is_behind(self) -> bool:
        """Whether something that was sent could not be written yet."""
        return any(line.unsent for line in self.lines)

    def share(self, layout: Layout, slots: int) -> Any:
        """Make the memory of the slots, and give it to all producers; return it as a tensor of uint8."""
        with interrupts_held():
            descriptor = shared_memory.create(slots * layout.slot_bytes)
            for line in self.lines:
                line.send(Memory(layout), os.dup(descriptor))
            return shared_memory.attach(descriptor)

    def receive(self, timeout: float = 0) -> Any:
        """Wait for the next message of any producer; `timeout` in seconds, 0 for none.

        Raises RuntimeError when a producer has ended, or when the time is over (ERROR-4, ERROR-7).
        """
        deadline = monotonic() + timeout
        while True:
            rest = deadline - monotonic() if timeout else _LAST_WORDS
            found = ready(self.lines, min(rest, _LOOK_AGAIN))
            for line, process in zip(self.lines, self.processes, strict=True):
                if line.fileno() not in found:
                    continue
                try:
                    message = line.receive()
                except EOFError:
                    # It hung up, and has ended or is about to; unless it has closed what it had open, and lives on.
                    self._join([process], min(max(rest, 0.0), _LAST_WORDS))
                    raise death(self._codes()) from None
                if message is not NOTHING:
                    return message
            if not found and (codes := self._codes()):
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
        """Hang up, and end every producer. May be called any number of times.

        An interrupt meanwhile ends them at once, and is raised when they have ended.
        """
        if self.owner != os.getpid():
            # A fork has copied the object, and not the processes.
            _crews.discard(self)
            return
        try:
            with interrupts_held() as interrupts:
                self._end(interrupts)
        except KeyboardInterrupt:
            # Perhaps before it was held.
            with interrupts_held() as interrupts:
                self._end([*interrupts, 0])
            raise

    def _end(self, interrupts: Sequence[int]) -> None:
        for line in self.lines:
            line.hang_up()
        self.lines = []
        self._join(self.processes, _LAST_ITEM, interrupts)
        for end in ("terminate", "kill"):
            for process in self.processes:
                if process.is_alive():
                    getattr(process, end)()
            self._join(self.processes, _LAST_WORDS, interrupts if end == "terminate" else ())
        for process in self.processes:
            # ASYNC-8, LEAK-1, LEAK-2
            if not process.is_alive():
                process.close()
        self.processes = []
        self.last.cancel()
        _crews.discard(self)

    def _join(self, processes: Sequence[Any], seconds: float, interrupts: Sequence[int] = ()) -> None:
        """Wait until they have ended, or the time is over, or there was an interrupt."""
        deadline = monotonic() + seconds
        # Asked for once in each round: one that ends between two questions would be waited for without end.
        while not interrupts and (alive := [process.sentinel for process in processes if process.is_alive()]):
            rest = deadline - monotonic()
            if rest <= 0:
                return
            if wait(alive, min(rest, _HURRY)):
                # One that has closed what it had open looks as if it had ended, and may live on.
                sleep(0.001)


def _end_all() -> None:
    for crew in tuple(_crews):
        crew.end()


# Registered after multiprocessing's own, and so run before it: that waits for our processes forever.
atexit.register(_end_all)
