"""The title of a loader: epochs that a restart cut in two are one, and a size is that of all ranks."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, start, whole
from tests.harness.audit.test_restarts import A, B, C, begun, starts


@pytest.mark.parametrize(
    ("of", "epochs"),
    [
        ([[whole(A), begun(B, 3)], [whole(B[3:]), whole(C)]], "2 epochs seen whole, 1 over a restart"),
        ([[begun(A, 3)], [begun(A[3:], 3)], [whole(A[6:])]], "1 epoch over restarts"),
        ([[whole(A)], [whole(B)]], "2 epochs seen whole in 2 starts"),
        ([[whole(A), begun(B, 3)]], "1 epoch seen whole, 1 in part"),
        ([[begun(B, 3)]], "1 epoch seen in part"),
    ],
)
def test_an_epoch_that_was_cut_in_two_counts_once(tmp_path: Path, of: list[Any], epochs: str) -> None:
    """It is neither whole nor in part."""
    assert f"DataLoader   40 samples, 1 rank, {epochs}" == audited(starts(tmp_path, *of)).groups[0].title


def test_what_a_restart_took_up_is_not_said_to_be_unjudged(tmp_path: Path) -> None:
    """What did not come is missing, or not, with what the restart had."""
    (group,) = audited(starts(tmp_path, [begun(A, 3)], [whole(A[4:])])).groups
    assert ["the restart skipped 4 samples of epoch 0"] == [each.sentence for each in group.findings]
    (note,) = [each.sentence for each in group.notes if each.key.startswith("not-whole")]
    assert "left by the loop after 3 steps in epoch 0: a restart took it up again" == note


def test_subsets_that_differ_by_rank_are_counted_together(tmp_path: Path) -> None:
    """Each rank evaluates its own part."""
    for rank in range(2):
        part = {"subset": 10 + rank, "subset_print": f"p{rank}"}
        steps = cut(range(10 * rank, 10 + 11 * rank), 4)
        start(tmp_path, [whole(steps, no_grad=True)], rank, 2, length=40, **part)
    assert "21 different samples, 2 ranks" in audited(tmp_path).groups[0].title
