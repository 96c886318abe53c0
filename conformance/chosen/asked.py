"""What a loader that chooses is asked for: decides the request, with the probe that it reads."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
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
    rarity_of,
    shards_of,
    sizes_of,
    sources_of,
    weights_of,
)
from conformance.contract import Implementation, Request
from conformance.loader.probes import Watch
from conformance.loader.reading import Reader
from conformance.loader.requests import loaded, watched
from conformance.processes.calls import Remarks
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
        loader = loaded(self.implementation, request)
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
    if not _is_mixed(scenario):
        return 0
    # Of draws with its weight each of so many leaves out a rare source once in e^40 times.
    rarity = rarity_of(scenario)
    return round(40 / rarity if rarity else 0) + 40 * (10 + min(scenario.samples, 1000))


def request_of(going: Reading) -> Request:
    """What the loader is asked for."""
    scenario = going.scenario
    if scenario.about == "stream":
        dataset: Any = _stream(scenario, going.watch)
        content: tuple[Any, ...] = ("stream", scenario.samples, scenario.parts, *scenario.words)
    else:
        dataset, content = watched("map", scenario.samples, going.watch), ("map", scenario.samples)
    sources = tuple(Source(indices, going.watch) for indices in sources_of(scenario)) if _is_mixed(scenario) else ()
    return Request(
        dataset=dataset,
        workdir=folder_of(going, *content),
        sources=sources,
        **arguments_of(scenario, going.task.rank),
    )


def arguments_of(scenario: ChosenScenario, rank: int) -> dict[str, Any]:
    """The fields of the request but for what can be read, and its folder."""
    return {
        **{name: getattr(scenario, name) for name in _FROM_SCENARIO},
        "rank": rank,
        **_NO_DEVICE,
        **_chosen(scenario),
        **_mixed(scenario),
    }


def _is_mixed(scenario: ChosenScenario) -> bool:
    return scenario.about == "mixture"


def _chosen(scenario: ChosenScenario) -> dict[str, Any]:
    if scenario.about == "grouped":
        return dict(batches="grouped", groups=groups_of(scenario))
    if scenario.about in BATCHES:
        return dict(batches=scenario.about, sizes=sizes_of(scenario), budget=scenario.budget)
    if scenario.about == "subset" and "whole" not in scenario.words:
        return dict(indices=indices_of(scenario))
    return {}


def _mixed(scenario: ChosenScenario) -> dict[str, Any]:
    if not _is_mixed(scenario):
        return {}
    stop = "all_exhausted" if ends_with_the_last(scenario) else "first_exhausted"
    return dict(weights=weights_of(scenario), stop=stop)


def second_of(scenario: ChosenScenario) -> dict[str, Any]:
    """What a second loader is asked for otherwise: the others, or the same dataset with another seed.

    Two halves have one seed, as the folds of a cross-validation do.
    """
    others = {} if "whole" in scenario.words else {"indices": indices_of_second(scenario)}
    return {**others, "seed": scenario.seed + (0 if "half" in scenario.words else 7)}


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
