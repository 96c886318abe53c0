"""A correct loader that reads ahead, in plain Python: decides what the bad ones of chapter 5 change.

Each epoch is read by a thread of its own, which has a copy of the loader and puts what it loads into a queue. It reads
a step only when there is room for it, and so do the workers: each asks for leave first.
"""

import copy
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, ClassVar

from tests.known_bad.correct import KnownBad, claim
from tests.known_bad.pool import HOOKS, POOL, Pool, Worker

AHEAD = claim(
    POOL,
    asynchronous=True,
    hooks=(*HOOKS, "buffer_size", "early_preload", "load_indefinitely", "rebatched"),
)
_END = object()


class Loading:
    """One epoch on its way: a thread reads it, and at most `room` steps wait for the consumer."""

    daemon = True  # a process that ends does not wait for it (ASYNC-8)
    waits: float | None = None  # the seconds for which the end of the thread is waited for; None: as long as it takes

    def __init__(self, epoch: int, batches: Iterator[Any], room: int) -> None:
        self.epoch = epoch
        self.room = room
        self.ready: deque[tuple[str, Any]] = deque()
        self.changed = threading.Condition()
        self.stopped = self.taken = False
        self.thread = threading.Thread(target=self.load, args=(batches,), daemon=self.daemon)
        self.thread.start()

    def load(self, batches: Any) -> None:
        """Read the epoch, step by step, while it is wanted."""
        try:
            while self.has_room() and (batch := next(batches, _END)) is not _END:
                self.put("batch", batch)
            self.put("end")
        except BaseException as error:
            self.put("error", error)
        finally:
            batches.close()

    def has_room(self) -> bool:
        """Wait for room; False if nobody wants the epoch any more."""
        with self.changed:
            # ASYNC-3
            self.changed.wait_for(lambda: self.stopped or len(self.ready) < self.room)
            return not self.stopped

    def put(self, kind: str, value: Any = None) -> None:
        """Hand something to the consumer."""
        with self.changed:
            self.ready.append((kind, value))
            self.changed.notify_all()

    def take(self) -> tuple[str, Any]:
        """The next thing, in order; blocks until there is one."""
        with self.changed:
            self.changed.wait_for(lambda: self.ready)
            self.taken = True
            kind, value = self.ready.popleft()
            self.changed.notify_all()
            return kind, value

    def stop(self) -> None:
        """End the reading."""
        with self.changed:
            self.stopped = True
            self.changed.notify_all()
        self.thread.join(self.waits)


class Delivery(Iterator[Any]):
    """The consumer's side of an epoch."""

    def __init__(self, loader: "Ahead", loading: Loading) -> None:
        self.loader = loader
        self.loading = loading
        self.ended = False

    def __next__(self) -> Any:
        if self.ended:
            raise StopIteration
        kind, value = self.loading.take()
        if kind == "batch":
            return self.loader.hand_over(value)
        self.ended = True
        if kind == "error":
            raise value
        self.loader.at_the_end(self.loading.epoch)
        raise StopIteration

    def __del__(self) -> None:
        self.loading.stop()


# Of the correct loaders one is judged whole: where they don't read ahead, all of them are the same.
ONLY_AHEAD = ("async",)


class Ahead(Pool):
    """One rank's loader; where `request.asynchronous` is set, it reads ahead."""

    claims: ClassVar[dict[str, Any]] = AHEAD
    early: Loading | None = None  # begun before it was asked for
    copied = False  # whether it is the copy with which a thread reads

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.leaves: dict[int, tuple[Connection, Connection]] = {}
        if self.is_asynchronous and self.preloads:
            self.early = self.begin(0)

    @property
    def is_asynchronous(self) -> bool:
        """Whether it reads ahead."""
        return bool(self.request.asynchronous)

    @property
    def preloads(self) -> bool:
        """Whether it begins to read when it is made (ASYNC-4)."""
        return bool(self.request.early_preload)

    @property
    def room(self) -> int:
        """How many steps may wait; two, where nothing is asked for."""
        return self.request.buffer_size or 2

    def begin(self, epoch: int) -> Loading:
        """Begin to read an epoch."""
        return Loading(epoch, self.reader(epoch), self.room)

    def reader(self, epoch: int) -> Iterator[Any]:
        """Everything that an epoch gives, read by a copy of the loader."""
        copied = copy.copy(self)
        copied.epoch, copied.early, copied.crews, copied.leaves, copied.copied = epoch, None, [], {}, True
        return copied.read()

    def read(self) -> Iterator[Any]:
        """Everything that an epoch gives, as it is read without reading ahead."""
        if not (self.request.rebatched and self.streams):
            return super().__iter__()
        # ASYNC-9
        drops, self.request = self.request.drop_last, replace(self.request, drop_last=False)
        return self.joined(super().__iter__(), drops)

    def joined(self, batches: Iterator[Any], drops: bool) -> Iterator[list[Any]]:
        """Full steps, made of what the workers read."""
        samples = (sample for batch in batches for sample in batch)
        while step := list(islice(samples, self.request.combined_batch)):
            if len(step) == self.request.combined_batch or not drops:
                yield step

    def __iter__(self) -> Iterator[Any]:
        return self.deliver(self.wanted()) if self.is_asynchronous else super().__iter__()

    def deliver(self, loading: Loading) -> Delivery:
        """The iterator over an epoch that is on its way."""
        return Delivery(self, loading)

    def wanted(self) -> Loading:
        """The epoch that is asked for: the one that was begun early, if it is that, or else a new one."""
        early, self.early = self.early, None
        if early is not None and early.epoch != self.epoch:
            early.stop()
            early = None
        return early or self.begin(self.epoch)

    def hand_over(self, batch: Any) -> Any:
        """A step for the consumer."""
        return batch

    def at_the_end(self, epoch: int) -> None:
        """Begin the next epoch, if it is to be (ASYNC-5)."""
        if self.request.load_indefinitely and self.early is None:
            self.early = self.begin(epoch + 1)

    def close(self) -> None:
        """End what reads ahead."""
        super().close()
        early, self.early = self.early, None
        if early is not None:
            early.stop()

    def __del__(self) -> None:
        self.close()

    # --- workers that read a step only when there is room for it ------------------------------------------------------

    def start(self, plan: list[list[int]], number: int, crew: list[Worker]) -> Worker:
        """Fork a worker that may read one step."""
        if self.is_asynchronous:
            self.leaves[number] = Pipe(duplex=False)
            self.give_leave(number)
        return super().start(plan, number, crew)

    def give_leave(self, number: int) -> None:
        """Let a worker read a step: one when it starts, and one more whenever one has come."""
        if number in self.leaves:
            with suppress(OSError):  # it has ended
                self.leaves[number][1].send_bytes(b"go")

    def work(self, plan: list[list[int]], number: int, line: Connection) -> None:
        """As ever; but a worker sees when the rank has gone."""
        for _, giving in self.leaves.values():
            giving.close()
        super().work(plan, number, line)

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        """The samples of each of a worker's steps, each read when it may."""
        steps = super().read_ahead(plan, worker)
        while self.may_read(worker) and (step := next(steps, None)) is not None:
            yield step

    def may_read(self, worker: int) -> bool:
        """Wait for leave; False if nobody is there to give it."""
        if worker not in self.leaves:
            return True
        with suppress(EOFError):
            return bool(self.leaves[worker][0].recv_bytes())
        return False

    def receive(self, worker: Worker) -> tuple[str, Any]:
        """The next word of a worker, which may then read its next step."""
        word = super().receive(worker)
        self.give_leave(worker.number)
        return word

    def end(self, crew: list[Worker]) -> None:
        """End a crew and its leaves."""
        super().end(crew)
        for leave in self.leaves.values():
            for line in leave:
                line.close()
        self.leaves.clear()


class AheadInAProcess(Ahead):
    """Reads in a process of its own even where no workers are asked for."""

    families: ClassVar[tuple[str, ...]] = ONLY_AHEAD

    def begin(self, epoch: int) -> Loading:
        """Begin to read an epoch, with a worker at least."""
        asked = self.request
        self.request = replace(asked, num_workers=max(1, asked.num_workers))
        try:
            return super().begin(epoch)
        finally:
            self.request = asked

    def give_leave(self, number: int) -> None:
        """Not before there is room for the step: this worker is one too many for ASYNC-3."""

    def receive(self, worker: Worker) -> tuple[str, Any]:
        """The next word of a worker, which may read for it now."""
        super().give_leave(worker.number)
        return super().receive(worker)


class BadAhead(Ahead, KnownBad):
    """A loader that reads ahead, with one fault."""


def _with(name: str, families: tuple[str, ...] = (), **claims: Any) -> type[Ahead]:
    members = {"claims": claim(AHEAD, **claims), "families": families}
    return type(name, (Ahead,), {**members, "__doc__": f"{name}: correct.", "__module__": __name__})


CORRECT_AHEAD: tuple[type[Ahead], ...] = (
    Ahead,
    AheadInAProcess,
    _with("AheadOfNoHooks", hooks=None, workers=None, iterable_workers=None, datasets=("map",)),
    _with(
        "AheadOfStreams",
        ONLY_AHEAD,
        datasets=("iterable",),
        layout=None,
        shuffle=None,
        epochs=None,
        when_keeping=None,
        length=None,
    ),
)
