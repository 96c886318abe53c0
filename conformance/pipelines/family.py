"""The family of chapter 8: pipelines. Processes and groups cost time, so those that are drawn are few."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from conformance.contract import Claims
from conformance.loader import patience
from conformance.pipelines import drawn, judges, judges_ends, judges_seeds
from conformance.pipelines.scenario import ASKED, PipelineScenario, from_code
from conformance.processes.lane import Lane
from conformance.processes.random_state import USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run
from conformance.trial.family import Family
from conformance.trial.smallest import Changes, earlier, first_that_violates, in_fewer_words, smallest_numbers
from conformance.trial.words import place_of

CHAPTERS = ("PIPE",)
# Imported, so that they register their clauses.
JUDGES = (judges, judges_ends, judges_seeds)


def _runs(lane: Lane, scenario: PipelineScenario) -> Iterator[Run]:
    main = _run(lane, "main", scenario)
    yield main
    # Nothing can be compared with a run that failed.
    if scenario.variant == "alone" and not main.failed:
        yield _run(lane, "alone", replace(scenario, ranks=1, workers=0))


def _run(lane: Lane, name: str, scenario: PipelineScenario) -> Run:
    ranks, epochs = range(scenario.ranks), tuple(range(scenario.epochs))
    performer, meets = "conformance.pipelines.run", len(ranks) > 1
    tasks = [Task(performer, scenario, rank, epochs, USUAL_STATE, meets=meets) for rank in ranks]
    watched = bool(scenario.fault or scenario.conduct) and not meets
    return Run(name, lane.run(tasks, patience=lane.patience + (3 * patience.GRACE if watched else 0)))


def _simplified(scenario: PipelineScenario, violates: Callable[[PipelineScenario], bool]) -> PipelineScenario:
    # A smaller batch, or fewer ranks, may need fewer elements, which were tried with more.
    return _once(_once(scenario, violates), violates)


def _once(scenario: PipelineScenario, violates: Callable[[PipelineScenario], bool]) -> PipelineScenario:
    words = [word for word in ASKED if word in scenario.asked]
    scenario = in_fewer_words(scenario, words, lambda each, word: replace(each, asked=each.asked - {word}), violates)
    options: list[Sequence[Changes]] = [
        [dict(workers=0)],
        [dict(shuffle=False)],
        *earlier(scenario.conduct, scenario.fault, "elements"),
    ]
    scenario = first_that_violates(scenario, options, violates)
    return smallest_numbers(scenario, ("elements", "ranks", "batch_size", "workers", "epochs"), violates, _least)


def _least(scenario: PipelineScenario, field: str) -> int:
    return place_of(scenario.fault) + 1 if scenario.fault and field == "elements" else 1


def _promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"PIPE-1", "PIPE-3"} <= held:
        loses = ", and ranks end together (drops up to world size - 1 elements)" if "PIPE-11" in held else ""
        yield f"pipelines: each element at most once over workers and ranks{loses}"
    if {"PIPE-5", "PIPE-7", "PIPE-9"} <= held:
        yield "pipelines: deterministic per (seed, epoch), whatever the number of workers"


FAMILIES = (
    Family(
        "pipeline",
        from_code,
        _runs,
        drawn.a_few_pipelines,
        {"quick": 3, "gate": 24, "deep": 600},
        drawn.pipelines,
        _simplified,
        blamed=judges.owner,
        may_fail=lambda scenario, claims: judges.must_fail(scenario),
        promises=_promises,
    ),
)
