"""What a loader that chooses is asked for: decides the request, with the probe that it reads."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.chosen.probes import EpochStream, Source, Stream
from conformance.chosen.scenario import (
    BATCHES,
    ChosenScenario,
    ends_with_the_last,
    groups_of,
    has_own_epoch,
    indices_of,
    indices_of_second,
    shards_of,
    sizes_of,
    sources_of,
    weights_of,
)
from conformance.contract import Implementation, Request
from conformance.loader.member import watched
from conformance.loader.probes import Watch
from conformance.loader.reading import Reader
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.task import Task
from conformance.trace import Epoch

_FROM_SCENARIO = (*("batch_size", "shuffle", "seed", "drop_last", "num_workers", "persistent_workers", "world_size"),)
_NO_DEVICE: Mapping[str, Any] = dict(
    replication_factor=1, device_iterations=1, gradient_accumulation=1, asynchronous=False
)


@dataclass
class Reading:
    """The reading of what a task asks for, and what has come of it so far."""

    implementation: Implementation
    task: Task
    workdir: str
    watch: Watch
    epochs: list[Epoch] = field(default_factory=list)
    remarks: Remarks = field(default_factory=list)

    @property
    def scenario(self) -> ChosenScenario:
        """What is asked for."""
        scenario: ChosenScenario = self.task.scenario
        return scenario

    def reader(self, request: Request) -> Reader:
        """A loader of the request, ready to be read."""
        loader = calls.called("load", None, lambda: self.implementation.load(request))
        if loader is None or not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")):
            raise Stopped("unusable", "load", "load(request) gives what can't be iterated; return the loader")
        if self.task.epochs[0] > 0 and not hasattr(loader, "set_epoch"):
            self.remarks.append(("counts", "epochs are counted by the loader"))
        scenario = self.scenario
        copies = max(1, scenario.num_workers)
        return Reader(
            loader,
            self.implementation.decode,
            sets_epoch=self.implementation.claims.epochs != "automatic",
            most=8 + 2 * copies * scenario.samples + 4 * scenario.batch_size * scenario.world_size + _more(scenario),
            before_epoch=self.watch.begin_epoch,
        )


def _more(scenario: ChosenScenario) -> int:
    """What a mixture may have more, where sources begin again until the rarest one is exhausted."""
    return 400 + 40 * scenario.samples if scenario.about == "mixture" else 0


def request_of(going: Reading) -> Request:
    """What the loader is asked for."""
    scenario = going.scenario
    if scenario.about == "stream":
        dataset: Any = _stream(scenario, going.watch)
        content: tuple[Any, ...] = ("stream", scenario.samples, scenario.parts, *scenario.words)
    else:
        dataset, content = watched("map", scenario.samples, going.watch), ("map", scenario.samples)
    return Request(
        dataset=dataset,
        rank=going.task.rank,
        workdir=folder_of(going, *content),
        **{name: getattr(scenario, name) for name in _FROM_SCENARIO},
        **_NO_DEVICE,
        **_chosen(scenario),
        **_mixed(scenario, going.watch),
    )


def _chosen(scenario: ChosenScenario) -> dict[str, Any]:
    if scenario.about == "grouped":
        return dict(batches="grouped", groups=groups_of(scenario))
    if scenario.about in BATCHES:
        return dict(batches=scenario.about, sizes=sizes_of(scenario), budget=scenario.budget)
    if scenario.about == "subset" and "whole" not in scenario.words:
        return dict(indices=indices_of(scenario))
    return {}


def _mixed(scenario: ChosenScenario, watch: Watch) -> dict[str, Any]:
    if scenario.about != "mixture":
        return {}
    sources = tuple(Source(indices, watch) for indices in sources_of(scenario))
    stop = "all_exhausted" if ends_with_the_last(scenario) else "first_exhausted"
    return dict(sources=sources, weights=weights_of(scenario), stop=stop)


def second_of(request: Request, scenario: ChosenScenario) -> Request:
    """What a second loader is asked for beside the first: the others, or the same dataset with another seed."""
    indices = None if request.indices is None else indices_of_second(scenario)
    return replace(request, indices=indices, seed=request.seed + 7)


def _stream(scenario: ChosenScenario, watch: Watch) -> Stream:
    """The probe of a stream; torch's kind of iterable where torch is loaded."""
    length, shards, has_epoch = scenario.samples, shards_of(scenario), has_own_epoch(scenario)
    if "torch" in sys.modules:
        from conformance.chosen.torch_probes import TorchEpochStream, TorchStream

        return (TorchEpochStream if has_epoch else TorchStream)(length, watch, shards)
    return (EpochStream if has_epoch else Stream)(length, watch, shards)


def folder_of(going: Reading, *content: Any) -> str:
    """A folder for the files of a dataset of this content, kept for later requests of it."""
    folder = os.path.join(going.workdir, "-".join(map(str, content)))
    os.makedirs(folder, exist_ok=True)
    return folder
