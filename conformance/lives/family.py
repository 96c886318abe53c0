"""The family of lives: how a request and a life are run, compared and made smaller."""

from collections.abc import Callable, Iterator
from dataclasses import replace

from conformance.chosen import family as chosen
from conformance.chosen.scenario import ChosenScenario
from conformance.lives import drawn, judges
from conformance.lives.scenario import Asked, LifeScenario, from_code, living, within
from conformance.loader import starting
from conformance.loader.samplers import HOOKS as SAMPLERS
from conformance.loader.scenario import Scenario, simpler
from conformance.processes.lane import Lane
from conformance.processes.random_state import USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run, Trace
from conformance.trial.family import Family
from conformance.trial.smallest import Changes, first_that_violates, smallest_numbers

# Imported, so that they register their clauses.
JUDGES = (judges,)
_PERFORMER = "conformance.lives.run"
# How many lives with workers are tried, where each of them takes seconds to start.
_FEW = {"quick": 1, "gate": 2}
# How often workers are started for what is done with an epoch, if not once.
_STARTS = {"again": 2, "beside": 4, "saved": 2}


def _runs(lane: Lane, scenario: LifeScenario) -> Iterator[Run]:
    yield _run(lane, "main", scenario)
    # Reading ahead changes nothing.
    hooks = [hook for hook in scenario.hooks if hook != "ahead"]
    yield _run(lane, judges.WHOLE, living(scenario.asked, *hooks, *("whole" for _ in scenario.life)))


def _alone(lane: Lane, trace: Trace) -> Iterator[Run]:
    """Each thing of the life by itself that other clauses ask about, as they do, with whole epochs behind it."""
    scenario: LifeScenario = trace.scenario
    asked, hooks = scenario.asked, [hook for hook in scenario.hooks if hook in SAMPLERS]
    if isinstance(asked, ChosenScenario) and asked.about != "stream":
        asked = replace(asked, num_workers=0, persistent_workers=False)
    for word in judges.asked_elsewhere(scenario):
        words = [word, *("whole" for _ in scenario.life[1:])]
        yield _run(lane, f"{judges.ALONE}{word}", living(asked, *hooks, *words))


def _run(lane: Lane, name: str, scenario: LifeScenario) -> Run:
    asked, meets = scenario.asked, lane.claims.ranks == "process_group"
    tasks = [
        Task(_PERFORMER, scenario, rank, tuple(range(asked.epochs)), USUAL_STATE, meets=meets)
        for rank in range(asked.world_size)
    ]
    patience = lane.patience + starting.granted(lane, _as_loader(scenario))
    return Run(name, lane.run(tasks, patience=patience, stage=patience))


def _as_loader(scenario: LifeScenario) -> Scenario:
    """The request as far as its workers are concerned, with an epoch for each time that they start."""
    asked = scenario.asked if isinstance(scenario.asked, Scenario) else chosen.as_loader(scenario.asked)
    return simpler(asked, epochs=1 + sum(_STARTS.get(word, 1) for word in scenario.life))


def _simplified(scenario: LifeScenario, violates: Callable[[LifeScenario], bool]) -> LifeScenario:
    for at in reversed(range(len(scenario.words))):
        words = scenario.words
        fewer = living(scenario.asked, *words[:at], *words[at + 1 :])
        scenario = fewer if fewer.life and violates(fewer) else scenario

    def still(asked: Asked) -> bool:
        return violates(replace(scenario, asked=asked))

    asked = first_that_violates(scenario.asked, _options(scenario.asked), still)
    if isinstance(asked, Scenario):
        asked = smallest_numbers(asked, ("samples", "world_size", "batch_size", "buffer_size"), still, _least)
    else:
        numbers = ("samples", "world_size", "batch_size", "parts", *(("budget",) if asked.budget else ()))
        asked = smallest_numbers(asked, numbers, still, chosen.least)
    return replace(scenario, asked=asked)


def _least(asked: Scenario, field: str) -> int:
    return 0 if field == "buffer_size" else 1


def _options(asked: Asked) -> list[list[Changes]]:
    """What may be asked for in fewer options."""
    ahead: list[list[Changes]] = [[dict(early_preload=False)], [dict(load_indefinitely=True)]]
    if isinstance(asked, Scenario):
        plain = dict(asynchronous=False, buffer_size=0, early_preload=False, load_indefinitely=True)
        ahead = [[plain], *ahead]
    return [
        [dict(num_workers=0, persistent_workers=False)],
        [dict(persistent_workers=False)],
        *(ahead if isinstance(asked, Scenario) else []),
        [dict(shuffle=False, seed=0), dict(seed=0)],
        [dict(drop_last=False)],
    ]


FAMILIES = (
    Family(
        "lives",
        from_code,
        _runs,
        drawn.each_pair,
        {"quick": 10, "gate": 60, "deep": 3000},
        drawn.lives,
        _simplified,
        twins=_alone,
        may_fail=lambda scenario, claims: True,
        within=within,
        few=lambda lane, tier, scenarios: chosen.few(lane, tier, scenarios, _FEW),
    ),
)
