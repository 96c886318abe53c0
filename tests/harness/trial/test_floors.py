"""How often a clause must be exercised follows the tier, and what there is to try at it."""

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Claims
from conformance.trial.floors import floor_of
from conformance.trial.tiers import TIERS


@pytest.mark.parametrize(
    ("clause", "quick", "gate", "deep"),
    [
        pytest.param("PART-1", 5, 100, 1000, id="drawn"),
        pytest.param("ASYNC-11", 1, 3, 3, id="listed-beside-others-that-are-drawn"),
        pytest.param("RESUME-12", 1, 1, 1, id="of-which-one-case-is-listed"),
        pytest.param("LAUNCH-9", 1, 3, 3, id="in-a-family-that-is-listed"),
    ],
)
def test_a_higher_tier_asks_for_more_of_what_is_drawn(clause: str, quick: int, gate: int, deep: int) -> None:
    """What is listed is as much at every tier above the gate as there."""
    asked = [floor_of(CLAUSES[clause], TIERS[tier], Claims()) for tier in ("quick", "gate", "deep")]
    assert [quick, gate, deep] == asked


def test_less_is_asked_where_less_can_be_tried() -> None:
    """A loader without ranks has half of the cases, and one whose workers take long to start a few."""
    gate = TIERS["gate"]
    assert 50 == floor_of(CLAUSES["PART-1"], gate, Claims(without=("ranks",)))
    assert 5 == floor_of(CLAUSES["PART-1"], gate, Claims(), is_short=True)
