"""What the families try, for tests that look at it."""

from typing import Any

from hypothesis.strategies import SearchStrategy

from conformance.clauses import FAMILIES
from conformance.contract import Claims
from conformance.trial.tiers import TIERS


def drawn(family: str, claims: Claims) -> SearchStrategy[Any]:
    """The strategy of a family."""
    found = FAMILIES[family].drawn
    assert found is not None
    strategy: SearchStrategy[Any] = found(claims)
    return strategy


def listed(family: str, claims: Claims, tier: str = "gate") -> list[Any]:
    """What a family always tries."""
    return list(FAMILIES[family].listed(claims, TIERS[tier]))
