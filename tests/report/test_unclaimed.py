"""A clause that is not claimed is shown with the claims that would add it, found by asking the clause itself."""

from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import CHOICES, VALUES, Claims, parse_claims
from conformance.report.unclaimed import missing_claims, unclaimed_line

ITERABLE = Claims(datasets=("iterable",), iterable_workers="split")


@pytest.mark.parametrize(
    ("clause", "claims", "expected"),
    [
        ("WORK-1", Claims(), ("workers",)),
        ("ORDER-5", Claims(), ("shuffle",)),
        ("ORDER-12", Claims(), ('shuffle="global"',)),
        ("PART-4", Claims(when_keeping="uneven"), ('when_dropping="pad"',)),
        ("COUNT-3", Claims(), ("when_dropping", "device_options")),
        ("ERROR-7", Claims(workers=True), ('"timeout" in hooks',)),
        ("WORK-16", Claims(aliases=True), ("aliases=False",)),
        ("ORDER-1", Claims(in_order=False), ("in_order",)),
        ("ERROR-1", Claims(errors="skip"), ('errors="raise"',)),
        ("WORK-5", Claims(), ('"iterable" in datasets',)),
        ("PART-1", ITERABLE, ('"map" in datasets', "more")),
    ],
)
def test_the_missing_claims(clause: str, claims: Claims, expected: tuple[str, ...]) -> None:
    """Claims are written as in an adapter; a value is named where not every one will do."""
    assert expected == missing_claims(CLAUSES[clause], claims)


def test_clauses_stand_in_groups() -> None:
    """Clauses that one claim would add stand together, and three or more in a row as one."""
    ids = ["WORK-11", "WORK-1", "WORK-2", "PART-8", "WORK-9", "WORK-10"]
    claims = Claims(when_dropping="drop")
    assert 'PART-8 (shuffle="global"); WORK-1, WORK-2, WORK-9 to WORK-11 (workers)' == unclaimed_line(ids, claims)


@pytest.mark.parametrize("claims", [Claims(), ITERABLE, Claims(errors="skip", in_order=False, aliases=True)])
def test_every_clause_can_be_claimed(claims: Claims) -> None:
    """There is no clause of which the report knows no way to it."""
    unclaimed = [clause for clause in CLAUSES.values() if not clause.applies(claims)]
    assert [] == [clause.id for clause in unclaimed if not missing_claims(clause, claims)]


def test_every_claim_is_tried() -> None:
    """All fields of the claims are known here, so a new one is tried as well."""
    everything: dict[str, Any] = {**VALUES, **CHOICES}
    assert set(everything) == set(parse_claims({}).as_dict())
