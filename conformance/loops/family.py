"""The family of chapter 12: loops that train for a few epochs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.loops import judges
from conformance.loops.scenario import ASKED, LoopScenario, from_code
from conformance.processes.fleet import Lane
from conformance.processes.random_state import ANOTHER_STATE, USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run
from conformance.trial.family import Family
from conformance.trial.smallest import in_fewer_words, smallest_numbers
from conformance.trial.tiers import Tier

CHAPTERS = ("LOOP",)
# Imported, so that they register their clauses.
JUDGES = (judges,)

_VALIDATED = frozenset(ASKED)


@st.composite
def _drawn(draw: st.DrawFn, stops: bool) -> LoopScenario:
    """A loop over a few batches, of which the accumulation often divides none; stopped anywhere."""
    scenario = LoopScenario(
        draw(st.integers(1, 12)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((1, 2, 2, 3, 3, 4, 5))),
        draw(st.integers(1, 4)),
        draw(st.sampled_from((0, 1, 2**31))),
        draw(st.sampled_from((frozenset(), _VALIDATED))),
    )
    all_batches = scenario.micro_batches * scenario.epochs
    return replace(scenario, stop=draw(st.integers(0, all_batches))) if stops else scenario


def _listed(claims: Claims, tier: Tier) -> Iterator[LoopScenario]:
    """A rest of each size, an accumulation that is never reached, and one that divides."""
    for samples, batch_size, accumulation in (
        (7, 1, 3),
        (8, 1, 3),
        (6, 1, 3),
        (7, 2, 2),
        (9, 2, 3),
        (2, 1, 5),
        (5, 1, 1),
    ):
        for asked in (frozenset[str](), _VALIDATED):
            yield LoopScenario(samples, batch_size, accumulation, 3, asked=asked)
    if claims.checkpoints:
        yield from _stopped()
    yield LoopScenario(257, 4, 8, 2)
    yield LoopScenario(100, 7, 4, 12, asked=_VALIDATED)


def _stopped() -> Iterator[LoopScenario]:
    """Stops in each place of a group, of its rest and of an epoch, in the first epoch and later."""
    for stop in range(1, 15):
        yield LoopScenario(7, 1, 3, 2, stop=stop)
    for stop in (1, 2, 5, 8):
        yield LoopScenario(8, 2, 2, 3, asked=_VALIDATED, stop=stop)
    yield LoopScenario(2, 1, 5, 2, stop=1)
    yield LoopScenario(5, 1, 1, 2, stop=6)
    yield LoopScenario(100, 3, 4, 4, stop=94)


def _runs(lane: Lane, scenario: LoopScenario) -> Iterator[Run]:
    whole = Task("conformance.loops.run", replace(scenario, stop=0), 0, tuple(range(scenario.epochs)), USUAL_STATE)
    yield Run("main", lane.run([whole]))
    if scenario.stop:
        stopped = Run("stopped", lane.run([replace(whole, scenario=scenario)]))
        yield stopped
        if stopped.saved:
            # A job that is started again is another process, and finds random numbers anywhere.
            yield Run("resumed", lane.run([replace(whole, random_seed=ANOTHER_STATE, saved=stopped.saved)], 1))


def _simplified(scenario: LoopScenario, violates: Callable[[LoopScenario], bool]) -> LoopScenario:
    words = [word for word in ASKED if word in scenario.asked]
    scenario = in_fewer_words(scenario, words, lambda each, word: replace(each, asked=each.asked - {word}), violates)
    plainer: tuple[dict[str, Any], ...] = ({"seed": 0}, {"stop": 0})
    for other in plainer:
        scenario = replace(scenario, **other) if violates(replace(scenario, **other)) else scenario
    return smallest_numbers(scenario, ("epochs", "batch_size", "accumulation", "samples", "stop"), violates)


def _promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"LOOP-1", "LOOP-2", "LOOP-3", "LOOP-4"} <= held:
        rest = "one step" if claims.loop == "step" else "left out"
        yield f"each step is the mean over its own micro-batches, and the rest of an epoch is {rest}"
    if "LOOP-7" in held:
        yield "a job that is stopped in the middle of a step, and resumed, makes the steps of one that was not"


FAMILIES = (
    Family(
        "loop",
        from_code,
        _runs,
        _listed,
        {"quick": 30, "gate": 150, "deep": 5_000},
        lambda claims: _drawn(claims.checkpoints),
        _simplified,
        promises=_promises,
    ),
)
