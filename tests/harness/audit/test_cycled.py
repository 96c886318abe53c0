"""Batches that itertools.cycle gives again: a finding where they were shuffled, else a note."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole

SHUFFLED = cut([3, 0, 5, 1, 4, 2], 2)


@pytest.mark.parametrize(
    ("steps", "loader", "facts", "accused"),
    [
        pytest.param(SHUFFLED, {}, {"cycled": True}, True, id="shuffled"),
        pytest.param(SHUFFLED, {}, {}, False, id="read-by-a-loop"),
        pytest.param(cut(range(6), 2), {}, {"cycled": True}, False, id="in-order"),
        pytest.param(SHUFFLED, {"kind": "iterable"}, {"cycled": True}, False, id="a-stream"),
        pytest.param(SHUFFLED, {}, {"cycled": True, "no_grad": True}, False, id="an-evaluation"),
    ],
)
def test_a_shuffled_loader_in_cycle_is_found(
    tmp_path: Path, steps: Any, loader: dict[str, Any], facts: dict[str, Any], accused: bool
) -> None:
    """Its later passes have the first one's order; of what is not shuffled it is only told."""
    verdict = audited(job(tmp_path, [[whole(steps, **facts)]], length=6, **loader))
    assert [("ORDER-6", "cycled")] * accused == found(verdict)
    assert ("cycled" in told(verdict)) == (bool(facts.get("cycled")) and not accused)
