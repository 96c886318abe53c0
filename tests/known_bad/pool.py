"""A correct loader with worker processes, in plain Python: decides what the bad ones of chapters 4 and 10 change.

Each epoch forks its workers. Worker w prepares steps w, w + W, ... (of an iterable dataset: its share of the elements)
and sends them through a pipe of its own, from which the rank takes them in turn. A full pipe makes its worker wait, so
nothing else bounds how far it reads ahead; a pipe that ends before its worker said so is a worker that died.
"""

import os
import pickle
import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from signal import SIGKILL
from typing import Any, ClassVar

import numpy as np
import torch
from torch.utils.data._utils import worker as torch_worker

from tests.known_bad.correct import FULL, Correct, KnownBad, claim, mix, what_can_be_read

HOOKS = ("collate_fn", "worker_init_fn", "timeout")
POOL = claim(FULL, workers=True, datasets=("map", "iterable"), iterable_workers="split", hooks=HOOKS)


@dataclass(frozen=True)
class Worker:
    """A worker process as the rank knows it."""

    number: int
    process: int
    line: Connection


def say(line: Connection, kind: str, value: Any = None) -> None:
    """Send one word; as plain bytes, since torch would have the reader fetch its tensors from a living worker."""
    line.send_bytes(pickle.dumps((kind, value)))


def sendable(error: Exception) -> Exception:
    """The error; what can't be made anew from its pickle, in words (ERROR-1)."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error


class Pool(Correct):
    """One rank's loader, with workers; its steps are methods too: `start`, `work`, `receive`, `end`."""

    claims: ClassVar[dict[str, Any]] = POOL
    both_ways = False  # whether a worker is told anything once it runs

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.crews: list[list[Worker]] = []

    def policy(self) -> str:
        """What becomes of the samples that do not divide evenly over the ranks."""
        return str(self.claims.get("when_dropping" if self.request.drop_last else "when_keeping", "uneven"))

    @property
    def streams(self) -> bool:
        """Whether the dataset is iterable-style."""
        return not hasattr(self.request.dataset, "__getitem__") or isinstance(
            self.request.dataset, torch.utils.data.IterableDataset
        )

    # --- what is read -----------------------------------------------------------------------------------------------

    def plan(self) -> list[list[int]]:
        """The steps that all workers share; an iterable dataset has none."""
        return [] if self.streams else self.steps()

    def batches(self, plan: list[list[int]], worker: int) -> Iterator[Any]:
        """What one worker delivers."""
        for samples in self.read_ahead(plan, worker):
            # A step may be empty where failing samples are skipped.
            if samples:
                yield self.collate(samples)

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        """The samples of each of a worker's steps."""
        if self.streams:
            return self.grouped(self.share(worker))
        # ERROR-3: not map(), which would end in silence where a sample raises StopIteration.
        return (self.fetch(step) for step in plan[worker :: self.workers])

    @property
    def workers(self) -> int:
        """How many read: the rank's own process counts where there is no worker."""
        return max(1, int(self.request.num_workers))

    def share(self, worker: int) -> Iterable[Any]:
        """A worker's own elements of an iterable dataset."""
        rank, ranks = self.request.rank, self.request.world_size
        # WORK-3
        return islice(self.request.dataset, rank + ranks * worker, None, ranks * self.workers)

    def grouped(self, elements: Iterable[Any]) -> Iterator[list[Any]]:
        """A worker's elements in steps of N."""
        own = map(self.own, elements)
        while step := list(islice(own, self.request.combined_batch)):
            if len(step) == self.request.combined_batch or not self.request.drop_last:
                yield step

    def collate(self, samples: list[Any]) -> Any:
        """A step, as the user's function makes it, or as a list."""
        return self.request.collate_fn(samples) if self.request.collate_fn else samples

    # --- a worker ---------------------------------------------------------------------------------------------------

    def start(self, plan: list[list[int]], number: int, crew: list[Worker]) -> Worker:
        """Fork a worker."""
        ours, theirs = Pipe(duplex=self.both_ways)
        process = os.fork()
        if process == 0:
            try:
                for line in (ours, *(other.line for other in crew)):
                    line.close()
                self.work(plan, number, theirs)
            finally:
                os._exit(0)
        # Else the end of a dead worker's pipe is never seen.
        theirs.close()
        return Worker(number, process, ours)

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        """Send every batch, then the end or what went wrong."""
        # The rank may have gone.
        with suppress(ConnectionError):
            try:
                self.prepare(number)
                for batch in self.batches(plan, number):
                    say(line, "batch", batch)
                say(line, "end")
            except Exception as error:
                self.tell(error, line)

    def tell(self, error: Exception, line: Connection) -> None:
        """Send what went wrong."""
        say(line, "error", sendable(error))

    def prepare(self, number: int) -> None:
        """Seed and inform a new worker, and call the user's initialiser."""
        self.seed(self.worker_seed(number))
        self.inform(number)
        if self.request.worker_init_fn:
            self.request.worker_init_fn(number)

    def worker_seed(self, number: int) -> int:
        """A number for each worker of each rank and epoch."""
        # WORK-8, WORK-9, WORK-10, WORK-11
        return mix(self.request.seed, self.epoch, self.request.rank, number)

    def seed(self, seed: int) -> None:
        """Seed all generators."""
        random.seed(seed)
        np.random.seed(seed % 2**32)
        torch.default_generator.manual_seed(seed)

    def inform(self, number: int) -> None:
        """Let torch's get_worker_info() know."""
        self.present(number, self.workers, self.worker_seed(number), self.request.dataset)

    def present(self, number: int, workers: int, seed: int, dataset: Any) -> None:
        """Set what get_worker_info() gives in this process."""
        info = torch_worker.WorkerInfo(id=number, num_workers=workers, seed=seed, dataset=dataset)
        torch_worker._worker_info = info

    # --- the rank ---------------------------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[Any]:
        plan, crew = self.plan(), list[Worker]()
        self.crews.append(crew)
        try:
            for number in range(self.request.num_workers):
                crew.append(self.start(plan, number, crew))
            if self.claims.get("epochs") == "automatic":
                self.epoch += 1
            yield from self.in_turn(crew) if self.request.num_workers else self.batches(plan, 0)
        finally:
            self.end(crew)

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        """A batch of each worker, again and again, until all have ended."""
        waiting = list(crew)
        while waiting:
            kind, value = self.receive(waiting[0])
            if kind == "error":
                raise value
            if kind == "batch":
                yield value
                waiting.append(waiting[0])
            del waiting[0]

    def receive(self, worker: Worker) -> tuple[str, Any]:
        """The next word of a worker; an error if it died or takes too long."""
        try:
            if worker.line.poll(self.request.timeout or None):
                return pickle.loads(worker.line.recv_bytes())  # type: ignore[no-any-return]
        except (EOFError, OSError) as error:
            return "error", RuntimeError(f"worker {worker.number} died ({error})")
        return "error", TimeoutError(f"worker {worker.number} gave nothing in {self.request.timeout} s")

    def end(self, crew: list[Worker]) -> None:
        """End a crew, whatever its workers are doing."""
        while crew:
            worker = crew.pop()
            worker.line.close()
            with suppress(ProcessLookupError):
                os.kill(worker.process, SIGKILL)
            os.waitpid(worker.process, 0)

    def close(self) -> None:
        """End all workers of all epochs."""
        for crew in self.crews:
            self.end(crew)


class BadPool(Pool, KnownBad):
    """A loader with workers and one fault."""


class Replicating(Pool):
    """Each worker of each rank reads a copy of an iterable dataset."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, iterable_workers="replicated")

    def share(self, worker: int) -> Iterable[Any]:
        """Everything."""
        return self.request.dataset  # type: ignore[no-any-return]


class Skipping(Pool):
    """Samples that fail are left out of their steps."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, datasets=("map",), iterable_workers=None, errors="skip")

    def fetch(self, step: list[int]) -> list[Any]:
        """The samples of a step that can be read."""
        return what_can_be_read(super().fetch, step)


class Aliasing(Pool):
    """Batches hold what the dataset gave; the claim says so."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, aliases=True, hooks=None, shuffle=None)

    def own(self, sample: Any) -> Any:
        """The sample itself."""
        return sample


class Refusing(Pool):
    """A second iterator is refused while the first is alive, and after an error everything is."""

    claims: ClassVar[dict[str, Any]] = claim(POOL, epochs="automatic", device_options=None, hooks=("timeout",))

    def __iter__(self) -> Iterator[Any]:
        if any(self.crews):
            raise RuntimeError("one iterator at a time")
        return super().__iter__()


def _of(base: type[Pool], name: str, **claims: Any) -> type[Pool]:
    return type(
        name,
        (base,),
        {"claims": claim(base.claims, **claims), "__doc__": f"{name}: correct.", "__module__": __name__},
    )


CORRECT_POOLS: tuple[type[Correct], ...] = (
    Pool,
    Replicating,
    Skipping,
    Aliasing,
    Refusing,
    _of(Pool, "IterableOnly", datasets=("iterable",), layout=None, shuffle=None, when_keeping=None),
    _of(Pool, "MapOnly", datasets=("map",), iterable_workers=None, hooks=None, layout="contiguous"),
    _of(Pool, "OutOfOrder", in_order=False, shuffle="buffered", device_options=None),
)
