"""A correct loader of an unusual but allowed kind is not accused."""

import pytest

from conformance import check
from tests.harness.loader.unusual_loaders import UNUSUAL


@pytest.mark.parametrize("name", UNUSUAL)
def test_an_unusual_loader_is_not_accused(name: str) -> None:
    """Every clause that is owed holds, or is not exercised at so few examples; none is violated."""
    kind = UNUSUAL[name]
    report = check(lambda request: kind(request), kind.claims, tier="quick")
    assert {} == {outcome.clause: outcome.case for outcome in report.outcomes if outcome.case is not None}
    assert {"HOLDS", "NOT CLAIMED"} >= {outcome.status for outcome in report.outcomes}
