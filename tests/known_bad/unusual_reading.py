"""Correct loaders of unusual kinds, chapters 4, 5 and 10: who reads the samples, and where they lie."""

import asyncio
import mmap
import pickle
import queue
import random
import sqlite3
import threading
import weakref
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import closing, suppress
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from tests.known_bad.correct import Correct, claim, mix
from tests.known_bad.pool import POOL, Pool, Worker, sendable
from tests.known_bad.unusual_starting import end_with_reader

TROUBLE = ("life", "samples", "killed")
READING: dict[str, Any] = dict(when_dropping="drop", when_keeping="uneven")
WORKING: dict[str, Any] = dict(READING, workers=True)


# --- who reads ------------------------------------------------------------------------------------------------------


class InThreads(Correct):
    """What is called a worker is a thread of an executor, and each epoch has one of its own."""

    claims: ClassVar[dict[str, Any]] = WORKING
    families: ClassVar[tuple[str, ...]] = (*TROUBLE, "workers")

    def executor(self) -> Executor:
        """Who reads."""
        return ThreadPoolExecutor(max(1, self.request.num_workers))

    def order_for(self, executor: Executor, step: list[int]) -> "Future[Any]":
        """Have a step read."""
        return executor.submit(self.fetch, step)

    def result(self, going: "Future[Any]") -> Any:
        """A step that was read."""
        return going.result()

    def __iter__(self) -> Iterator[Any]:
        executor, going = self.executor(), deque[Any]()
        try:
            for step in self.steps():
                going.append(self.order_for(executor, step))
                if len(going) > self.request.num_workers:
                    yield self.result(going.popleft())
            while going:
                yield self.result(going.popleft())
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


def seeded_and_fetched(step: list[int]) -> bytes:
    """In a process of an executor: a step, pickled here, since torch would share its memory with the rank."""
    loader: InProcesses = _loaders[-1]
    seed = mix(loader.request.seed, loader.epoch, loader.request.rank, *step)
    random.seed(seed)
    np.random.seed(seed % 2**32)
    torch.default_generator.manual_seed(seed)
    try:
        return pickle.dumps(loader.fetch(step))
    except Exception as error:
        # An executor breaks by what it can't make anew.
        return pickle.dumps(sendable(error))


_loaders: list[Any] = []


def _begin(loader: "InProcesses") -> None:
    """Make a process of an executor know the loader, and end with its reader (LEAK-6): it can write to itself."""
    end_with_reader()
    _loaders.append(loader)


class InProcesses(InThreads):
    """Steps are read by whichever process of an executor is free, and draws depend on the step, not on the process."""

    def executor(self) -> Executor:
        """Processes that know the loader, or a thread where there is to be none."""
        if not self.request.num_workers:
            return super().executor()
        return ProcessPoolExecutor(self.request.num_workers, get_context("fork"), _begin, (self,))

    def order_for(self, executor: Executor, step: list[int]) -> "Future[Any]":
        """Have a step read."""
        if isinstance(executor, ThreadPoolExecutor):
            return super().order_for(executor, step)
        return executor.submit(seeded_and_fetched, step)

    def result(self, going: "Future[Any]") -> Any:
        """A step that was read."""
        found = going.result()
        found = pickle.loads(found) if isinstance(found, bytes) else found
        if isinstance(found, Exception):
            raise found
        return found


class WatchesItsProcesses(Pool):
    """Its workers are processes of multiprocessing, whose ends are waited for beside what they send."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, datasets=("map",), iterable_workers=None)
    families: ClassVar[tuple[str, ...]] = (*TROUBLE, "workers")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.processes: dict[int, BaseProcess] = {}

    def start(self, plan: list[list[int]], number: int, crew: list[Worker]) -> Worker:
        """Start a worker."""
        ours, theirs = Pipe(duplex=False)
        others = [ours, *(other.line for other in crew)]
        process = get_context("fork").Process(target=self.labour, args=(plan, number, theirs, others), daemon=True)
        process.start()
        theirs.close()
        assert process.pid is not None
        self.processes[process.pid] = process
        return Worker(number, process.pid, ours)

    def labour(self, plan: list[list[int]], number: int, line: Connection, others: list[Connection]) -> None:
        """In the worker: let go of the lines of others, and work."""
        for each in others:
            each.close()
        self.work(plan, number, line)

    def receive(self, worker: Worker) -> tuple[str, Any]:
        """The next word of a worker, or that it has ended."""
        ready = wait([worker.line, self.processes[worker.process].sentinel], self.request.timeout or None)
        if ready and not worker.line.poll(0):
            return "error", RuntimeError(f"worker {worker.number} has ended")
        return super().receive(worker)

    def end(self, crew: list[Worker]) -> None:
        """End a crew."""
        while crew:
            worker = crew.pop()
            worker.line.close()
            process = self.processes.pop(worker.process)
            process.kill()
            process.join()
            process.close()


class InAsyncio(Correct):
    """The samples of a step are gathered by coroutines, in a loop that lives as long as the iterator."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    async def one(self, index: int) -> Any:
        """A sample."""
        await asyncio.sleep(0)
        return self.own(self.request.dataset[index])

    async def gathered(self, step: list[int]) -> list[Any]:
        """The samples of a step."""
        return list(await asyncio.gather(*map(self.one, step)))

    def __iter__(self) -> Iterator[Any]:
        with closing(asyncio.new_event_loop()) as loop:
            for step in self.steps():
                yield loop.run_until_complete(self.gathered(step))


class ThroughAQueue(Correct):
    """A thread puts steps, and whatever goes wrong, into a queue of two."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __iter__(self) -> Iterator[Any]:
        line: queue.Queue[Any] = queue.Queue(2)
        over = threading.Event()
        thread = threading.Thread(target=self.fill, args=(line, over), daemon=True)
        thread.start()
        try:
            while (word := line.get())[0] != "end":
                if word[0] == "error":
                    raise word[1]
                yield word[1]
        finally:
            over.set()
            with suppress(queue.Empty):
                while True:
                    line.get_nowait()
            thread.join()

    def fill(self, line: "queue.Queue[Any]", over: threading.Event) -> None:
        """In the thread: one step after the other, while anybody wants them."""
        try:
            for step in self.steps():
                line.put(("step", self.fetch(step)))
                if over.is_set():
                    return
            line.put(("end", None))
        except BaseException as error:
            line.put(("error", error))


class KeepsItsThreads(InThreads):
    """One executor serves all epochs; it ends with the loader, or when that is terminated."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.threads = ThreadPoolExecutor(2)
        self.terminate = weakref.finalize(self, self.threads.shutdown)

    def __iter__(self) -> Iterator[Any]:
        going = [self.threads.submit(self.fetch, step) for step in self.steps()]
        try:
            while going:
                yield going.pop(0).result()
        finally:
            for each in going:
                each.cancel()


class ReadsAnEpochFirst(Correct):
    """A whole epoch is read before its iterator is given out."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __iter__(self) -> Iterator[Any]:
        return iter([self.fetch(step) for step in self.steps()])


class KeepsAllInMemory(Correct):
    """All samples are read when the loader is made, of a dataset of either kind."""

    claims: ClassVar[dict[str, Any]] = dict(READING, datasets=("map", "iterable"))
    families: ClassVar[tuple[str, ...]] = (*TROUBLE, "iterable")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        is_map = hasattr(request.dataset, "__getitem__") and not isinstance(
            request.dataset, torch.utils.data.IterableDataset
        )
        found = (request.dataset[at] for at in range(len(request.dataset))) if is_map else request.dataset
        self.samples = [self.own(sample) for sample in found]

    def order(self) -> list[int]:
        """The samples as they came."""
        return list(range(len(self.samples)))

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step."""
        return [self.samples[index] for index in step]


# --- where they lie -------------------------------------------------------------------------------------------------


class MapsItsFile(Correct):
    """The samples are pickled into one file of the folder, which is mapped into memory and never read whole."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        path = Path(request.workdir, "samples")
        if not path.exists():
            self.write(path)
        with path.open("rb") as file:
            self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.places = pickle.loads(path.with_suffix(".places").read_bytes())

    def write(self, path: Path) -> None:
        """Write the samples, and the places at which they begin and end."""
        data, places = b"samples", []
        for index in range(len(self.request.dataset)):
            sample = pickle.dumps(self.request.dataset[index])
            places.append((len(data), len(data) + len(sample)))
            data += sample
        path.with_suffix(".places").write_bytes(pickle.dumps(places))
        path.with_suffix(".unfinished").write_bytes(data)
        path.with_suffix(".unfinished").replace(path)

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step."""
        return [pickle.loads(self.map[slice(*self.places[index])]) for index in step]

    def close(self) -> None:
        """Let go of the file."""
        self.map.close()


class InADatabase(Correct):
    """The samples lie in a database in the folder, to which each epoch has a connection."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        with closing(self.connected()) as database, database:
            database.execute("create table if not exists samples (number integer primary key, sample blob)")
            if not database.execute("select count(*) from samples").fetchone()[0]:
                for index in range(len(request.dataset)):
                    row = (index, pickle.dumps(request.dataset[index]))
                    database.execute("insert into samples values (?, ?)", row)

    def connected(self) -> sqlite3.Connection:
        """A connection."""
        return sqlite3.connect(Path(self.request.workdir, "samples.db"))

    def __iter__(self) -> Iterator[Any]:
        with closing(self.connected()) as database:
            for step in self.steps():
                yield [self.found(database, index) for index in step]

    def found(self, database: sqlite3.Connection, index: int) -> Any:
        """A sample."""
        rows = database.execute("select sample from samples where number = ?", (index,))
        return pickle.loads(rows.fetchone()[0])


class CachesAFew(Correct):
    """The four samples that were read last are kept, and copied when they are wanted again."""

    claims: ClassVar[dict[str, Any]] = dict(READING, shuffle="global")
    families: ClassVar[tuple[str, ...]] = TROUBLE

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.cache: dict[int, Any] = {}

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step, the cached ones too."""
        return [self.own(self.cached(index)) for index in step]

    def cached(self, index: int) -> Any:
        """A sample, which is the newest in the cache then."""
        sample = self.cache.pop(index) if index in self.cache else self.own(self.request.dataset[index])
        self.cache[index] = sample
        if len(self.cache) > 4:
            del self.cache[next(iter(self.cache))]
        return sample


# --- what goes wrong ------------------------------------------------------------------------------------------------


class AddsToTheText(Correct):
    """An error of the dataset gets text before and behind its own."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = ("life",)

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step."""
        try:
            return super().fetch(step)  # type: ignore[no-any-return]
        except Exception as error:
            told = f"In rank {self.request.rank}:\n  {type(error).__name__}: {error}\nwhile the step {step} was read"
            raise self.like(error, told) from error

    def like(self, error: Exception, told: str) -> Exception:
        """An error of the same class, if it can be made of a text (ERROR-1)."""
        try:
            return type(error)(told)
        except TypeError:
            return RuntimeError(told)


class NotesTheStep(Correct):
    """An error of the dataset gets a note, and goes on as it is."""

    claims: ClassVar[dict[str, Any]] = READING
    families: ClassVar[tuple[str, ...]] = ("life",)

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step."""
        try:
            return super().fetch(step)  # type: ignore[no-any-return]
        except Exception as error:
            error.add_note(f"while the step {step} was read")
            raise


# --- ahead ----------------------------------------------------------------------------------------------------------


class AheadInAnExecutor(Correct):
    """Asynchronously, the next steps are futures of an executor with one thread."""

    claims: ClassVar[dict[str, Any]] = dict(READING, asynchronous=True, hooks=("buffer_size",), shuffle="global")
    families: ClassVar[tuple[str, ...]] = ("async", "life")

    def __iter__(self) -> Iterator[Any]:
        return self.ahead() if self.request.asynchronous else super().__iter__()

    def ahead(self) -> Iterator[Any]:
        """The steps of an epoch, of which the next ones are read while the consumer holds one."""
        executor, going = ThreadPoolExecutor(1), deque[Any]()
        room = self.request.buffer_size or 2
        try:
            for step in self.steps():
                going.append(executor.submit(self.fetch, step))
                if len(going) > room:
                    yield going.popleft().result()
            while going:
                yield going.popleft().result()
        finally:
            executor.shutdown(wait=True, cancel_futures=True)


class AheadInALoop(Correct):
    """Asynchronously, a coroutine in the loop of a thread fills a queue."""

    claims: ClassVar[dict[str, Any]] = dict(READING, asynchronous=True)
    families: ClassVar[tuple[str, ...]] = ("async",)

    def __iter__(self) -> Iterator[Any]:
        return self.ahead() if self.request.asynchronous else super().__iter__()

    def ahead(self) -> Iterator[Any]:
        """The steps of an epoch, as the coroutine hands them over."""
        with closing(asyncio.new_event_loop()) as loop:
            thread = threading.Thread(target=loop.run_forever, daemon=True)
            thread.start()
            try:
                line: asyncio.Queue[Any] = asyncio.Queue(2)
                filling = asyncio.run_coroutine_threadsafe(self.fill(line), loop)
                while (word := asyncio.run_coroutine_threadsafe(line.get(), loop).result())[0] != "end":
                    if word[0] == "error":
                        raise word[1]
                    yield word[1]
            finally:
                filling.cancel()
                loop.call_soon_threadsafe(loop.stop)
                thread.join()

    async def fill(self, line: "asyncio.Queue[Any]") -> None:
        """One step after the other."""
        try:
            for step in self.steps():
                await line.put(("step", self.fetch(step)))
            await line.put(("end", None))
        except Exception as error:
            await line.put(("error", error))


UNUSUAL_READING: tuple[type[Any], ...] = (
    InThreads,
    InProcesses,
    WatchesItsProcesses,
    InAsyncio,
    ThroughAQueue,
    KeepsItsThreads,
    ReadsAnEpochFirst,
    KeepsAllInMemory,
    MapsItsFile,
    InADatabase,
    CachesAFew,
    AddsToTheText,
    NotesTheStep,
    AheadInAnExecutor,
    AheadInALoop,
)
