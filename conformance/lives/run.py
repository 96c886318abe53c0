"""One rank's run of a loader that lives through something: decides how its request is made, and what is noted."""

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.chosen import asked as chosen
from conformance.contract import Implementation, Request
from conformance.lives.scenario import LifeScenario
from conformance.loader import requests
from conformance.loader.hooks import NotingCollate
from conformance.loader.interrupts import within
from conformance.loader.judging import ON_PURPOSE
from conformance.loader.keeping import look_again
from conformance.loader.living import Life
from conformance.loader.probes import Watch, empty_folder
from conformance.loader.reading import Reader
from conformance.loader.samplers import SteadyBatches, SteadySampler
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.random_state import seed_all
from conformance.processes.task import Task
from conformance.trace import Epoch, Failure, RankRun

# What is to fail, and when; seconds in which what is read ahead comes to it.
FAILING = ("failed", "fled")
_A_MOMENT = 0.3


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Let the loader that a task asks for live, and write down what came."""
    going = _Reading(implementation, task, workdir)
    seed_all(task.random_seed)
    failure: Failure | None = None
    try:
        going.live()
    except Stopped as stopped:
        failure = stopped.failure
    except RuntimeError as error:
        # torch raises a worker's death from its signal handler, wherever the main thread is at that moment.
        failure = Failure("raised", "step", calls.described(error))
    return RankRun(task.rank, tuple(going.epochs), failure, remarks=tuple(going.remarks))


@dataclass
class _Reading:
    """The reading of what a task asks for, and what has come of it so far."""

    implementation: Implementation
    task: Task
    workdir: str
    epochs: list[Epoch] = field(default_factory=list)
    remarks: Remarks = field(default_factory=list)
    is_over_with: bool = False  # the sample failed in the first epoch, which was left
    watch: Watch = field(init=False)
    request: Request = field(init=False)

    def __post_init__(self) -> None:
        life = self.scenario.life
        fails_in = next((at for at, word in enumerate(life) if word in FAILING), None)
        self.watch = Watch(
            empty_folder(self.workdir, "watch"),
            "" if fails_in is None else f"raise@{self.scenario.asked.samples // 2}",
            consumer=os.getpid(),
            armed_in=fails_in or 0,
        )
        self.request = self._request()

    @property
    def scenario(self) -> LifeScenario:
        """What is asked for."""
        scenario: LifeScenario = self.task.scenario
        return scenario

    def live(self) -> None:
        """Read epoch after epoch as the life says, and look at every batch again."""
        life = Life(
            self._reader({}),
            self._reader,
            self.epochs,
            self.scenario.asked.seed,
            self.implementation.offers.get("merge"),
            self._until_it_fails,
        )
        if not hasattr(life.reader.loader, "set_epoch"):
            self.remarks.append(("counts", "epochs are counted by the loader"))
        try:
            life.live(self.scenario.life)
        except Stopped:
            # What stopped the reading is told, and not what closing makes of it.
            with suppress(Stopped):
                calls.close(life.reader.loader)
            raise
        calls.close(life.reader.loader)
        self._tell_what_is_stale()
        look_again(life.reader, life.passes, self.remarks, lambda: None)

    def _until_it_fails(self) -> None:
        """Wait a moment for a sample that fails while it is read ahead."""
        if self.scenario.is_asynchronous or self.scenario.num_workers:
            within(_A_MOMENT, lambda: self.watch.fired)
        # What is read for the first time is the first epoch's; later on it may be the next one's.
        self.is_over_with = self.watch.fired and not self.epochs

    def _tell_what_is_stale(self) -> None:
        """Remark on an error that comes behind steps of an epoch, and was met in the first one."""
        for epoch in self.epochs[1:] if self.is_over_with else ():
            if epoch.steps and epoch.failure and ON_PURPOSE in epoch.failure.message:
                self.remarks.append(("stale", f"epoch {epoch.number}: {epoch.failure.sentence()}"))

    def _reader(self, others: Mapping[str, Any]) -> Reader:
        """A loader of the request, or of one that asks for something else here, ready to be read."""
        claims, asked = self.implementation.claims, self.scenario.asked
        loader = requests.loaded(self.implementation, replace(self.request, **others))
        keeps = claims.aliases is False or (claims.aliases == "asynchronous" and not self.scenario.is_asynchronous)
        return Reader(
            loader,
            self.implementation.decode,
            sets_epoch=claims.epochs != "automatic",
            # A mixture may begin its sources again until the rarest one is exhausted.
            most=400 + 40 * asked.samples + 4 * asked.combined_batch * asked.world_size,
            before_epoch=self.watch.begin_epoch,
            keep_batches=keeps,
        )

    def _request(self) -> Request:
        task = replace(self.task, scenario=self.scenario.asked)
        if self.scenario.is_chosen:
            asked = chosen.request_of(chosen.Reading(self.implementation, task, self.workdir, self.watch))
            return replace(asked, asynchronous=self.scenario.is_asynchronous)
        return replace(requests.request_of(task, self.workdir, self.watch), **self._hooks())

    def _hooks(self) -> dict[str, Any]:
        samples, hooks = self.scenario.asked.samples, self.scenario.hooks
        given: dict[str, Any] = {}
        if "sampler" in hooks:
            given["sampler"] = SteadySampler(samples)
        if "batches" in hooks:
            given["batch_sampler"] = SteadyBatches(samples)
        if "collated" in hooks:
            # What reads ahead may have room for numbers alone.
            given["collate_fn"] = NotingCollate(self.watch, stacks=self.scenario.is_asynchronous)
        return given
