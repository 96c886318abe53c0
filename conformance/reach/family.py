"""The families of chapter 11 that are about how many samples come, and how often: ranks with equal steps."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.loader.runs import runs
from conformance.loader.scenario import CONDUCTS, Scenario, from_code, may_fail, within
from conformance.reach import drawn_equal, equal, scenario
from conformance.reach.smaller import smaller
from conformance.trial.family import Family

CHAPTERS = ("EQUAL",)
# Imported, so that they register their clauses.
JUDGES = (equal,)

CONDUCTS.update(scenario.CONDUCTS)


def _within(scenario: Scenario, claims: Claims) -> Scenario | None:
    """None too for a kind of dataset that the loader does not read: a smaller case may not be one of another kind."""
    return within(scenario, claims) if scenario.dataset in claims.datasets else None


def _equal_promises(claims: Claims, held: frozenset[str]) -> Iterator[str]:
    if "EQUAL-1" in held:
        yield "equal steps on every rank, whatever the policy"


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
    ),
)
