"""The family of chapter 12: loops that train for a few epochs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.loops import judges
from conformance.loops.scenario import ASKED, LoopScenario, from_code
from conformance.processes.fleet import Lane
from conformance.processes.random_state import USUAL_STATE
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
def _drawn(draw: st.DrawFn) -> LoopScenario:
    """A loop over a few batches, of which the accumulation often divides none."""
    return LoopScenario(
        draw(st.integers(1, 12)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((1, 2, 2, 3, 3, 4, 5))),
        draw(st.integers(1, 4)),
        draw(st.sampled_from((0, 1, 2**31))),
        draw(st.sampled_from((frozenset(), _VALIDATED))),
    )


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
    yield LoopScenario(257, 4, 8, 2)
    yield LoopScenario(100, 7, 4, 12, asked=_VALIDATED)


def _runs(lane: Lane, scenario: LoopScenario) -> Iterator[Run]:
    task = Task("conformance.loops.run", scenario, 0, tuple(range(scenario.epochs)), USUAL_STATE)
    yield Run("main", lane.run([task]))


def _simplified(scenario: LoopScenario, violates: Callable[[LoopScenario], bool]) -> LoopScenario:
    words = [word for word in ASKED if word in scenario.asked]
    scenario = in_fewer_words(scenario, words, lambda each, word: replace(each, asked=each.asked - {word}), violates)
    seeded: dict[str, Any] = {"seed": 0}
    scenario = replace(scenario, **seeded) if violates(replace(scenario, **seeded)) else scenario
    return smallest_numbers(scenario, ("epochs", "batch_size", "accumulation", "samples"), violates)


def _promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"LOOP-1", "LOOP-2", "LOOP-3", "LOOP-4"} <= held:
        rest = "one step" if claims.loop == "step" else "left out"
        yield f"each step is the mean over its own micro-batches, and the rest of an epoch is {rest}"


FAMILIES = (
    Family(
        "loop",
        from_code,
        _runs,
        _listed,
        {"quick": 30, "gate": 150, "deep": 5_000},
        lambda claims: _drawn(),
        _simplified,
        promises=_promises,
    ),
)
