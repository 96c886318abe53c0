"""Loaders that pass on one class of error, in the first epoch, and honour a hook there alone (chapters 4 and 10)."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import suppress
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from tests.known_bad.ahead import BadAhead, Loading
from tests.known_bad.asynchronous import FAMILY, PLAIN
from tests.known_bad.correct import SHORT
from tests.known_bad.faults import MAP
from tests.known_bad.life import LIFE, STREAM
from tests.known_bad.pool import HOOKS, BadPool, Skipping, Worker, say

HOOKED = dict(workers=True, hooks=(*HOOKS, "persistent_workers"))


class TakesAnEndOfFileForItsOwn(BadPool):
    """An EOFError of the dataset is taken for the end of the stream that the loader reads."""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n4,w1,b1,keep,iterable,raise@3,with=eof"
    report = "pytorch/pytorch#82732"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except EOFError:
            return


class WaitsForWhatIsLate(BadPool):
    """A TimeoutError, whoever raises it, means that there is nothing yet: the step is left out. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n4,w1,b1,keep,iterable,raise@3,with=late"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except TimeoutError:
            return


class TakesACancelledReadForTheEnd(BadPool):
    """A CancelledError of the dataset means that the loader's own reads were cancelled. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n4,w1,b1,keep,iterable,raise@3,with=cancelled"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except CancelledError:
            return


class SendsErrorsAsTheyAre(BadPool):
    """An error is pickled in the worker, and one that can't be made anew fails in the consumer as another one."""

    claims, families = dict(workers=True), LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,k1,e2,raise@0,with=stubborn+second"
    report = "pytorch/pytorch#34130"

    def tell(self, error: Exception, line: Connection) -> None:
        say(line, "error", error)


class ForgivesLaterEpochs(BadPool):
    """From the second epoch on an error ends the epoch, and nobody is told. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n1,w1,b1,keep,e2,iterable,raise@0,with=second"
    related = ("ERROR-3",)
    read = 0

    def __iter__(self) -> Iterator[Any]:
        self.read += 1
        try:
            yield from super().__iter__()
        except Exception:
            if self.read == 1:
                raise


class EndsItsThreadInSilence(BadPool):
    """A thread hands on every Exception; of a SystemExit it ends, and the rank waits for ever. (No public report.)"""

    claims, families, patience = STREAM, LIFE, 1.0
    clause, smallest = "ERROR-1", "n4,w1,b1,keep,iterable,raise@3,with=abandons"

    def __iter__(self) -> Iterator[Any]:
        batches, ready = super().__iter__(), SimpleQueue[Any]()
        threading.Thread(target=self.read, args=(batches, ready), daemon=True).start()
        while (batch := ready.get()) is not None:
            if isinstance(batch, Exception):
                raise batch
            yield batch

    def read(self, batches: Iterator[Any], ready: SimpleQueue[Any]) -> None:
        """Put every batch there, then the end or the error."""
        with suppress(BaseException):
            try:
                for batch in batches:
                    ready.put(batch)
                ready.put(None)
            except Exception as error:
                ready.put(error)


class LosesAnErrorForWantOfRoom(BadAhead):
    """An error is put into the queue without waiting, and lost where that is full. (No public report.)"""

    claims, families = PLAIN, FAMILY
    clause, smallest = "ASYNC-7", "n4,w1,b1,keep,async,raise@3,look@0"

    def begin(self, epoch: int) -> Loading:
        return NeverWaits(epoch, self.reader(epoch), self.room)


class NeverWaits(Loading):
    """An epoch on its way whose error has no room."""

    def put(self, kind: str, value: Any = None) -> None:
        is_lost = kind == "error" and self.taken and len(self.ready) >= self.room
        super().put("end" if is_lost else kind, value)

    def has_room(self) -> bool:
        # The step that fails is read before there is room for it.
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or len(self.ready) <= self.room)
            return not self.stopped


class ForgetsWhatWasReadBeforeTheLast(Skipping, BadPool):
    """Where the last sample fails, the step that it would have ended is never given. (No public report.)"""

    claims, families = dict(MAP, errors="skip"), LIFE
    clause, smallest = "ERROR-8", "n6,w1,b2,keep,raise@5"

    def fetch(self, step: list[int]) -> list[Any]:
        found: list[Any] = []
        for index in step:
            read = super().fetch([index])
            if not read and index == len(self.request.dataset) - 1:
                return []
            found += read
        return found


class CollatesWhatIsEmpty(Skipping, BadPool):
    """A step of which all samples fail is left out, but only when it has been collated. (No public report.)"""

    claims, families = dict(MAP, errors="skip", hooks=("collate_fn",)), LIFE
    clause, smallest = "ERROR-8", "n2,w1,b1,keep,raise@1,with=strict"

    def batches(self, plan: list[list[int]], worker: int) -> Iterator[Any]:
        for samples in self.read_ahead(plan, worker):
            batch = self.collate(samples)
            if samples:
                yield batch


class CollatesTheFirstEpoch(BadPool):
    """The collate function makes the steps of the first epoch, and a list those of the others. (No public report.)"""

    claims, families = dict(hooks=("collate_fn",)), LIFE
    clause, smallest = "WORK-18", "n1,w1,b1,keep,e2,hooked,with=collated"
    read = 0

    def __iter__(self) -> Iterator[Any]:
        self.read += 1
        return super().__iter__()

    def collate(self, samples: list[Any]) -> Any:
        return super().collate(samples) if self.read < 2 else samples


class InitialisesItsFirstWorkers(BadPool):
    """The worker initialiser is called in the workers of the first epoch alone."""

    claims, families = HOOKED, LIFE
    clause, smallest = "WORK-18", "n1,w1,b1,keep,k1,e2,hooked,with=begun"
    report = "Lightning-AI/pytorch-lightning#7937"

    def prepare(self, number: int) -> None:
        if self.epoch:
            self.seed(self.worker_seed(number))
            self.inform(number)
        else:
            super().prepare(number)


class StartsItsWorkersAnew(BadPool):
    """Persistent workers are claimed, and each epoch starts workers of its own. (No public report.)"""

    claims, families = HOOKED, LIFE
    clause, smallest = "WORK-18", "n1,w1,b1,keep,k1,e2,persistent,hooked,with=lasting"


class InitialisesInPlaceOfSeeding(BadPool):
    """A worker is seeded only where no initialiser is given, which is taken for seeding it. (No public report.)"""

    claims, families = HOOKED, ("workers",)
    clause, smallest, related = "WORK-8", "n5,w1,b1,keep,k2,with=initialised,workers", ("WORK-9", "WORK-10")

    def seed(self, seed: int) -> None:
        if self.request.worker_init_fn is None:
            super().seed(seed)


class RemembersBadPlaces(Skipping, BadPool):
    """The place of a sample that failed is passed over in later epochs, whatever is there. (No public report.)"""

    claims, families = dict(MAP, errors="skip", shuffle="global"), LIFE
    clause, smallest = "ERROR-8", "n4,w1,b1,keep,shuffle,e2,raise@3"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.bad: set[int] = set()

    def place(self, index: int) -> int:
        """What is remembered of a sample."""
        return self.order().index(index)

    def fetch(self, step: list[int]) -> list[Any]:
        found: list[Any] = []
        for index in step:
            place = self.place(index)
            read = [] if place in self.bad else super().fetch([index])
            if not read:
                self.bad.add(place)
            found += read
        return found


class SkipsByAListOfItsOwn(RemembersBadPlaces):
    """What failed is taken out of the order that is dealt out, by the one rank that read it. (No public report.)"""

    claims, families = dict(MAP, errors="skip", shuffle="global", when_keeping="uneven"), LIFE
    clause, smallest = "ERROR-8", "n2,w2,b1,keep,e2,raise@0"

    def place(self, index: int) -> int:
        return index

    def order(self) -> list[int]:
        return [index for index in super().order() if index not in self.bad]


class HasOneDeadline(BadPool):
    """The time-out of a step runs from the start of the epoch. (No public report.)"""

    claims, families = HOOKED, ("workers",)
    clause, smallest = "WORK-1", "n6,w1,b1,keep,k1,crawl@0,workers"
    deadline = 0.0

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        self.deadline = time.monotonic() + self.request.timeout
        return super().in_turn(crew)

    def receive(self, worker: Worker) -> tuple[str, Any]:
        if self.request.timeout and not worker.line.poll(max(0.0, self.deadline - time.monotonic())):
            return "error", TimeoutError(f"worker {worker.number} gave nothing in time")
        return super().receive(worker)


class StartsItsThreadTooEarly(BadPool):
    """A thread is started by iter(), and ended by a generator that may never begin. (No public report.)"""

    claims, families, grace = STREAM, LIFE, SHORT
    clause, smallest = "LEAK-4", "n1,w1,b1,keep,iterable,leave@0"

    def __iter__(self) -> Iterator[Any]:
        ended = threading.Event()
        threading.Thread(target=ended.wait, daemon=True).start()
        return self.ending(super().__iter__(), ended)

    def ending(self, steps: Iterator[Any], ended: threading.Event) -> Iterator[Any]:
        """The steps, and the end of the thread."""
        try:
            yield from steps
        finally:
            ended.set()
