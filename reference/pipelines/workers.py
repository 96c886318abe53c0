"""Decides what a worker of a pipeline does: it runs its copy of the graph, and sends chunks of what comes out.

Its part of the elements is set in the worker, then the user's initialiser may change the graph. What a dispatcher runs
stands in the graph as `Dispatched`, which reads from the line to it.
"""

import pickle
import threading
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from torch.utils.data import IterDataPipe
from torch.utils.data._utils import worker as torch_worker

from ..loading.faults import Failure
from ..loading.worker import seed_generators
from .beginning import begun, checked
from .graph import Pipe, adopt_shares, check_sharding, shard, walk
from .messages import Begin, Job, More, WorkerInfo, close, fill, leave, packed, parent, raising, settle
from .seeds import LATE, Found, Scope, SeedGenerator, found_in_worker, number_pipes, renumber_pipes


def initialised(pipe: Pipe, info: WorkerInfo, init: Callable[..., Any] | None) -> Pipe:
    """The graph as the user's initialiser returns it; `shard` must be called before it, and again after it."""
    if init is None:
        return pipe
    pipe = checked(init(pipe, info), f"The initialiser of worker {info.worker_id}")
    # PIPE-18: what the initialiser has added may stand after a filter.
    check_sharding(pipe)
    adopt_shares(pipe, info.num_workers, info.worker_id)
    number_pipes(pipe, LATE)
    return pipe


class Inbox:
    """The worker's end of the line to the dispatcher, which a thread always reads.

    So a dispatcher never stands before a full line, and a pipe may wait for elements in a thread (`prefetch`).
    """

    def __init__(self, line: Connection) -> None:
        self.line = line
        self.number = -1
        self.chunks: deque[Any] = deque()
        self.told = threading.Condition()
        threading.Thread(target=self._read, name="inbox", daemon=True).start()

    def begin(self, number: int) -> None:
        """Ask for the first chunk of an epoch; what comes of an earlier one is dropped, and nobody waits for it."""
        with self.told:
            self.number = number
            self.chunks.clear()
            self._ask()
            self.told.notify_all()

    def _ask(self) -> None:
        try:
            self.line.send(More(self.number))
        except OSError:
            # PIPE-15
            error = RuntimeError("The dispatching process has ended: see what it printed, and whether memory ran out.")
            self.chunks.append((self.number, [], True, Failure(error, "before the dispatch")))

    def _read(self) -> None:
        while True:
            try:
                chunk = pickle.loads(self.line.recv_bytes())
            except (EOFError, OSError):
                with self.told:
                    self.line.close()
                    self._ask()
                    self.told.notify_all()
                return
            with self.told:
                if chunk[0] == self.number:
                    self.chunks.append(chunk)
                    # The next one is on its way while this one is used.
                    if not chunk[2]:
                        self._ask()
                    self.told.notify_all()

    def take(self, number: int) -> Any:
        """The next chunk of an epoch; an empty last one if the epoch is over."""
        with self.told:
            self.told.wait_for(lambda: self.chunks or self.number != number)
            return self.chunks.popleft() if self.number == number else (number, [], True, None)


class Dispatched(IterDataPipe[Any]):
    """Stands in a worker's graph for what the dispatcher runs."""

    dispatches = True

    def __init__(self) -> None:
        super().__init__()
        self.inbox: Inbox | None = None

    def __iter__(self) -> Iterator[Any]:
        assert self.inbox is not None
        number, is_over = self.inbox.number, False
        while not is_over:
            _, elements, is_over, failure = self.inbox.take(number)
            yield from elements
            if failure is not None:
                raise failure.error


def work(line: Connection, dispatcher: Connection | None, pipe: Pipe, noted: list[int], job: Job) -> None:
    """Be a worker until the main process hangs up."""
    settle([line, dispatcher])
    info = torch_worker.WorkerInfo(id=job.info.worker_id, num_workers=job.info.num_workers, seed=0, dataset=pipe)
    torch_worker._worker_info = info
    inbox = Inbox(dispatcher) if dispatcher is not None else None
    renumber_pipes(pipe, noted)
    worker = _Worker(line, inbox, job)
    try:
        worker.run(pipe)
    except (EOFError, OSError, SystemExit):
        # The main process has hung up; what it no longer reads is of no use.
        leave(worker.elements)


class _Worker:
    def __init__(self, line: Connection, inbox: Inbox | None, job: Job) -> None:
        self.line, self.inbox, self.job = line, inbox, job
        self.number = -1
        self.is_over = False
        self.failure: Failure | None = None
        self.elements: Iterator[Any] | None = None

    def run(self, pipe: Pipe) -> None:
        info = self.job.info
        try:
            shard(pipe, self.job.place, info.num_workers, info.worker_id)
            for each in walk(pipe):
                if isinstance(each, Dispatched):
                    each.inbox = self.inbox
            pipe = initialised(pipe, info, self.job.init)
            shard(pipe, self.job.place, info.num_workers, info.worker_id)
        except (Exception, SystemExit) as error:
            # PIPE-15
            self.failure = Failure(error, "by the worker initialiser")
        while (message := self._wait()) is not None:
            if isinstance(message, Begin):
                self._begin(message, pipe)
            # What was asked for before the end, or an error, was known has been answered by it.
            elif message.number == self.number and not self.is_over:
                self._send_chunk()

    def _wait(self) -> Any:
        return self.line.recv() if self.line in wait([self.line, parent()]) else None

    def _begin(self, message: Begin, pipe: Pipe) -> None:
        self.number, self.is_over = message.number, False
        if self.inbox is not None:
            # First, because what is closed next may wait for an element.
            self.inbox.begin(message.number)
        close(self.elements)
        self.elements = None
        seeds = message.seeds.at(self.job.info.worker_id)
        seed_generators(seeds.process_seed, self.job.place.rank * 2**16 + self.job.info.worker_id)
        try:
            if self.failure is None:
                self.elements = iter(self._begun(pipe, seeds, message))
        except (Exception, SystemExit) as error:
            self.elements = raising(Failure(error, "at the beginning of an epoch"))
        self.line.send_bytes(pickle.dumps((self.number,)))

    def _begun(self, pipe: Pipe, seeds: SeedGenerator, message: Begin) -> Pipe:
        info, reset = self.job.info, self.job.reset

        def find(end: Pipe) -> Found:
            return found_in_worker(end, Scope.WORKER, seeds.workers_share)

        changes = [message.change, (lambda end: reset(end, info, seeds)) if reset is not None else None]
        pipe = begun(pipe, seeds, changes, find)
        shard(pipe, self.job.place, info.num_workers, info.worker_id)
        return pipe

    def _send_chunk(self) -> None:
        chunk: list[Any] = []
        self.is_over, failure = True, self.failure
        if failure is None:
            assert self.elements is not None
            self.is_over, failure = fill(chunk, self.elements, self.job.chunk)
        self.line.send_bytes(packed(self.number, chunk, self.is_over, failure))
