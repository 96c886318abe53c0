"""A clause that could not be judged says why, and names the fault that is to blame."""

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Implementation, parse_claims
from conformance.loader.scenario import Scenario
from conformance.processes.sources import ForkedSource
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from conformance.trial.unjudged import not_again, too_seldom
from tests.harness import plain_loader

KNOWN = {"ERROR-1": {"case": "ERROR-1-n1,w1,b1,keep,raise@0", "reason": "errors are logged"}}
HIDDEN = ("ERROR-2", "WORK-14")


class Swallows(plain_loader.PlainLoader):
    """Leaves out a sample that raises, and says nothing."""

    def __iter__(self) -> Iterator[list[Any]]:
        for index in self.shard():
            try:
                sample = self.request.dataset[index]
            except BaseException:
                continue
            yield [sample]


@pytest.fixture(scope="module")
def swallowed() -> Report:
    """What is said of a loader that swallows errors."""
    return judged({})


def judged(known: dict[str, Any]) -> Report:
    """What the quick tier says of that loader about errors, given these known failures."""
    claims = parse_claims(plain_loader.claims)
    source = ForkedSource(Implementation("mine", Swallows, claims))
    with Session(source, "mine", Options(tier="quick", known=known)) as session:
        return session.report([CLAUSES[clause] for clause in ("ERROR-1", *HIDDEN)])


def test_a_swallowed_error_is_named_by_the_clauses_that_it_hides(swallowed: Report) -> None:
    """They are not judged, say why, and the run fails through ERROR-1 and through them."""
    assert "VIOLATED" == swallowed.outcome("ERROR-1").status
    for clause in HIDDEN:
        outcome = swallowed.outcome(clause)
        assert ("NOT EXERCISED", True) == (outcome.status, outcome.fails(strict=False))
        assert outcome.note.startswith("could not be judged because ERROR-1 is violated: 0 cases could have")
        assert outcome.note.endswith("fix ERROR-1 first")


def test_what_a_known_failure_hides_is_known() -> None:
    """Else no run would ever be green in which that fault is tolerated."""
    report = judged(KNOWN)
    assert ["KNOWN"] * 3 == [outcome.status for outcome in report.outcomes]
    assert report.passed
    assert "can't be judged while ERROR-1 is a known failure: errors are logged" == report.outcome("WORK-14").note


def test_a_known_failure_excuses_nothing_else() -> None:
    """A fault that hides no clause is no excuse for one that could not be judged."""
    known = {"ERROR-3": {"case": "ERROR-3-n1,w1,b1,keep,stop@0", "reason": "errors are logged"}}
    report = judged(known)
    assert ["NOT EXERCISED"] * 2 == [report.outcome(clause).status for clause in HIDDEN]


@pytest.mark.parametrize(
    ("exercised", "floor", "expected"),
    [(0, 1, "0 cases could have shown a fault, but 1 is needed"), (1, 3, "1 case could have shown a fault, but 3 are")],
)
def test_numbers_agree_with_their_verbs(exercised: int, floor: int, expected: str) -> None:
    """One case is needed, and three are."""
    assert too_seldom(CLAUSES["PART-1"], exercised, floor, ()).startswith(expected)


def test_a_loader_that_fails_is_to_blame_for_what_is_not_judged() -> None:
    """On a run that fails nothing but COUNT-6 or COUNT-7 is judged; on others PART-2 has no say about PART-1."""
    assert "because COUNT-7 is violated" in too_seldom(CLAUSES["PART-1"], 0, 4, {"COUNT-7", "PART-2"})
    assert "because" not in too_seldom(CLAUSES["PART-1"], 0, 4, {"PART-2"})
    assert "because" not in too_seldom(CLAUSES["COUNT-7"], 0, 4, {"COUNT-7"})
    assert "because ORDER-6 is violated" in too_seldom(CLAUSES["ORDER-14"], 0, 1, {"ORDER-6", "COUNT-7"})


def test_what_does_not_come_again_names_its_case() -> None:
    """A race and a loader that remembers look alike: neither is accused of the other, and the case can be replayed."""
    note = not_again(CLAUSES["PART-1"], Scenario(1, 2))
    assert "depends on chance (a race, the clock) or on what its process had loaded before" in note
    assert note.endswith("--case=PART-1-n1,w2,b1,keep")
