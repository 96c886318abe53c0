"""The families of chapter 11 that are about how many samples come, and how often: equal steps, and drawn samples."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.runs import runs
from conformance.loader.scenario import Scenario, from_code, may_fail, within
from conformance.reach import alone, drawn_draws, drawn_endless, drawn_equal, draws, endless, equal, once, scenario
from conformance.reach.scenario import steps_to_read
from conformance.reach.script import SCRIPTING
from conformance.reach.smaller import smaller
from conformance.trial.family import Family
from conformance.trial.words import place_of

CHAPTERS = ("EQUAL", "DRAW", "ALONE", "PEEK", "ENDLESS")
# Imported, so that they register their clauses and conducts.
JUDGES = (equal, draws, once, alone, endless)
CONDUCTS = scenario


def _within(scenario: Scenario, claims: Claims) -> Scenario | None:
    """None too for a kind of dataset that the loader does not read: a smaller case may not be one of another kind."""
    return within(scenario, claims) if scenario.dataset in claims.datasets else None


def _within_draws(scenario: Scenario, claims: Claims) -> Scenario | None:
    """None too without a shuffle: nothing is drawn then."""
    return _within(scenario, claims) if scenario.shuffle else None


def _within_endless(scenario: Scenario, claims: Claims) -> Scenario | None:
    """None too without a conduct that knows no end, and for a state behind the last step that is read."""
    if scenario.conduct == "endless":
        return _within(scenario, claims)
    if not scenario.conduct.startswith("stopped@"):
        return None
    nearest = _within(scenario, claims)
    return nearest if nearest and place_of(nearest.conduct) < max(1, steps_to_read(nearest)) else None


def _equal_promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if "EQUAL-1" in held:
        yield "equal steps on every rank, whatever the policy"


def _draw_promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"DRAW-1", "DRAW-3", "DRAW-4", "DRAW-5"} <= held:
        weighed = ", by weight" if "DRAW-2" in held else ""
        yield f"draws with replacement{weighed}, the same per (seed, epoch), other samples on each rank"


def _endless_notes(claims: Claims) -> Iterator[str]:
    if claims.is_endless:
        yield 'epochs="endless" is claimed: what is said of epochs that end (chapters 1 to 5, 9 and 10) was not judged'


def _endless_promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if {"ENDLESS-1", "ENDLESS-2"} <= held:
        yield "never ends, and covers the dataset in each pass" + (
            "; resumes at any step" if "ENDLESS-4" in held else ""
        )


FAMILIES = (
    Family(
        "equal",
        from_code,
        runs,
        drawn_equal.a_few_equals,
        {"quick": 6, "gate": 40, "deep": 1000},
        drawn_equal.equal,
        smaller,
        may_fail=may_fail,
        within=_within,
        promises=_equal_promises,
        scripting=SCRIPTING,
    ),
    Family(
        "draws",
        from_code,
        runs,
        drawn_draws.many_draws,
        {"quick": 10, "gate": 80, "deep": 1000},
        drawn_draws.draws,
        smaller,
        # Draws that come round again stray from their weights.
        hides={"DRAW-3": ("DRAW-2", "DRAW-4")},
        may_fail=may_fail,
        within=_within_draws,
        promises=_draw_promises,
        scripting=SCRIPTING,
    ),
    Family(
        "endless",
        from_code,
        drawn_endless.endless_runs,
        drawn_endless.a_few_passes,
        {"quick": 10, "gate": 60, "deep": 1000},
        drawn_endless.passes,
        smaller,
        may_fail=lambda scenario, claims: may_fail(scenario, claims) or endless.gives_nothing(scenario),
        within=_within_endless,
        notes=_endless_notes,
        promises=_endless_promises,
        scripting=SCRIPTING,
    ),
    Family("alone", from_code, runs, alone.launched, may_fail=may_fail, within=_within, scripting=SCRIPTING),
    Family("peek", from_code, runs, alone.peeking, may_fail=may_fail, within=_within, scripting=SCRIPTING),
)
