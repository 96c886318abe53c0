"""The family of chapter 6: models that are called a few times."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.contract import Claims
from conformance.device import drawn, judges, judges_outputs
from conformance.device.scenario import ASKED, DeviceScenario, from_code, mean, singly
from conformance.processes.lane import Lane
from conformance.processes.random_state import USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run
from conformance.trial.family import Family
from conformance.trial.smallest import in_fewer_words, smallest_numbers

CHAPTERS = ("DEVICE",)
# Imported, so that they register their clauses.
JUDGES = (judges, judges_outputs)


def _runs(lane: Lane, scenario: DeviceScenario) -> Iterator[Run]:
    main = _run(lane, "main", scenario)
    yield main
    # Nothing can be compared with a run that failed.
    if scenario.variant != "none" and not main.failed:
        varied = singly(scenario) if scenario.variant == "singly" else mean(scenario)
        yield _run(lane, scenario.variant, varied)


def _run(lane: Lane, name: str, scenario: DeviceScenario) -> Run:
    ranks, calls = range(scenario.ranks), tuple(range(scenario.calls))
    # Ranks average their gradients.
    meets = len(ranks) > 1
    return Run(
        name,
        lane.run([Task("conformance.device.run", scenario, rank, calls, USUAL_STATE, meets=meets) for rank in ranks]),
    )


def _simplified(scenario: DeviceScenario, violates: Callable[[DeviceScenario], bool]) -> DeviceScenario:
    words = [word for word in ASKED if word in scenario.asked]
    scenario = in_fewer_words(scenario, words, lambda each, word: replace(each, asked=each.asked - {word}), violates)
    return smallest_numbers(scenario, ("samples", "ranks", "batch_size", "calls"), violates)


def _promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"DEVICE-3", "DEVICE-4"} <= held:
        yield f"an update equals one step on the combined batch{' over all ranks' if 'DEVICE-13' in held else ''}"


FAMILIES = (
    Family(
        "device",
        from_code,
        _runs,
        drawn.a_few_models,
        {"quick": 40, "gate": 220, "deep": 10_000},
        drawn.models,
        _simplified,
        may_fail=lambda scenario, claims: not judges.possible(scenario),
        promises=_promises,
    ),
)
