"""How often a clause must be exercised follows the tier, and what there is to try at it."""

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Claims
from conformance.trial.floors import floor_of
from conformance.trial.tiers import TIERS


@pytest.mark.parametrize(("tier", "floor"), [("quick", 5), ("gate", 100), ("deep", 100)])
def test_the_deep_tier_asks_for_no_more_than_the_gate(tier: str, floor: int) -> None:
    """Of many clauses it has no more cases, for they are listed, or drawn for some claims alone."""
    assert floor == floor_of(CLAUSES["PART-1"], TIERS[tier], Claims())


def test_less_is_asked_where_less_can_be_tried() -> None:
    """A loader without ranks has half of the cases, and one whose workers take long to start a few."""
    gate = TIERS["gate"]
    assert 50 == floor_of(CLAUSES["PART-1"], gate, Claims(without=("ranks",)))
    assert 5 == floor_of(CLAUSES["PART-1"], gate, Claims(), is_short=True)
