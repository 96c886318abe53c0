"""One rank's run of a pipeline: decides which loaders are made, how each is read, and what is written down.

Elements become the samples of a step, as those of a batch do.
"""

import gc
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from conformance.contract import Implementation
from conformance.loader import member
from conformance.loader import reading as conduct
from conformance.loader.probes import BreakingInitialiser, Watch
from conformance.loader.reading import Reader
from conformance.pipelines import conduct as conducts
from conformance.pipelines.graph import build
from conformance.pipelines.heard import Heard
from conformance.pipelines.request import PipelineRequest
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Epoch, RankRun, Value
from conformance.trial.words import place_of

_BAD_SEEDS, _GOOD_SEEDS = (-1, 2**64), (0, 2**64 - 1)


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the pipeline that the task asks for, read its loader as the conduct says, and write down what came."""
    if task.leaks:
        return member.perform_watching_leaks(implementation, task, workdir, _perform)
    return _perform(implementation, task, workdir)


def _perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    seed_all(task.random_seed)
    reading = _Reading(implementation, task, _watch(task, workdir, "source"), _watch(task, workdir, "seen"))
    failure = None
    try:
        reading.read()
    except Stopped as stopped:
        failure = stopped.failure
    if reading.source.fired or reading.seen.fired:
        reading.remarks.append(("fired", task.fault))
    rank = task.arguments["rank"]
    values, remarks = tuple(_read_by(reading.source)), tuple(reading.remarks)
    return RankRun(rank, tuple(reading.epochs), failure, reads=reading.seen.reads(), remarks=remarks, values=values)


@dataclass
class _Reading:
    """One loader after the other, and what came of them."""

    implementation: Implementation
    task: Task
    source: Watch
    seen: Watch
    epochs: list[Epoch] = field(default_factory=list)
    remarks: Remarks = field(default_factory=list)

    def read(self) -> None:
        """Do what the scenario says."""
        words = self.task.words
        if "wrong" in words:
            self._wrong_order()
        elif "bounds" in words:
            self._bounds()
        else:
            self._with_loader(self._as_asked)

    def _as_asked(self, reader: Reader, loader: Any) -> None:
        task, epochs, remarks = self.task, self.epochs, self.remarks
        name, at, _ = task.conduct.partition("@")
        place = place_of(task.conduct) if at else 0
        ways: dict[str, Callable[[], None]] = {
            "reseed": lambda: conducts.reseed(reader, loader, task.epochs, task.arguments["seed"], epochs),
            "limit": lambda: conducts.limit(reader, epochs, task.samples),
            "pause": lambda: conducts.pause(reader, epochs),
            "leave": lambda: conducts.leave(reader, task.epochs, epochs, place),
            "two": lambda: conducts.two(reader, epochs, remarks, place),
            "shut": lambda: conducts.shut(reader, loader, epochs, remarks, place),
            "dropped": lambda: conducts.drop(reader, epochs),
            "ended": lambda: conduct.read_beyond_the_end(reader, task.epochs, epochs, remarks),
        }
        way = next((way for way in ways if way in (*task.words, name)), None)
        if way is not None:
            ways[way]()
        elif task.fault:
            conduct.read_through_faults(reader, task.epochs[:1], epochs)
        else:
            conduct.read_epochs(reader, task.epochs, epochs)

    def _with_loader(self, act: Callable[[Reader, Any], None]) -> None:
        """Make a loader, let it be read, and shut it down."""
        loader = self._loader("pipeline")
        most = 8 + 4 * self.task.samples * max(1, self.task.arguments["num_workers"])
        heard = Heard(loader, self.remarks)
        reader = Reader(heard, self.implementation.decode, sets_epoch=False, most=most, before_epoch=self._begin)
        try:
            act(reader, loader)
        except Stopped:
            # What stopped the reading is told, and not what closing makes of it.
            with suppress(Stopped):
                calls.close(loader, names=("shutdown",))
            raise
        if self.task.conduct == "dropped":
            del loader, heard, reader
            gc.collect()
        else:
            calls.close(loader, times=2 if self.task.conduct else 1, names=("shutdown",))

    def _loader(self, function: str) -> Any:
        arguments, words = self.task.arguments, self.task.words
        request = PipelineRequest(
            build(words, arguments, self.task.samples, self.source, self.seen),
            **{name: arguments[name] for name in ("num_workers", "rank", "world_size")},
            seed=arguments["seed"] + (arguments["rank"] if "own" in words else 0),
            worker_init_fn=self._initialiser(),
        )
        loader = calls.called("load", None, lambda: self.implementation.offers[function](request))
        if "unseeded" not in words and "bounds" not in words:
            calls.called("load", None, lambda: loader.seed(request.seed))
        return loader

    def _initialiser(self) -> BreakingInitialiser | None:
        # One rank fails, and the others are told.
        last = self.task.arguments["rank"] == self.task.arguments["world_size"] - 1
        return BreakingInitialiser(self.seen) if self.task.fault.startswith("init") and last else None

    def _begin(self, number: int) -> None:
        self.source.begin_epoch(number)
        self.seen.begin_epoch(number)

    def _bounds(self) -> None:
        for seed in (*_BAD_SEEDS, *_GOOD_SEEDS):
            failed = self._seeded(seed)
            if failed and seed in _GOOD_SEEDS:
                self.remarks.append(("refused", f"seed({seed}): {failed}"))
            if not failed and seed in _BAD_SEEDS:
                self.remarks.append(("accepted", f"seed({seed}) is accepted"))

    def _seeded(self, seed: int) -> str:
        """How an epoch of that seed fails, or nothing."""

        def read(reader: Reader, loader: Any) -> None:
            calls.called("load", None, lambda: loader.seed(seed))
            reader.rest(reader.begin(0))

        try:
            self._with_loader(read)
        except Stopped as stopped:
            return stopped.failure.sentence()
        return ""

    def _wrong_order(self) -> None:
        loader = self._loader("wrong_order")
        try:
            calls.called("iter", 0, lambda: next(iter(loader), None))
        finally:
            with suppress(Stopped):
                calls.close(loader, names=("shutdown",))


def _watch(task: Task, workdir: str, name: str) -> Watch:
    folder = os.path.join(workdir, f"watch-{name}")
    os.makedirs(folder, exist_ok=True)
    for file in os.listdir(folder):
        os.unlink(os.path.join(folder, file))
    is_here = ("front" in task.words) == (name == "source")
    return Watch(folder, task.fault if is_here else "", consumer=os.getpid())


def _read_by(source: Watch) -> Iterator[Value]:
    """For each epoch which process read which element of the source, [reads, 2]."""
    reads = source.reads()
    for epoch in sorted({read.epoch for read in reads}):
        mine = [number for read in reads if read.epoch == epoch for number in (read.process, read.index)]
        yield Value(f"source {epoch}", (len(mine) // 2, 2), tuple(map(float, mine)))
