"""What depends on chance is judged in one case that leaves nothing to it, and elsewhere not at all."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Implementation, parse_claims
from conformance.loader.scenario import Scenario
from conformance.processes.sources import ForkedSource
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from conformance.workers import overtaking
from tests.harness import plain_loader

CLAIMS = parse_claims(plain_loader.claims)
CASE = "ORDER-8-n3,w1,b1,keep,k2,slow@0,workers"
KNOWN = {"ORDER-8": {"case": CASE, "reason": "steps come as they are ready"}}
# Which of them a loader violates whose steps overtake each other is chance.
ASKED = ("ORDER-8", "WORK-12", "WORK-13", "ERROR-2")


class InOrder(plain_loader.PlainLoader):
    """Threads read ahead, and the steps come in their order."""

    def __iter__(self) -> Iterator[list[int]]:
        if not self.request.num_workers:
            yield from super().__iter__()
            return
        size, shard = self.request.batch_size, self.shard()
        with ThreadPoolExecutor(self.request.num_workers) as pool:
            begun = [pool.submit(self.read, shard[at * size : at * size + size]) for at in range(len(self))]
            for each in self.arranged(begun):
                yield each.result()

    def read(self, indices: list[int]) -> list[int]:
        """The samples of a step."""
        return [self.request.dataset[index] for index in indices]

    def arranged(self, begun: list[Future[list[int]]]) -> Iterator[Future[list[int]]]:
        """The steps in the order in which they come."""
        return iter(begun)


class AsReady(InOrder):
    """The same, and each step comes as soon as it is read."""

    def arranged(self, begun: list[Future[list[int]]]) -> Iterator[Future[list[int]]]:
        return as_completed(begun)


class LastFirst(InOrder):
    """The same, and the last step always comes first."""

    def arranged(self, begun: list[Future[list[int]]]) -> Iterator[Future[list[int]]]:
        return iter([*begun[-1:], *begun[:-1]])


def session_of(load: Any, known: Any = None) -> Session:
    """A quick run on a loader, not begun."""
    source = ForkedSource(Implementation("mine", load, CLAIMS))
    return Session(source, "mine", Options(tier="quick", known=known or {}))


def report_of(load: Any, known: Any = None) -> Report:
    """What it says of the clauses about order."""
    with session_of(load, known) as session:
        return session.report([CLAUSES[clause] for clause in ASKED])


@pytest.mark.parametrize(("load", "expected"), [(InOrder, False), (AsReady, True), (LastFirst, False)])
def test_only_an_order_that_time_decides_is_refuted(load: type[InOrder], expected: bool) -> None:
    """A wrong order that is always the same is judged as it is everywhere."""
    with session_of(load) as session:
        found = overtaking.refuted(session.fleet.lanes[0], CLAIMS)
    assert expected == (found is not None)


@pytest.fixture(scope="module")
def by_time() -> Report:
    """What is said of a loader whose steps come as they are ready."""
    return report_of(AsReady)


def test_the_clause_accuses_in_the_case_of_the_look(by_time: Report) -> None:
    """The case shows step 0, which takes long, after those that overtook it."""
    outcome = by_time.outcome("ORDER-8")
    assert outcome.case is not None
    assert ("VIOLATED", CASE) == (outcome.status, outcome.case.id)
    assert outcome.case.finding.delivered[0].endswith("1 | 2 | 0")


def test_others_judge_as_if_no_order_were_promised(by_time: Report) -> None:
    """Those that are about the order alone are not judged, and say why."""
    held = [by_time.outcome(clause).status for clause in ("WORK-12", "WORK-13")]
    assert ["HOLDS", "HOLDS"] == held
    unjudged = by_time.outcome("ERROR-2")
    assert "NOT CLAIMED" == unjudged.status
    assert unjudged.note.startswith("steps come as workers finish them (ORDER-8), so all other clauses")


def test_the_report_shows_the_claims_as_they_were_made(by_time: Report) -> None:
    """The author promised an order, and is told so."""
    assert (CLAIMS, False) == (by_time.claims, by_time.passed)


def test_a_known_order_by_time_leaves_the_run_green() -> None:
    """Whoever tolerates it is not told of it in other words."""
    report = report_of(AsReady, KNOWN)
    assert ["KNOWN", "HOLDS", "HOLDS", "NOT CLAIMED"] == [report.outcome(clause).status for clause in ASKED]
    assert report.passed


def test_an_order_that_is_always_wrong_is_accused_everywhere() -> None:
    """Nothing is chance there, so the clauses judge by what is promised."""
    report = report_of(LastFirst)
    assert {"ORDER-8", "ERROR-2"} <= {each.clause for each in report.outcomes if each.status == "VIOLATED"}


def test_a_single_case_is_judged_by_what_is_promised() -> None:
    """Nothing is looked at before it."""
    source = ForkedSource(Implementation("mine", AsReady, CLAIMS))
    case = ("ORDER-8", Scenario(3, num_workers=2, fault="slow@0", variant="workers"))
    with Session(source, "mine", Options(case=case)) as session:
        assert "VIOLATED" == session.report().outcome("ORDER-8").status
