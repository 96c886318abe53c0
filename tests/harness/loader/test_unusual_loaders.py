"""A correct loader of an unusual but allowed kind is not accused."""

from typing import Any

import pytest

from conformance import check
from conformance.clauses import CLAUSES
from conformance.processes.sources import source_of
from conformance.trial.known import parse_case
from conformance.trial.session import Options, Session
from tests.deep import deep_where
from tests.harness.loader.reconsidered_loaders import RECONSIDERED, TakesByTime
from tests.harness.loader.unusual_loaders import UNUSUAL


@pytest.mark.parametrize("name", deep_where(lambda name: name not in ("Buffers", "PadsRuns"), UNUSUAL, str))
def test_an_unusual_loader_is_not_accused(name: str) -> None:
    """Every clause that is owed holds, or is not exercised at so few examples; none is violated."""
    kind = UNUSUAL[name]
    report = check(lambda request: kind(request), kind.claims, tier="quick")
    assert {} == {outcome.clause: outcome.case for outcome in report.outcomes if outcome.case is not None}
    assert {"HOLDS", "NOT CLAIMED"} >= {outcome.status for outcome in report.outcomes}


@pytest.mark.parametrize("kind", RECONSIDERED, ids=lambda kind: kind.__name__)
def test_a_loader_that_was_accused_once_is_not_any_more(kind: Any) -> None:
    """The clauses that are about it hold, and could have failed."""
    source, name = source_of(lambda request: kind(request), kind.claims)
    with Session(source, name, Options(tier="quick")) as session:
        outcomes = session.report([CLAUSES[clause] for clause in kind.clauses]).outcomes
    assert {} == {each.clause: (each.status, each.case) for each in outcomes if each.status != "HOLDS"}


@pytest.mark.parametrize(
    ("case", "assignment", "status"),
    [
        ("PART-7-n5,w2,b2,keep,after", "dynamic", "HOLDS"),
        ("PART-7-n5,w2,b2,keep,after", "static", "VIOLATED"),
        ("ORDER-5-n5,w2,b2,keep,shuffle,after", "dynamic", "HOLDS"),
    ],
)
def test_ranks_that_share_a_queue_are_compared_together(case: str, assignment: str, status: str) -> None:
    """Which rank has a sample may change from run to run, if that is claimed; what all have together may not."""
    source, name = source_of(lambda request: TakesByTime(request), {**TakesByTime.claims, "assignment": assignment})
    with Session(source, name, Options(case=parse_case(case))) as session:
        (outcome,) = session.report().outcomes
    assert status == outcome.status
