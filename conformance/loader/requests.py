"""The request of a scenario for one rank: its dataset, which watches and breaks as drawn, its folder, and its hooks."""

import os
import sys
from typing import Any

from conformance.contract import Implementation, Request
from conformance.loader import datasets, generators, hooks, probes, samplers
from conformance.loader.asked import arguments_of, hooks_of
from conformance.loader.conducts import FOREIGN
from conformance.loader.scenario import Scenario
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.processes.task import Task
from conformance.trial.words import place_of


def loaded(implementation: Implementation, request: Request) -> Any:
    """The loader of a request. Stopped where it can't be loaded, or not be iterated."""
    loader = calls.called("load", None, lambda: implementation.load(request))
    if loader is None or not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")):
        raise Stopped("unusable", "load", "load(request) gives what can't be iterated; return the loader")
    return loader


def watch_of(scenario: Scenario, workdir: str) -> probes.Watch:
    """What the datasets of a scenario do besides giving samples."""
    interrupts = (
        place_of(scenario.conduct) * scenario.combined_batch if scenario.conduct.startswith("interrupt") else None
    )
    folder = probes.empty_folder(workdir, "watch")
    return probes.Watch(
        folder,
        scenario.fault,
        scenario.kind,
        scenario.num_workers > 0,
        os.getpid(),
        scenario.error,
        scenario.faulty_epoch,
        "always" in scenario.words,
        interrupts,
    )


def request_of(task: Task, workdir: str, watch: probes.Watch | None) -> Request:
    """What the loader is asked for, with a dataset that does what the watch says."""
    scenario: Scenario = task.scenario
    # One folder a process, so that ranks never write over each other's files, and for each content of a dataset: what
    # its samples are, and which of them fails.
    contents = (scenario.dataset, str(scenario.samples), scenario.kind, scenario.fault.replace("@", ""))
    folder = os.path.join(workdir, "-".join(filter(None, contents)))
    os.makedirs(folder, exist_ok=True)
    arguments = arguments_of(scenario, task.rank)
    if generators.WORD in scenario.words:
        arguments[generators.HOOK] = generators.handed_over()
    if "batches" in scenario.words and scenario.saves:
        arguments["batch_sampler"] = samplers.SteadyBatches(scenario.samples)
    if "collated" in scenario.words and scenario.saves:
        arguments["collate_fn"] = hooks.listed
    if watch is None:
        first = datasets.FIRST_OF_ANOTHER if scenario.kind == FOREIGN else datasets.FIRST_SAMPLE
        return Request(dataset=datasets.MapDataset(scenario.samples, first), workdir=folder, **arguments)
    given = hooks_of(scenario, task.starting)
    if scenario.fault.startswith("collate"):
        given["collate_fn"] = hooks.BreakingCollate(watch)
    if scenario.fault.startswith("init"):
        given["worker_init_fn"] = hooks.BreakingInitialiser(watch)
    if "collated" in scenario.words and not scenario.saves:
        # What reads ahead may have room for numbers alone.
        given["collate_fn"] = hooks.NotingCollate(watch, stacks=scenario.asynchronous)
    if "strict" in scenario.words:
        given["collate_fn"] = hooks.StrictCollate()
    if "initialised" in scenario.words or ("begun" in scenario.words and scenario.conduct == "hooked"):
        given["worker_init_fn"] = hooks.NotingInitialiser(watch)
    if "sampler" in scenario.words:
        given["sampler"] = samplers.PassingSampler(watch.folder, scenario.samples)
    if "batches" in scenario.words and not scenario.saves:
        given["batch_sampler"] = samplers.PassingBatches(watch.folder, scenario.samples)
    dataset = watched(scenario.dataset, scenario.samples, watch)
    return Request(dataset=dataset, workdir=folder, **{**arguments, **given})


def watched(dataset: str, length: int, watch: probes.Watch) -> Any:
    """The probe of a style; an iterable one is torch's kind of iterable where torch is loaded."""
    if dataset == "map":
        return probes.WatchedMap(length, watch)
    if "torch" in sys.modules:
        from conformance.loader.torch_probe import TorchIterable

        return TorchIterable(length, watch)
    return probes.WatchedIterable(length, watch)
