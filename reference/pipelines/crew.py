"""Decides how the main process starts its workers, asks them for elements, merges what comes, and ends them.

Elements come in chunks, and are given out one by one: worker 0, 1, ..., W - 1, 0, ..., where a worker that has no more
is left out. So the order does not depend on who is quick. A worker may be as many chunks ahead as it was asked for.

While the main process waits it takes in whatever any process sends, and sees when one ends.
"""

import contextlib
import os
import pickle
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

import torch.multiprocessing as multiprocessing

from .dispatcher import dispatch
from .graph import Pipe, Place, dispatched_part, replace
from .messages import Begin, Job, More, WorkerInfo, ends, name_process
from .seeds import SeedGenerator, numbers
from .workers import Dispatched, work

_LAST_ELEMENT = 1.0  # seconds that a process may take over the element at hand once its line is closed
_LAST_WORDS = 5.0  # seconds in which a process ends after that


class _Lane:
    """One process, as the main process sees it."""

    def __init__(self, name: str, process: Any, line: Connection) -> None:
        self.name, self.process, self.line = name, process, line
        self.begun = -1
        self.is_gone = False
        self.forget()

    def forget(self) -> None:
        self.chunks: deque[deque[Any]] = deque()
        self.is_over = False
        self.failure: BaseException | None = None

    def send(self, message: Any) -> None:
        # A process that has ended is noticed when its line is read.
        with contextlib.suppress(OSError):
            self.line.send(message)

    def read(self, number: int) -> None:
        """Take a message in. What belongs to an earlier epoch is dropped."""
        try:
            data = self.line.recv_bytes()
        except (EOFError, OSError):
            self.lose()
            return
        message = pickle.loads(data)
        if len(message) == 1:
            self.begun = message[0]
        elif message[0] == number:
            _, elements, self.is_over, failure = message
            if elements:
                self.chunks.append(deque(elements))
            # PIPE-15
            self.failure = failure and name_process(failure.error, self.name.replace("Worker", "worker process"))

    def lose(self) -> None:
        """The process has ended by itself: an error after what it has sent."""
        self.is_gone = self.is_over = True
        self.process.join(_LAST_WORDS)
        # PIPE-15
        self.failure = RuntimeError(
            f"{self.name} ended within the epoch (exit code {self.process.exitcode}; a negative one is the signal "
            f"that killed it): see what it printed, and whether memory ran out; num_workers=0 runs the pipeline where "
            f"it can be debugged."
        )


class Crew:
    """The processes of one loader, running."""

    def __init__(
        self,
        part: Pipe,
        place: Place,
        workers: int,
        *,
        method: str | None,
        chunk: int,
        chunks: int,
        init: Callable[..., Any] | None,
        reset: Callable[..., Any] | None,
    ) -> None:
        """Start a process for each worker, and one for what stands before a dispatch, if there is one."""
        self.owner = os.getpid()
        self.context: Any = multiprocessing.get_context(method)
        self.number = -1
        self.chunks = chunks
        self.lanes: list[_Lane] = []
        self.workers: list[_Lane] = []
        self.opened: list[Connection] = []
        try:
            first, inner = self._start_dispatcher(part, place, workers, chunk)
            noted = numbers(first)
            for worker in range(workers):
                job = Job(place, WorkerInfo(workers, worker), chunk, init, reset)
                name = f"Worker {worker} of {workers}"
                self.workers.append(self._start(name, work, inner[worker], first, noted, job))
        except BaseException:
            self.end()
            raise
        finally:
            # The other ends live in the processes; the side that hangs up must be the last that holds one.
            for end in self.opened:
                end.close()

    def _start_dispatcher(self, part: Pipe, place: Place, workers: int, chunk: int) -> tuple[Pipe, list[Any]]:
        """Return what is left for each worker to run, and its line to the dispatcher, if there is one."""
        before = dispatched_part(part)
        if before is None:
            return part, [None] * workers
        pairs = [self._pair() for _ in range(workers)]
        job = Job(place, WorkerInfo(workers, -1), chunk, None, None)
        self._start("The dispatching process", dispatch, [theirs for theirs, _ in pairs], before, numbers(before), job)
        return replace(part, before, Dispatched()), [ours for _, ours in pairs]

    def _pair(self) -> tuple[Connection, Connection]:
        pair = self.context.Pipe()
        self.opened.extend(pair)
        ends.update(pair)
        return pair  # type: ignore[no-any-return]

    def _start(self, name: str, target: Callable[..., None], *arguments: Any) -> _Lane:
        ours, theirs = self._pair()
        self.opened.remove(ours)
        process = self.context.Process(target=target, args=(theirs, *arguments), name=name, daemon=True)
        lane = _Lane(name, process, ours)
        try:
            process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            ours.close()
            raise TypeError(
                f"The pipeline can't be sent to a process ({error}): give functions that are defined in a module "
                f"instead of lambdas, or the multiprocessing_context 'fork'."
            ) from error
        self.lanes.append(lane)
        return lane

    def begin(self, seeds: SeedGenerator, change: Callable[[Pipe], Any] | None = None) -> None:
        """Start an epoch in all processes; whatever is left of the one before is dropped.

        `change` changes the graph of each worker for this epoch. Raises TypeError if it can't be sent there.
        """
        _check_sendable(change)
        for lane in self.lanes:
            # At most one epoch is on its way, so a line is never full of them.
            while lane.begun < self.number and not lane.is_gone:
                self._listen()
        self.number += 1
        for lane in self.lanes:
            lane.forget()
            if lane.is_gone:
                lane.lose()
            lane.send(Begin(self.number, seeds, change))
        for lane in self.workers:
            for _ in range(self.chunks):
                lane.send(More(self.number))

    def elements(self) -> Iterator[Any]:
        """The elements of the epoch, merged."""
        number, lanes = self.number, list(self.workers)
        while lanes:
            # PIPE-7, PIPE-9, PIPE-13: strictly in turns; a worker that has no more is skipped from there.
            rest = []
            for lane in lanes:
                if self._has_one(lane):
                    yield self._take(lane, number)
                    rest.append(lane)
                elif lane.failure is not None:
                    raise lane.failure
            lanes = rest

    def _has_one(self, lane: _Lane) -> bool:
        while not lane.chunks:
            if lane.is_over:
                return False
            self._listen()
        return True

    def _take(self, lane: _Lane, number: int) -> Any:
        element = lane.chunks[0].popleft()
        if not lane.chunks[0]:
            lane.chunks.popleft()
            if not lane.is_over:
                lane.send(More(number))
        return element

    def _listen(self) -> None:
        """Wait until a process says something or ends, and take all of it in."""
        alive = [lane for lane in self.lanes if not lane.is_gone]
        ready = wait([lane.line for lane in alive] + [lane.process.sentinel for lane in alive])
        for lane in alive:
            if lane.line in ready:
                lane.read(self.number)
            elif lane.process.sentinel in ready and not lane.line.poll():
                lane.lose()

    def end(self) -> None:
        """Hang up, and end every process. May be called any number of times."""
        if self.owner != os.getpid():
            return  # a fork has copied the object, and not the processes
        lanes, self.lanes, self.workers = self.lanes, [], []
        for lane in lanes:
            lane.line.close()
        _join(lanes, _LAST_ELEMENT)
        for end in ("terminate", "kill"):
            for lane in lanes:
                if lane.process.is_alive():
                    getattr(lane.process, end)()
            _join(lanes, _LAST_WORDS)
        for lane in lanes:
            # PIPE-17
            lane.process.close()


def _join(lanes: list[_Lane], seconds: float) -> None:
    deadline = monotonic() + seconds
    # Asked for once in each round: one that ends between two questions would be waited for without end.
    while alive := [lane.process.sentinel for lane in lanes if lane.process.is_alive()]:
        if not wait(alive, max(0.0, deadline - monotonic())):
            return


def _check_sendable(change: Callable[[Pipe], Any] | None) -> None:
    try:
        pickle.dumps(change)
    except Exception as error:
        raise TypeError(
            f"What changes the graph for an epoch can't be sent to workers ({error}): let the service return a "
            f"function that is defined in a module, or join it behind MultiProcessingReadingService."
        ) from error
