"""Loaders that hide what went wrong, and loaders that leave something behind (chapter 10)."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.known_bad.correct import SHORT, what_can_be_read
from tests.known_bad.life import LIFE, SAMPLES, STREAM
from tests.known_bad.pool import BadPool, Skipping, Worker

# Map-style and without workers; with workers; with workers and one hook.
MAP: dict[str, Any] = {}
POOLED = dict(datasets=("iterable",), workers=True, iterable_workers="split")

# --- errors of the dataset ------------------------------------------------------------------------------------------


class WrapsErrors(BadPool):
    """Whatever the dataset raises becomes a RuntimeError that quotes it."""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,iterable,raise@0"
    report = "pytorch/pytorch#34130"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except Exception as error:
            raise RuntimeError(f"loading failed: {error}") from error


class LosesTheText(BadPool):
    """An error keeps its type, and its text becomes the worker's number."""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,iterable,raise@0"
    report = "pytorch/pytorch#1137"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except Exception as error:
            raise type(error)("in worker 0") from None


class ContinuesAfterErrors(BadPool):
    """`except Exception: continue` goes around every read."""

    claims, families = MAP, LIFE
    clause, smallest, related = "ERROR-1", "n1,w1,b1,keep,raise@0", ("ERROR-3",)
    report = "kitzeslab/opensoundscape#1180"

    def fetch(self, step: list[int]) -> list[Any]:
        return what_can_be_read(super().fetch, step)


class RaisesOneStepTooEarly(BadPool):
    """A step is read before the one ahead of it is delivered, and its error takes that one along."""

    claims, families = MAP, LIFE
    clause, smallest = "ERROR-2", "n2,w1,b1,keep,raise@1"
    report = "OpenRLHF/OpenRLHF#1320"

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        ahead: list[list[Any]] = []
        for samples in super().read_ahead(plan, worker):
            yield from ahead
            ahead = [samples]
        yield from ahead


class RaisesOneStepTooLate(BadPool):
    """The samples of the failing step that could be read are delivered before the error."""

    claims, families = MAP, LIFE
    clause, smallest = "ERROR-2", "n2,w1,b2,keep,raise@0"
    report = "deepspeedai/DeepSpeed#326"

    def batches(self, plan: list[list[int]], worker: int) -> Iterator[Any]:
        for step in plan:
            try:
                samples = self.fetch(step)
            except Exception:
                yield from ([self.request.dataset[index]] for index in step[1:])
                raise
            yield self.collate(samples)


class FlushesItsMicroBatches(BadPool):
    """Of a step that fails the micro-batches that were whole are delivered before the error. (No public report.)"""

    claims, families = dict(MAP, device_options=True), LIFE
    clause, smallest = "ERROR-2", "n7,w1,b1,keep,p2,i2,raise@6"

    def batches(self, plan: list[list[int]], worker: int) -> Iterator[Any]:
        size = self.request.batch_size
        for step in plan:
            whole: list[Any] = []
            try:
                for start in range(0, len(step), size):
                    whole += self.fetch(step[start : start + size])
            except Exception:
                if whole:
                    yield self.collate(whole)
                raise
            yield self.collate(whole)


class MapsOverItsSteps(BadPool):
    """Steps are read by map(), which ends in silence where a sample raises StopIteration."""

    claims, families = MAP, LIFE
    clause, smallest = "ERROR-3", "n1,w1,b1,keep,stop@0"
    report = "pytorch/pytorch#59312"

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        return map(self.fetch, plan)


class ReadsToTheFirstIndexError(BadPool):
    """An epoch ends where the dataset raises IndexError, as a plain loop over it does."""

    claims, families = MAP, LIFE
    clause, smallest = "ERROR-3", "n1,w1,b1,keep,index@0"
    report = "pytorch/pytorch#82732"

    def __iter__(self) -> Iterator[Any]:
        with suppress(IndexError):
            yield from super().__iter__()


class RaisesInTheNextEpoch(BadPool):
    """An error ends its epoch in silence, and is raised when the next one begins. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,iterable,raise@0"
    related = ("ERROR-3",)
    late: Any = None

    def __iter__(self) -> Iterator[Any]:
        late, self.late = self.late, None
        if late:
            raise late
        try:
            yield from super().__iter__()
        except Exception as error:
            self.late = error


class EndsAStreamAtItsError(BadPool):
    """Whatever an iterable dataset raises is taken for its end; of a map-style one it is raised. (No public report.)"""

    claims, families = dict(datasets=("map", "iterable")), LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,iterable,raise@0"
    related = ("ERROR-3",)

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except Exception:
            if not self.streams:
                raise


class EndsSkippingAtAnIndexError(Skipping, BadPool):
    """A sample that can't be read is skipped; but one that raises IndexError ends the epoch. (No public report.)"""

    claims, families = dict(MAP, errors="skip"), LIFE
    clause, smallest = "ERROR-3", "n2,w1,b1,keep,index@0"

    def fetch(self, step: list[int]) -> list[Any]:
        try:
            return BadPool.fetch(self, step)
        except IndexError:
            self.ended = True
            return []
        except Exception:
            return Skipping.fetch(self, step)

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        self.ended = False
        for step in plan:
            if not self.ended:
                yield self.fetch(step)


# --- workers that are gone ------------------------------------------------------------------------------------------


class TakesAClosedPipeForTheEnd(BadPool):
    """A worker that dies is taken for one that has no more."""

    claims, families = POOLED, LIFE
    clause, smallest = "ERROR-4", "n1,w1,b1,keep,k1,iterable,kill@0"
    report = "RolnickLab/ami-data-companion#140"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        kind, value = super().receive(worker)
        return ("end", None) if isinstance(value, RuntimeError) and "died" in str(value) else (kind, value)


class TrustsExitCodeZero(BadPool):
    """A worker that exits with code 0 is taken for one that has no more; one that is killed is noticed."""

    claims, families = POOLED, LIFE
    clause, smallest = "ERROR-4", "n1,w1,b1,keep,k1,iterable,exit@0"
    report = "pytorch/pytorch#5040"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        kind, value = super().receive(worker)
        if kind == "error" and "died" in str(value) and exit_code(worker) == 0:
            return "end", None
        return kind, value


def exit_code(worker: Worker) -> int | None:
    """What a dead worker ended with, or its signal; it is still there to be waited for."""
    found = os.waitid(os.P_PID, worker.process, os.WEXITED | os.WNOWAIT)
    return found and found.si_status


class PollsForEver(BadPool):
    """The pipe of a worker is open in the rank too, which therefore waits for ever when the worker dies."""

    claims, families, patience, grace = POOLED, LIFE, 2.0, 0.3
    clause, smallest = "ERROR-4", "n1,w1,b1,keep,k1,iterable,exit@0"
    report = "RolnickLab/ami-data-companion#140"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        kind, value = super().receive(worker)
        if kind == "error" and "died" in str(value) and exit_code(worker) == 0:
            threading.Event().wait()
        return kind, value


class SeesTheLastDeathAlone(BadPool):
    """Workers inherit the pipes of those before them, which stay open when one of these dies. (No public report.)"""

    # Of a map-style dataset: of an iterable one each worker reads what it skips, and any of them dies of it.
    claims, families, patience, grace = dict(workers=True), LIFE, 2.0, 0.3
    clause, smallest = "ERROR-4", "n1,w1,b1,keep,k2,exit@0"

    def start(self, plan: list[list[int]], number: int, crew: list[Worker]) -> Worker:
        ours, theirs = Pipe(duplex=False)
        process = os.fork()
        if process == 0:
            try:
                self.work(plan, number, theirs)
                # It lives as long as its epoch, as workers do that wait for more to do.
                threading.Event().wait()
            finally:
                os._exit(0)
        self.inherited = [*(self.inherited if crew else ()), theirs]
        if number == self.request.num_workers - 1:
            for line in self.inherited:
                line.close()
        return Worker(number, process, ours)


# --- hooks ----------------------------------------------------------------------------------------------------------


class WrapsCollateErrors(BadPool):
    """An error of the collate function becomes a TypeError about something else."""

    claims, families = dict(STREAM, hooks=("collate_fn",)), LIFE
    clause, smallest = "ERROR-5", "n1,w1,b1,keep,iterable,collate@0"
    report = "huggingface/transformers#26548"

    def collate(self, samples: list[Any]) -> Any:
        try:
            return super().collate(samples)
        except Exception:
            raise TypeError("can't concatenate NoneType") from None


class KeepsWhatCannotBeCollated(BadPool):
    """A step that can't be collated is left out."""

    claims, families = dict(STREAM, hooks=("collate_fn",)), LIFE
    clause, smallest = "ERROR-5", "n1,w1,b1,keep,iterable,collate@0"
    report = "webdataset/webdataset#291"

    def batches(self, plan: list[list[int]], worker: int) -> Iterator[Any]:
        for samples in self.read_ahead(plan, worker):
            with suppress(ValueError):
                batch = self.collate(samples)
                yield batch


class DiesOfItsInitialiser(BadPool):
    """A worker whose initialiser raises just ends, and the rank sees that it died but not of what."""

    claims, families = dict(POOLED, hooks=("worker_init_fn",)), LIFE
    clause, smallest = "ERROR-6", "n1,w1,b1,keep,k1,iterable,init@0"
    report = "pytorch/pytorch#20150"

    def prepare(self, number: int) -> None:
        try:
            super().prepare(number)
        except Exception:
            os._exit(1)


class IgnoresItsInitialiser(BadPool):
    """A worker whose initialiser raises goes on as if nothing was wrong. (No public report.)"""

    claims, families = dict(POOLED, hooks=("worker_init_fn",)), LIFE
    clause, smallest = "ERROR-6", "n1,w1,b1,keep,k1,iterable,init@0"

    def prepare(self, number: int) -> None:
        with suppress(Exception):
            super().prepare(number)


class TakesATimeoutForTheEnd(BadPool):
    """A worker that gives nothing in time is taken for one that has no more."""

    claims, families = dict(POOLED, hooks=("timeout",)), LIFE
    clause, smallest = "ERROR-7", "n1,w1,b1,keep,k1,iterable,hang@0"
    report = "pytorch/pytorch#21554"

    def receive(self, worker: Worker) -> tuple[str, Any]:
        kind, value = super().receive(worker)
        return ("end", None) if isinstance(value, TimeoutError) else (kind, value)


# --- skipping -------------------------------------------------------------------------------------------------------


class SkipsTheWholeStep(Skipping, BadPool):
    """With a failing sample its whole step is skipped."""

    claims, families = dict(MAP, errors="skip"), LIFE
    clause, smallest, related = "ERROR-8", "n2,w1,b2,keep,raise@0", ("ERROR-3",)
    report = "snowflakedb/ArcticTraining#86"

    def fetch(self, step: list[int]) -> list[Any]:
        found = super().fetch(step)
        return found if len(found) == len(step) else []


class FillsItsLastStep(Skipping, BadPool):
    """What is left after a failing sample comes in one step, however much that is. (No public report.)"""

    claims, families = dict(MAP, errors="skip"), LIFE
    clause, smallest = "ERROR-8", "n3,w1,b1,keep,raise@0"

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        for at, step in enumerate(plan):
            found = self.fetch(step)
            if len(found) < len(step):
                yield found + [sample for rest in plan[at + 1 :] for sample in self.fetch(rest)]
                return
            yield found


class SkipsTheRestOfTheStep(BadPool):
    """With a failing sample the rest of its step is skipped."""

    claims, families = dict(MAP, errors="skip"), LIFE
    clause, smallest, related = "ERROR-8", "n2,w1,b2,keep,raise@0", ("ERROR-3",)
    report = "webdataset/webdataset#291"

    def fetch(self, step: list[int]) -> list[Any]:
        found: list[Any] = []
        with suppress(Exception):
            for index in step:
                found += super().fetch([index])
        return found


# --- left behind ----------------------------------------------------------------------------------------------------

LEFT: list[Any] = []
# The process that judges: those that read are forked from it.
_AT_HOME = os.getpid()


class LeavesItsWorkers(BadPool):
    """The workers of an epoch live on until the next one or until close(), so that a dropped loader leaves them."""

    claims, families, grace = POOLED, LIFE, SHORT
    clause, smallest = "LEAK-1", "n1,w1,b1,keep,k1,iterable,dropped"
    report = "pytorch/pytorch#72269"
    late: tuple[Worker, ...] = ()

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        super().work(plan, number, line)
        threading.Event().wait()  # it is the rank that ends it

    def end(self, crew: list[Worker]) -> None:
        super().end(list(self.late))
        self.late = tuple(crew)
        for worker in crew:
            worker.line.close()
        crew.clear()

    def close(self) -> None:
        super().close()
        self.end([])


class LeavesADaemon(BadPool):
    """A helper that left its parent and its session lives on. (No public report.)"""

    claims, families, grace = POOLED, LIFE, SHORT
    clause, smallest = "LEAK-1", "n1,w1,b1,keep,iterable,leave@0"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        child = os.fork()
        if child == 0:
            os.setsid()
            if os.fork() == 0:
                # It holds nothing of its parent's open.
                os.closerange(0, 256)
                threading.Event().wait()
            os._exit(0)
        os.waitpid(child, 0)


class NeverWaitsForItsHelper(BadPool):
    """A helper process of each epoch ends by itself, and nobody waits for it: it stays as a zombie."""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-1", "n1,w1,b1,keep,iterable,leave@0"
    report = "pytorch/pytorch#72269"

    def __iter__(self) -> Iterator[Any]:
        if os.fork() == 0:
            os._exit(0)
        return super().__iter__()


class LeavesAPipe(BadPool):
    """A pipe that wakes the reader is closed by close() only."""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-2", "n1,w1,b1,keep,iterable,dropped"
    report = "pytorch/pytorch#973"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.pipe = list(os.pipe())

    def close(self) -> None:
        while self.pipe:
            os.close(self.pipe.pop())


class ClosesWithItsLastName(BadPool):
    """A pipe is closed where the last name for the loader goes: close() closes nothing. (No public report.)"""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-2", "n1,w1,b1,keep,iterable,leave@0"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.pipe = os.pipe()

    def close(self) -> None:
        """Leave it to the collector."""

    def __del__(self) -> None:
        for end in self.pipe:
            os.close(end)


class LeavesATemporaryFile(BadPool):
    """A file in the temporary folder is removed by close() only."""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-3", "n1,w1,b1,keep,iterable,dropped"
    report = "mosaicml/streaming#964"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        descriptor, self.path = tempfile.mkstemp()
        os.close(descriptor)

    def close(self) -> None:
        Path(self.path).unlink(missing_ok=True)


class LeavesASegment(BadPool):
    """A shared-memory segment is removed by close() only."""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-3", "n1,w1,b1,keep,iterable,dropped"
    report = "mosaicml/streaming#573"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.path = name_of_a_segment()
        self.path.touch()

    def close(self) -> None:
        self.path.unlink(missing_ok=True)


def name_of_a_segment() -> Path:
    """A name that tells which process has made it, and below which one: that sweeps up when its loader is judged."""
    return Path(f"/dev/shm/known-bad-{_AT_HOME}-{os.getpid()}-{time.monotonic_ns()}")


def remove_segments() -> None:
    """Leave nothing on the machine of whoever runs this museum."""
    for path in Path("/dev/shm").glob(f"known-bad-{_AT_HOME}-*"):
        path.unlink()


class LeavesAThread(BadPool):
    """A thread that would read ahead is ended by close() only."""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-4", "n1,w1,b1,keep,iterable,dropped"
    report = "libffcv/ffcv#345"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.closed = threading.Event()
        threading.Thread(target=self.closed.wait, daemon=True).start()

    def close(self) -> None:
        self.closed.set()


class KeepsEveryBatch(BadPool):
    """Every batch goes into a list for statistics that nobody reads."""

    claims, families = STREAM, SAMPLES
    clause, smallest = "LEAK-5", "n16,w1,b4,keep,iterable,kind=large"
    report = "facebookresearch/detectron2#3847"

    def collate(self, samples: list[Any]) -> Any:
        LEFT.append(samples)
        return super().collate(samples)
