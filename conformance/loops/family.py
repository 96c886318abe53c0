"""The family of chapter 12: loops that train for a few epochs."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.loops import judges
from conformance.loops.scenario import ASKED, LoopScenario, from_code
from conformance.processes.lane import Lane
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
    """A loop over a few batches, of which the accumulation often divides none; stopped anywhere, and again."""
    scenario = LoopScenario(
        draw(st.integers(1, 12)),
        draw(st.integers(1, 3)),
        draw(st.sampled_from((1, 2, 2, 3, 3, 4, 5))),
        draw(st.integers(1, 4)),
        draw(st.sampled_from((0, 1, 2**31))),
        draw(st.sampled_from((frozenset(), _VALIDATED))),
    )
    all_batches = scenario.micro_batches * scenario.epochs
    if not stops:
        return scenario
    stop = draw(st.integers(0, all_batches))
    return replace(scenario, stop=stop, again=draw(st.sampled_from((0, 0, 0, 0, 3, 5))) if stop else 0)


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
    # A second stop in the step, in the epoch and in the rest in which the first one was, and a third one.
    for stop, again in ((1, 1), (1, 3), (2, 2), (8, 1), (5, 4)):
        yield LoopScenario(7, 1, 3, 2, stop=stop, again=again)
    yield LoopScenario(6, 1, 1, 2, stop=2, again=2)
    yield LoopScenario(8, 2, 2, 3, asked=_VALIDATED, stop=1, again=2)
    # At the end of an epoch, behind its rest and of the last one, before its validation.
    for stop in (6, 7, 14):
        yield LoopScenario(7, 1, 3, 2, asked=_VALIDATED, stop=stop)
    for stop in (4, 12):
        yield LoopScenario(8, 2, 2, 3, asked=_VALIDATED, stop=stop)
    yield LoopScenario(6, 1, 1, 2, asked=_VALIDATED, stop=2, again=2)


def _runs(lane: Lane, scenario: LoopScenario) -> Iterator[Run]:
    plain = replace(scenario, stop=0, again=0)
    whole = Task("conformance.loops.run", plain, 0, tuple(range(scenario.epochs)), USUAL_STATE)
    yield Run("main", lane.run([whole]))
    task = whole
    for life, stop in enumerate([*scenario.stops, 0] if scenario.stop else []):
        # A job that is started again is another process, and finds random numbers anywhere.
        run = Run(_life(life), lane.run([replace(task, scenario=replace(plain, stop=stop))], life % 2))
        yield run
        if not run.saved:
            return
        task = replace(whole, random_seed=ANOTHER_STATE, saved=run.saved)


def _life(number: int) -> str:
    return judges.STOPPED if number == 0 else f"{judges.RESUMED} {number}"


def _simplified(scenario: LoopScenario, violates: Callable[[LoopScenario], bool]) -> LoopScenario:
    words = [word for word in ASKED if word in scenario.asked]
    scenario = in_fewer_words(scenario, words, lambda each, word: replace(each, asked=each.asked - {word}), violates)
    plainer: tuple[dict[str, Any], ...] = ({"seed": 0}, {"stop": 0, "again": 0}, {"again": 0})
    for other in plainer:
        scenario = replace(scenario, **other) if violates(replace(scenario, **other)) else scenario
    stops = tuple(name for name in ("stop", "again") if getattr(scenario, name))
    # Several stops in one epoch may be as many in a smaller one, once the first is earlier.
    earlier = stops if scenario.again else ()
    return smallest_numbers(scenario, (*earlier, "epochs", "batch_size", "accumulation", "samples", *stops), violates)


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
