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
from conformance.loader import reading
from conformance.loader.conducts import DEADLY
from conformance.loader.hooks import BreakingInitialiser
from conformance.loader.leaks import watching_leaks
from conformance.loader.probes import Watch, empty_folder
from conformance.loader.reading import Reader
from conformance.pipelines import conduct as conducts
from conformance.pipelines.graph import build
from conformance.pipelines.heard import Heard
from conformance.pipelines.request import PipelineRequest
from conformance.pipelines.scenario import PipelineScenario
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Epoch, RankRun, Value
from conformance.trial.words import place_of

_BAD_SEEDS, _GOOD_SEEDS = (-1, 2**64), (0, 2**64 - 1)


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Read the loader of the pipeline that a task asks for; where something happens, also look for what is left."""
    scenario: PipelineScenario = task.scenario
    # Ranks meet repeatedly only where all of them do the same.
    if (scenario.fault or scenario.conduct) and scenario.ranks == 1:
        deadly = scenario.fault.partition("@")[0] in DEADLY
        return watching_leaks(lambda: _perform(implementation, task, workdir), workdir, deadly)
    return _perform(implementation, task, workdir)


def _perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    seed_all(task.random_seed)
    scenario: PipelineScenario = task.scenario
    source, seen = _watch(scenario, workdir, "source"), _watch(scenario, workdir, "seen")
    going = _Reading(implementation, scenario, task.rank, task.epochs, source, seen)
    failure = None
    try:
        going.read()
    except Stopped as stopped:
        failure = stopped.failure
    if source.fired or seen.fired:
        going.remarks.append(("fired", scenario.fault))
    values, remarks = tuple(_read_by(source)), tuple(going.remarks)
    return RankRun(task.rank, tuple(going.epochs), failure, reads=seen.reads(), remarks=remarks, values=values)


@dataclass
class _Reading:
    """One loader after the other, and what came of them; `numbers` are those of the epochs."""

    implementation: Implementation
    scenario: PipelineScenario
    rank: int
    numbers: tuple[int, ...]
    source: Watch
    seen: Watch
    epochs: list[Epoch] = field(default_factory=list)
    remarks: Remarks = field(default_factory=list)

    def read(self) -> None:
        """Do what the scenario says."""
        if "wrong" in self.scenario.asked:
            self._wrong_order()
        elif "bounds" in self.scenario.asked:
            self._bounds()
        else:
            self._with_loader(self._as_asked)

    def _as_asked(self, reader: Reader, loader: Any) -> None:
        scenario, numbers, epochs, remarks = self.scenario, self.numbers, self.epochs, self.remarks
        name, at, _ = scenario.conduct.partition("@")
        place = place_of(scenario.conduct) if at else 0
        ways: dict[str, Callable[[], None]] = {
            "reseed": lambda: conducts.reseed(reader, loader, numbers, scenario.seed, epochs),
            "limit": lambda: conducts.limit(reader, epochs, scenario.elements),
            "pause": lambda: conducts.pause(reader, epochs),
            "begun": lambda: conducts.begun(reader, epochs, scenario.elements // scenario.ranks),
            "leave": lambda: conducts.leave(reader, numbers, epochs, place),
            "two": lambda: conducts.two(reader, epochs, remarks, place, scenario.asked),
            "shut": lambda: conducts.shut(reader, loader, epochs, remarks, place, scenario.asked),
            "dropped": lambda: conducts.drop(reader, epochs),
            "ended": lambda: reading.read_beyond_the_end(reader, numbers, epochs, remarks),
        }
        way = next((way for way in ways if way in (*scenario.asked, name)), None)
        if way is not None:
            ways[way]()
        elif scenario.fault:
            reading.read_through_faults(reader, numbers[:1], epochs)
        else:
            reading.read_epochs(reader, numbers, epochs)

    def _with_loader(self, act: Callable[[Reader, Any], None]) -> None:
        """Make a loader, let it be read, and shut it down."""
        loader = self._loader("pipeline")
        most = 8 + 4 * self.scenario.elements * max(1, self.scenario.workers)
        heard = Heard(loader, self.remarks)
        reader = Reader(heard, self.implementation.decode, sets_epoch=False, most=most, before_epoch=self._begin)
        try:
            act(reader, loader)
        except Stopped:
            # What stopped the reading is told, and not what closing makes of it.
            with suppress(Stopped):
                calls.close(loader, names=("shutdown",))
            raise
        if self.scenario.conduct == "dropped":
            del loader, heard, reader
            gc.collect()
        else:
            calls.close(loader, times=2 if self.scenario.conduct else 1, names=("shutdown",))

    def _loader(self, function: str) -> Any:
        scenario, words = self.scenario, self.scenario.asked
        request = PipelineRequest(
            build(scenario, self.source, self.seen),
            num_workers=scenario.workers,
            rank=self.rank,
            world_size=scenario.ranks,
            seed=scenario.seed + (self.rank if "own" in words else 0),
            worker_init_fn=self._initialiser(),
        )
        loader = calls.called("load", None, lambda: self.implementation.offers[function](request))
        if "unseeded" not in words and "bounds" not in words:
            calls.called("load", None, lambda: loader.seed(request.seed))
        return loader

    def _initialiser(self) -> BreakingInitialiser | None:
        # One rank fails, and the others are told.
        last = self.rank == self.scenario.ranks - 1
        return BreakingInitialiser(self.seen) if self.scenario.fault.startswith("init") and last else None

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


def _watch(scenario: PipelineScenario, workdir: str, name: str) -> Watch:
    is_here = ("front" in scenario.asked) == (name == "source")
    return Watch(empty_folder(workdir, f"watch-{name}"), scenario.fault if is_here else "", consumer=os.getpid())


def _read_by(source: Watch) -> Iterator[Value]:
    """For each epoch which process read which element of the source, [reads, 2]."""
    reads = source.reads()
    for epoch in sorted({read.epoch for read in reads}):
        mine = [number for read in reads if read.epoch == epoch for number in (read.process, read.index)]
        yield Value(f"source {epoch}", (len(mine) // 2, 2), tuple(map(float, mine)))
