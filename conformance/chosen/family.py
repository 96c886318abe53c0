"""The families of chapter 11 that are about what is chosen: batches of chosen members, and shuffled streams."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from conformance.chosen import (
    drawn,
    drawn_mixtures,
    drawn_streams,
    drawn_subsets,
    judges_batched_epochs,
    judges_batches,
    judges_mixtures,
    judges_streams,
    judges_subsets,
    left,
)
from conformance.chosen.batches import may_refuse
from conformance.chosen.promises import of_batches
from conformance.chosen.scenario import (
    BATCHES,
    DETAILS,
    LEAVING,
    STOPPED_AFTER,
    ChosenScenario,
    epochs_of,
    from_code,
    has_second,
    within,
)
from conformance.chosen.script import SCRIPTING
from conformance.contract import Claims
from conformance.loader import starting
from conformance.loader.scenario import Scenario
from conformance.processes.lane import Lane
from conformance.processes.random_state import USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run
from conformance.trial.family import Family
from conformance.trial.smallest import first_that_violates, in_fewer_words, smallest_numbers
from conformance.trial.tiers import Tier
from conformance.trial.words import joined

S = TypeVar("S", bound=Any)

CHAPTERS = ("GROUP", "STREAM", "SUBSET", "MIX", "LEFT")
# Imported, so that they register their clauses.
JUDGES = (judges_batches, judges_batched_epochs, judges_streams, judges_subsets, judges_mixtures, left)

_INTERRUPTED = {*STOPPED_AFTER, *LEAVING}
_PERFORMER = "conformance.chosen.run"
# How many cases with workers are tried, where each of them takes seconds to start.
_FEW = {"quick": 2, "gate": 6}


def _runs(lane: Lane, scenario: ChosenScenario) -> Iterator[Run]:
    main = _run(lane, "main", scenario)
    yield main
    # Whether a restart fails, or the request: a clause wants to know.
    for word in _INTERRUPTED & {*scenario.words}:
        yield _run(lane, judges_mixtures.UNBROKEN if word in STOPPED_AFTER else left.WHOLE, _without(scenario, word))
    # Nothing can be compared with a run that failed.
    if main.failed:
        return
    if has_second(scenario):
        yield from (_run(lane, name, replace(scenario, variant=name)) for name in judges_subsets.ALONE)
    if scenario.variant == "again":
        yield _run(lane, "again", scenario, other_process=1)
    if scenario.variant == "jump":
        yield _run(lane, "jump", scenario, epochs=(scenario.epochs - 1,))
    if scenario.variant.startswith("seed"):
        yield _run(lane, scenario.variant, replace(scenario, seed=scenario.seed + 1))


def _run(lane: Lane, name: str, scenario: ChosenScenario, other_process: int = 0, epochs: tuple[int, ...] = ()) -> Run:
    meets, epochs = lane.claims.ranks == "process_group", epochs or epochs_of(scenario)
    tasks = [Task(_PERFORMER, scenario, rank, epochs, USUAL_STATE, meets=meets) for rank in range(scenario.world_size)]
    patience = lane.patience + starting.granted(lane, as_loader(scenario))
    return Run(name, lane.run(tasks, shift=other_process, patience=patience, stage=patience))


def as_loader(scenario: ChosenScenario) -> Scenario:
    """The scenario as far as its workers are concerned."""
    return Scenario(
        scenario.samples,
        scenario.world_size,
        num_workers=scenario.num_workers,
        epochs=scenario.epochs,
        persistent_workers=scenario.persistent_workers,
    )


def few(lane: Lane, tier: Tier, scenarios: Sequence[S], staffed_at: Mapping[str, int] = _FEW) -> Sequence[S]:
    """The scenarios; where workers are new interpreters, only some that have any."""
    most = staffed_at.get(tier.name)
    staffed = [each for each in scenarios if each.num_workers]
    if most is None or not staffed or not starting.start_of(lane).is_new:
        return scenarios
    return [each for each in scenarios if not each.num_workers or each in staffed[:most]]


def _simplified(scenario: ChosenScenario, violates: Callable[[ChosenScenario], bool]) -> ChosenScenario:
    scenario = in_fewer_words(scenario, scenario.words, _without, violates)
    simpler: list[list[dict[str, Any]]] = [
        [dict(num_workers=0, persistent_workers=False)],
        [dict(persistent_workers=False)],
        [dict(shuffle=False, variant="none"), dict(shuffle=False)],
        [dict(variant="none"), *([dict(variant="again")] if scenario.variant == "jump" else [])],
        [dict(drop_last=False)],
        [dict(seed=0)],
    ]
    scenario = first_that_violates(scenario, simpler, violates)
    numbers = ("samples", "world_size", "batch_size", "parts", "epochs", *(("budget",) if scenario.budget else ()))
    # A smaller step may need fewer samples, which were tried with a larger one.
    scenario = smallest_numbers(scenario, numbers, violates, least)
    return smallest_numbers(scenario, numbers, violates, least)


def least(scenario: ChosenScenario, field: str) -> int:
    """The least that a number of a scenario can be."""
    # A source without samples is asked of nobody.
    return scenario.parts if field == "samples" and scenario.about == "mixture" else 1


def _without(scenario: ChosenScenario, word: str) -> ChosenScenario:
    return replace(scenario, details=joined({*scenario.words} - {word}, DETAILS))


def _may_fail(scenario: ChosenScenario, claims: Claims) -> bool:
    least = claims.least_samples(scenario.world_size, scenario.combined_batch)
    if scenario.about == "subset":
        return judges_subsets.is_too_small(scenario, claims)
    if scenario.about == "mixture":
        return judges_mixtures.is_too_small(scenario, claims)
    return scenario.samples < least or may_refuse(scenario, claims)


def _reads(*about: str) -> Callable[[str], ChosenScenario]:
    """The reader of a family's codes: one that is about something else is none."""

    def read(code: str) -> ChosenScenario:
        scenario = from_code(code)
        if scenario.about not in about:
            raise ValueError(f"the case {code!r} is about {scenario.about}, and this clause about {' or '.join(about)}")
        return scenario

    return read


def _family(
    name: str,
    about: Sequence[str],
    listed: Callable[[Claims, Tier], Iterable[ChosenScenario]],
    examples: Mapping[str, int],
    draw: Callable[[Claims], Any] | None = None,
    promises: Callable[[Claims, frozenset[str]], Iterable[str]] = lambda claims, held: (),
) -> Family[ChosenScenario]:
    return Family(
        name,
        _reads(*about),
        _runs,
        listed,
        examples,
        draw,
        _simplified,
        may_fail=_may_fail,
        within=within,
        few=few,
        promises=promises,
        scripting=SCRIPTING,
    )


FAMILIES = (
    _family(
        "batches",
        BATCHES,
        drawn.a_few_batches,
        {"quick": 30, "gate": 240, "deep": 10_000},
        drawn.batches,
        promises=of_batches,
    ),
    _family(
        "streams",
        ("stream",),
        drawn_streams.a_few_streams,
        {"quick": 8, "gate": 36, "deep": 2000},
        drawn_streams.streams,
    ),
    _family(
        "subsets",
        ("subset",),
        drawn_subsets.a_few_subsets,
        {"quick": 12, "gate": 60, "deep": 6000},
        drawn_subsets.subsets,
    ),
    _family(
        "mixtures",
        ("mixture",),
        drawn_mixtures.a_few_mixtures,
        {"quick": 16, "gate": 90, "deep": 6000},
        drawn_mixtures.mixtures,
    ),
    _family("left", (*BATCHES, "stream", "subset", "mixture"), left.a_few_left, {}),
)
