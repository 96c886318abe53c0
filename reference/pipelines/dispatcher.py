"""Decides what the dispatching process does: it runs what stands before a dispatch, and shares out what comes of it.

Element j is worker j mod W's. A worker is sent what has gathered for it when it asks; while nothing has, more is read.
"""

import pickle
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from ..loading.faults import Failure
from ..loading.worker import seed_generators
from .graph import Pipe, shard
from .messages import Begin, Job, close, fill, leave, name_process, packed, parent, raising, settle
from .seeds import Scope, found_in_worker, renumber_pipes, seed_pipes

_DISPATCHER = 2**31  # stands for a worker's number where this process's generators are seeded


def dispatch(line: Connection, workers: list[Connection], pipe: Pipe, noted: list[int], job: Job) -> None:
    """Be the dispatcher until the main process hangs up."""
    settle([line, *workers])
    renumber_pipes(pipe, noted)
    dispatcher = _Dispatcher(line, workers, job)
    try:
        dispatcher.run(pipe)
    except (EOFError, OSError, SystemExit):
        leave(dispatcher.elements)


class _Dispatcher:
    def __init__(self, line: Connection, workers: list[Connection], job: Job) -> None:
        self.line, self.workers, self.job = line, workers, job
        self.number = -1
        self.asked = [-1] * len(workers)
        self._empty()

    def _empty(self) -> None:
        self.elements: Iterator[Any] | None = None
        # Not bounded: a worker that drops all it is given may be far ahead of the others.
        self.shares: list[deque[Any]] = [deque() for _ in self.workers]
        self.next = 0
        self.is_over = False
        self.failure: Failure | None = None

    def run(self, pipe: Pipe) -> None:
        # PIPE-10: this process is the only one of its rank.
        shard(pipe, self.job.place, 1, 0)
        while True:
            # A worker that is served has asked in this epoch, or in one that is over.
            waiting = [worker for worker, number in enumerate(self.asked) if 0 <= number <= self.number]
            if not self._read(None if not waiting else 0, pipe):
                return
            for worker in waiting:
                self._serve(worker)

    def _read(self, timeout: float | None, pipe: Pipe) -> bool:
        """Take in what has been said; return False when the main process is gone."""
        lines = [each for each in self.workers if not each.closed]
        for ready in wait([self.line, parent(), *lines], timeout):
            if ready is self.line:
                self._begin(self.line.recv(), pipe)
            elif ready == parent():
                return False
            else:
                worker = self.workers.index(ready)  # type: ignore[arg-type]
                try:
                    self.asked[worker] = self.workers[worker].recv().number
                except (EOFError, OSError):
                    self._forget(worker)
        return True

    def _forget(self, worker: int) -> None:
        """A worker has ended; the main process knows, and says what becomes of the others."""
        self.workers[worker].close()
        self.asked[worker] = -1

    def _begin(self, message: Begin, pipe: Pipe) -> None:
        close(self.elements)
        self._empty()
        self.number = message.number
        seeds = message.seeds
        seed_generators(seeds.process_seed, self.job.place.rank * 2**16 + _DISPATCHER)
        try:
            seed_pipes(found_in_worker(pipe, Scope.RANK, seeds.workers_share), seeds)
            self.elements = iter(pipe)
        except (Exception, SystemExit) as error:
            self.elements = raising(Failure(error, "at the beginning of an epoch"))
        self.line.send_bytes(pickle.dumps((self.number,)))

    def _serve(self, worker: int) -> None:
        number = self.asked[worker]
        if number < 0:
            return
        if number < self.number:
            # PIPE-14: a worker that still waits in an epoch that is over would wait forever.
            self._send(worker, packed(number, [], True, None))
            return
        share = self.shares[worker]
        if not share and not self.is_over:
            self._read_on()
        # With nothing to give yet, the worker stays among those who wait.
        if share or self.is_over:
            given = list(share)
            share.clear()
            self._send(worker, packed(number, given, self.is_over, self.failure))

    def _read_on(self) -> None:
        chunk: list[Any] = []
        assert self.elements is not None
        self.is_over, failure = fill(chunk, self.elements, self.job.chunk * len(self.workers))
        if failure is not None:
            failure.error.add_note("Raised in the dispatching process.")
            name_process(failure.error, "dispatching process")
            self.failure = failure
        for element in chunk:
            self.shares[self.next].append(element)
            self.next = (self.next + 1) % len(self.workers)

    def _send(self, worker: int, chunk: bytes) -> None:
        self.asked[worker] = -1
        try:
            self.workers[worker].send_bytes(chunk)
        except OSError:
            self._forget(worker)
