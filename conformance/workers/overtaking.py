"""Whether steps come as workers finish them, though the loader promises them in order: decides it without chance.

Such a loader is right or wrong in any scenario as its workers happen to be scheduled, so it is held up where it can't
be right: one sample takes half a second, and the worker of the others has nothing to wait for.
"""

from conformance.contract import Claims
from conformance.loader.judging import usable
from conformance.loader.runs import run, usual
from conformance.loader.scenario import Scenario
from conformance.processes.lane import Lane
from conformance.trial.family import Refutation

_SAMPLES, _WORKERS = 3, 2


def refuted(lane: Lane, claims: Claims) -> Refutation[Scenario] | None:
    """The case in which steps overtake a slow one, where another slow one has them come in another order."""
    if not claims.workers or not claims.in_order or "map" not in claims.datasets:
        return None
    with_first_late = _late(0)
    came = _steps(lane, with_first_late)
    if not came or came == (plain := _steps(lane, Scenario(_SAMPLES))) or sorted(came) != sorted(plain):
        return None
    # A wrong order that is always the same is no chance.
    if came == _steps(lane, _late(_SAMPLES - 1)):
        return None
    return Refutation(
        with_first_late,
        {"in_order": False},
        "steps come as workers finish them (ORDER-8), so all other clauses are judged as with in_order=False claimed: "
        "what they would say of the order would be chance",
    )


def _late(place: int) -> Scenario:
    return Scenario(_SAMPLES, num_workers=_WORKERS, fault=f"slow@{place}", variant="workers")


def _steps(lane: Lane, scenario: Scenario) -> tuple[tuple[int, ...], ...]:
    """What one rank delivers; nothing if it fails."""
    made = run(lane, "main", usual(scenario))
    return made.ranks[0].epochs[0].steps if usable(made) else ()
