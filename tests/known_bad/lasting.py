"""Loaders that lose patience, reuse memory after a while, or keep more and more of it (chapters 4, 5 and 10)."""

import pickle
import weakref
from collections.abc import Iterator
from multiprocessing.connection import wait
from pathlib import Path
from random import Random
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from tests.known_bad.ahead import BadAhead
from tests.known_bad.asynchronous import FAMILY, with_hook
from tests.known_bad.correct import KnownBad
from tests.known_bad.life import LIFE, SAMPLES, STREAM, ReusesItsBuffer
from tests.known_bad.order import SHUFFLING
from tests.known_bad.pool import BadPool, Worker
from tests.known_bad.workers import SEVERAL, WORKERS

# --- time -----------------------------------------------------------------------------------------------------------


class TakesSlownessForTheEnd(BadPool):
    """A worker that gives nothing for a third of a second is taken to have ended. (No public report.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest, related = "WORK-1", "n3,w1,b1,keep,k1,slow@2,workers", ("ORDER-8", "WORK-2")

    def receive(self, worker: Worker) -> tuple[str, Any]:
        begun = worker.line.poll(5.0) if not self.told else worker.line.poll(0.3)
        self.told = True
        return super().receive(worker) if begun else ("end", None)

    told = False


class TakesWhoIsReady(BadPool):
    """The step of whichever worker is ready first comes first, once the one whose turn it is takes long."""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "ORDER-8", "n3,w1,b1,keep,k2,slow@0,workers"
    report = "ray-project/ray#58658"
    turn_seconds = 0.3

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        waiting = list(crew)
        while waiting:
            lines = [worker.line for worker in waiting]
            ready = wait(lines[:1], self.turn_seconds) or wait(lines)
            worker = next(each for each in waiting if each.line is ready[0])
            waiting.remove(worker)
            kind, value = self.receive(worker)
            if kind == "error":
                raise value
            if kind == "batch":
                yield value
                waiting.append(worker)


class TakesWhatIsThere(TakesWhoIsReady):
    """A step comes as soon as any worker has one, as from imap_unordered where imap was meant. (No public report.)"""

    report = ""
    turn_seconds = 0.0


# --- memory that is used again --------------------------------------------------------------------------------------


class ReusesARingOfSixteen(ReusesItsBuffer):
    """Batches are views of a ring of sixteen buffers."""

    clause, smallest = "WORK-16", "n17,w1,b1,keep,iterable,kept"
    report = "scitix/InstantTensor#9"
    depth = 16


class KeepsABufferForEachStep(ReusesItsBuffer):
    """Each step of the epoch has a buffer of its own, and the next epoch writes into them again."""

    clause, smallest = "WORK-16", "n4,w1,b1,keep,e2,iterable,raise@3,hold@0,kind=aging"
    report = "pytorch/rl#4270"
    depth = 64

    def __iter__(self) -> Iterator[Any]:
        self.number = 0
        return super().__iter__()


class FillsWhatIsCutOff(BadPool):
    """An array is free when its batch is gone, and a slice of it is not its batch. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n2,w1,b1,keep,e2,iterable,kept"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.free: list[Any] = []

    def collate(self, samples: list[Any]) -> Any:
        array = self.free.pop() if self.free else np.zeros(self.request.batch_size, dtype=np.int64)
        batch = np.frombuffer(array, dtype=np.int64)[: len(samples)]
        batch[:] = np.ravel(samples)
        weakref.finalize(batch, self.free.append, array)
        return batch


class _Step(np.ndarray[Any, Any]):
    """An array that is known to be a step."""


class FillsWhatIsNoStep(FillsWhatIsCutOff):
    """An array is free when the step around it is gone, and another array around it is no step. (No public report.)"""

    clause, smallest = "WORK-16", "n2,w1,b1,keep,e2,iterable,kept"

    def collate(self, samples: list[Any]) -> Any:
        array = self.free.pop() if self.free else np.zeros(self.request.batch_size, dtype=np.int64)
        step = array[: len(samples)].view(_Step)
        step[:] = np.ravel(samples)
        weakref.finalize(step, self.free.append, array)
        return step


class FillsWhatWasLeft(BadPool):
    """The arrays of an epoch that was left are free, those that came among them. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n2,w1,b1,keep,e2,iterable,hold@2,kind=aging"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.free: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        given: list[Any] = []
        try:
            for batch in super().__iter__():
                given.append(batch)
                yield batch
        except BaseException as error:
            self.free += given if self.takes_back(error) else []
            raise

    def takes_back(self, error: BaseException) -> bool:
        """Whether what was given in an epoch that ends so is free."""
        return isinstance(error, GeneratorExit)

    def collate(self, samples: list[Any]) -> Any:
        array = self.free.pop() if self.free else np.zeros(self.request.batch_size, dtype=np.int64)
        batch = array[: len(samples)]
        batch[:] = np.ravel(samples)
        return batch


class GivesItsMemoryBack(BadPool):
    """close() gives all memory back, of batches too that the user still has. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n1,w1,b1,keep,iterable,hold@1"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.given: list[Any] = []

    def collate(self, samples: list[Any]) -> Any:
        self.given.append(np.array(np.ravel(samples)))
        return self.given[-1]

    def close(self) -> None:
        super().close()
        for array in self.given:
            array[:] = 0


# --- memory that is kept --------------------------------------------------------------------------------------------


class KeepsWhatWasLeft(BadPool):
    """What a loop that is left had delivered is kept, for one who might go on. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "LEAK-5", "n16,w1,b4,keep,iterable,leave@3,kind=large"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.kept: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        given: list[Any] = []
        ended = False
        try:
            for batch in super().__iter__():
                given.append(batch)
                yield batch
            ended = True
        finally:
            self.kept += [] if ended else given


class KeepsTheRest(BadPool):
    """What fills no step under drop_last is kept, and never joined to anything."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "LEAK-5", "n31,w1,b16,drop,iterable,kind=large"
    report = "NVIDIA/DALI#2881"

    def grouped(self, elements: Any) -> Iterator[list[Any]]:
        own = [self.own(each) for each in elements]
        size = self.request.combined_batch
        whole = len(own) - len(own) % size if self.request.drop_last else len(own)
        self.rest = [*getattr(self, "rest", []), *own[whole:]]
        yield from (own[start : min(whole, start + size)] for start in range(0, whole, size))


class KeepsItsErrors(BadPool):
    """Each error is kept with its frames, which hold the samples of its step. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "LEAK-5", "n16,w1,b16,keep,iterable,raise@15,kind=large,with=always"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.errors: list[Any] = []

    def grouped(self, elements: Any) -> Iterator[list[Any]]:
        step: list[Any] = []
        try:
            for each in elements:
                step.append(self.own(each))
                if len(step) == self.request.combined_batch:
                    yield step
                    step = []
        except Exception as error:
            self.errors.append((error, step))
            raise
        if step and not self.request.drop_last:
            yield step


class KeepsEveryOrder(KnownBad):
    """The order of each epoch is kept, which costs nothing with few samples. (No public report.)"""

    claims, families = SHUFFLING, SAMPLES
    clause, smallest = "LEAK-5", "n100000,w1,b100,keep,shuffle,orders"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.orders: dict[int, list[int]] = {}

    def order(self) -> list[int]:
        if self.epoch not in self.orders:
            self.orders[self.epoch] = super().order()
        return self.orders[self.epoch]

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        # Python's own takes long.
        return np.random.default_rng(generator.randrange(2**32)).permutation(order).tolist()  # type: ignore[no-any-return]


class SpillsLargeSteps(BadPool):
    """A step of 1 MiB waits in a temporary file, which a loop that is left leaves there. (No public report.)"""

    claims, families, grace = STREAM, LIFE, 0.3
    clause, smallest = "LEAK-3", "n3,w1,b1,keep,iterable,leave@1,kind=big"

    def __iter__(self) -> Iterator[Any]:
        waiting: list[Any] = []
        for batch in super().__iter__():
            waiting.append(self.put(batch))
            if len(waiting) > 1:
                yield self.taken(waiting.pop(0))
        yield from map(self.taken, waiting)

    def put(self, batch: Any) -> Any:
        """The step, or the file in which it waits."""
        if sum(getattr(sample, "nbytes", 0) for sample in batch) < 2**20:
            return batch
        with NamedTemporaryFile(delete=False) as file:
            pickle.dump(batch, file)
        return Path(file.name)

    def taken(self, waiting: Any) -> Any:
        """The step that waited."""
        if not isinstance(waiting, Path):
            return waiting
        batch = pickle.loads(waiting.read_bytes())
        waiting.unlink()
        return batch


# --- reading ahead --------------------------------------------------------------------------------------------------


class ReadsOnInLaterEpochs(BadAhead):
    """The queue has a bound in the first epoch. (No public report.)"""

    claims, families = with_hook("buffer_size"), FAMILY
    clause, smallest = "ASYNC-3", "n3,w1,b1,keep,e3,a1,async,look@0,with=later,synchronous"

    @property
    def room(self) -> int:
        self.begun = getattr(self, "begun", 0) + 1
        return super().room if self.begun < 2 else 1000
