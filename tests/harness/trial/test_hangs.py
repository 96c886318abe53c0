"""Loaders that hang: what they cost in seconds of waiting, and that other verdicts do not depend on it."""

import threading
import time
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.processes.fleet import Fleet
from conformance.processes.hangs import Hangs, TimeIsOver
from conformance.processes.sources import source_of
from conformance.processes.task import Task
from conformance.trial.campaign import Campaign
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from conformance.trial.tiers import TIERS
from conformance.trial.unjudged import UNSHRUNK
from tests.harness import plain_loader

EVERYTHING = dict(
    plain_loader.claims, datasets=("map", "iterable"), iterable_workers="split", asynchronous=True, resume=True,
    hooks=("collate_fn", "worker_init_fn", "timeout", "persistent_workers"),
)  # fmt: skip
PATIENCE = 0.5


def hangs_everywhere(request: Any) -> Any:
    """A loader that answers in the one case that tests the adapter, and never again."""
    sample = getattr(request.dataset, "__getitem__", None)
    if sample and (len(request.dataset), request.batch_size, request.num_workers) == (4, 2, 0):
        return [[sample(0), sample(1)], [sample(2), sample(3)]]
    threading.Event().wait()
    return []


def judged(claims: dict[str, Any]) -> tuple[Report, Hangs]:
    """The report over that loader at the quick tier, with a short patience, and what its hangs took."""
    source, name = source_of(hangs_everywhere, claims)
    with Session(source, name, Options(tier="quick", patience=PATIENCE)) as session:
        return session.report(), session.fleet.hangs


@pytest.fixture(scope="module")
def report() -> Report:
    """The report over that loader where it promises little."""
    return judged(plain_loader.claims)[0]


@pytest.mark.deep
def test_what_hangs_everywhere_costs_a_few_times_the_patience() -> None:
    """The first family spends what a tier has for hangs; each lane of the others meets one hang, and gives up."""
    tier, hangs = TIERS["quick"], judged(EVERYTHING)[1]
    first = tier.hangs + 1 + 6 + tier.again
    families = len({clause.family for clause in CLAUSES.values()})
    assert hangs.number <= first + 2 * families + 2 * 6 + 1


def test_the_smallest_case_of_a_hang_is_found_all_the_same(report: Report) -> None:
    """What is reported has hung again in new processes, for the whole patience."""
    case = report.outcome("COUNT-7").case
    assert case is not None
    assert "n1,w1,b1,keep,shuffle" == case.scenario.code


def test_what_was_not_tried_is_told(report: Report) -> None:
    """No clause holds by what nobody looked at, and the note says how many cases were not tried."""
    assert {"VIOLATED", "NOT EXERCISED", "NOT CLAIMED"} >= {each.status for each in report.outcomes}
    assert "cases of its family were not tried, after hangs" in report.outcome("PART-2").note


def test_later_hangs_are_waited_for_less() -> None:
    """Two have the whole patience; then a part of it, unless the loader is slow, or the case is to be reported."""
    hangs = Hangs()
    assert 10 == hangs.patience(10)
    for _ in range(2):
        hangs.note(10, hung=True)
    assert (2, 0.5) == (hangs.patience(10), hangs.patience(0.5))
    hangs.note(1.5, hung=False)
    assert 6 == hangs.patience(10)
    hangs.whole = True
    assert 10 == hangs.patience(10)


def test_a_time_limit_ends_a_run_with_the_verdicts_so_far() -> None:
    """What was not tried is NOT EXERCISED, with the limit; the families before it are judged."""
    source, name = source_of(plain_loader.load, plain_loader.claims)
    with Session(source, name, Options(tier="quick", time_limit=1e-9)) as session:
        outcome = session.outcome(CLAUSES["PART-1"])
        assert ("NOT EXERCISED", "not tried: the time limit of 1e-09 s was reached") == (outcome.status, outcome.note)
    with Session(source, name, Options(tier="quick", time_limit=3600)) as session:
        before = session.outcome(CLAUSES["PART-1"])
        session._began -= 7200
        assert ("HOLDS", "HOLDS") == (before.status, session.outcome(CLAUSES["PART-2"]).status)
        assert "NOT EXERCISED" == session.outcome(CLAUSES["WORK-1"]).status


def test_what_has_hung_is_seen_again_within_the_time_and_not_made_smaller() -> None:
    """Nothing more is tried once the time that is left is needed for that, and the outcome says so."""
    source, name = source_of(hangs_everywhere, EVERYTHING)
    with Session(source, name, Options(tier="quick", patience=PATIENCE, time_limit=3600)) as session:
        session._left = lambda: PATIENCE / 2  # type: ignore[method-assign]
        outcome = session.outcome(CLAUSES["COUNT-7"])
        assert ("VIOLATED", UNSHRUNK, 2) == (outcome.status, outcome.note, session.fleet.hangs.number)


def test_what_was_not_seen_again_in_time_is_not_accused() -> None:
    """It was violated once, and the outcome says in which case."""
    source, _ = source_of(lambda request: [], dict(when_keeping="uneven"))
    with Fleet(source, PATIENCE) as fleet:
        campaign = Campaign(fleet, fleet.claims, "map", TIERS["quick"], examples=5)
        result, violated = campaign.look({})
        assert "PART-2" in violated
        fleet.hangs.end, campaign.left = 0.0, lambda: 0.0
        campaign.confirm(CLAUSES["PART-2"], frozenset(), result)
        assert ({}, {"PART-2"}, {"PART-2"}) == (result.cases, {*result.too_late}, result.unshrunk)


def test_a_task_is_cut_off_at_the_end_of_a_run() -> None:
    """Nothing is known of it then: it has not hung."""
    source, _ = source_of(hangs_everywhere, EVERYTHING)
    with Fleet(source, 60.0) as fleet:
        task = Task("tests.harness.trial.staged", None, 0, (0,))
        fleet.hangs.end = time.monotonic() + 0.01
        with pytest.raises(TimeIsOver):
            fleet.lanes[0].run([task])
        assert (0, {}) == (fleet.hangs.number, fleet.lanes[0]._members)


def test_a_stage_has_a_patience_of_its_own() -> None:
    """A run in stages may take longer than one patience, and a stage that was told to wait longer than its own."""
    source, _ = source_of(plain_loader.load, plain_loader.claims)
    with Fleet(source, 1.0) as fleet:
        task = Task("tests.harness.trial.staged", None, 0, (0,))
        (run,) = fleet.lanes[0].run([task], patience=60, stage=1.0)
        assert None is run.failure
        (run,) = fleet.lanes[0].run([task], patience=1.0)
        assert run.failure is not None
        assert "hung" == run.failure.kind
