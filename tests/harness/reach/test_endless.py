"""Loaders without an end: how passes are cut, and which clauses bind whom."""

from typing import Any

import pytest
from hypothesis import given

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims, parse_claims
from conformance.loader.scenario import Scenario, from_code, simpler
from conformance.reach import endless
from conformance.reach.scenario import steps_to_read
from conformance.trace import Epoch, RankRun, Run, Trace
from tests.harness.tried import drawn, listed

CLAIMS = parse_claims(dict(epochs="endless", shuffle="global", resume=True, datasets=("map", "iterable")))
OF_THREE = Scenario(3, 2, epochs=2, conduct="endless")
OF_FIVE = Scenario(5, 1, 2, epochs=2, conduct="endless")


def kinds(scenario: Scenario, claims: Claims, *ranks: list[Any], judge: Any = endless.passes_cover) -> list[str]:
    """The kinds of finding in what the ranks delivered, step by step."""
    runs = (RankRun(at, (Epoch(0, tuple(map(tuple, steps)), left=True),)) for at, steps in enumerate(ranks))
    return [finding.kind for finding in judge(scenario, claims, Trace(scenario, (Run("main", tuple(runs)),))) or []]


@pytest.mark.parametrize(
    ("steps", "policy", "expected"),
    [
        ([[0, 1], [2, 3], [4], [4, 3], [2, 1], [0]], "uneven", []),  # a short step at the end of each pass
        ([[0, 1], [2, 3], [4, 4], [3, 2], [1, 0], [0, 1]], "uneven", []),  # steps that hold an end and a beginning
        ([[0, 1], [2, 3], [0, 1], [2, 3], [0, 1], [2, 3]], "uneven", ["passes"]),  # the rest is lost
        ([[0, 1], [2, 3], [4, 0], [1, 2], [3, 4], [0, 1]], "pad", []),  # in one stream
        ([[0, 1], [2, 3], [4, 0], [0, 1], [2, 3], [4, 0]], "pad", []),  # filled up
        ([[0, 1], [2, 3], [4, 0], [0, 1], [2, 3], [4, 0]], "uneven", ["passes"]),
        ([[0, 1], [2, 2], [4], [4, 3], [2, 1], [0]], "uneven", ["passes"]),
    ],
)
def test_a_pass_may_be_cut_in_any_way_that_makes_it_right(steps: Any, policy: Any, expected: list[str]) -> None:
    """Two passes of five samples, in steps of two, on one rank."""
    assert expected == kinds(OF_FIVE, Claims(epochs="endless", when_keeping=policy), steps)


def test_ranks_are_at_one_pass() -> None:
    """One stream, dealt out in turn, is right; shards of two samples and of one, gone round alone, are not."""
    claims = Claims(epochs="endless", when_keeping="uneven")
    assert [] == kinds(OF_THREE, claims, [[0], [2], [1], [0]], [[1], [0], [2], [1]])
    assert ["passes"] == kinds(OF_THREE, claims, [[0], [2], [0], [2]], [[1], [1], [1], [1]])


def test_what_ends_is_seen() -> None:
    """As many steps are read as two passes have; of fewer samples than ranks nothing can be asked."""
    claims = Claims(epochs="endless")
    judge = endless.goes_on
    assert 4 == steps_to_read(OF_THREE)
    assert ["ended"] == kinds(OF_THREE, claims, [[0], [2], [1], [0]], [[1], [0], [2]], judge=judge)
    assert ["step-size"] == kinds(OF_THREE, claims, [[0], [2], [1], [0]], [[1], [0], [2], []], judge=judge)
    assert [] == kinds(simpler(OF_THREE, samples=1), claims, [[0], [0]], [], judge=judge)


def test_clauses_of_epochs_that_end_bind_nobody_else() -> None:
    """Of a loader without an end its own clauses are judged, and of others those are not; the report says so."""
    of_loaders = [clause for clause in CLAUSES.values() if clause.applies(CLAIMS)]
    assert {"ENDLESS"} == {clause.id.partition("-")[0] for clause in of_loaders}
    assert not any(clause.applies(Claims()) for clause in CLAUSES.values() if clause.id.startswith("ENDLESS"))
    assert any("endless" in note for note in FAMILIES["endless"].notes(CLAIMS))


def test_the_code_of_a_listed_scenario_reads_back() -> None:
    """Whatever is listed is replayed by its code alone."""
    scenarios = listed("endless", CLAIMS)
    assert scenarios == [from_code(scenario.code) for scenario in scenarios]


@given(drawn("endless", CLAIMS))
def test_a_state_is_taken_within_what_is_read(scenario: Scenario) -> None:
    """Before a step that is read; and whatever is drawn is replayed by its code alone."""
    assert scenario == from_code(scenario.code)
    assert scenario == FAMILIES["endless"].within(scenario, CLAIMS)
