"""Loops that begin an epoch for each batch: one batch again and again is told, and a look at a loader is not."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole
from tests.harness.audit.test_samples import order

A, B, C = (cut(order(40, seed), 4) for seed in range(3))


def first(steps: list[list[int]], times: int = 1, **facts: Any) -> list[dict[str, Any]]:
    """Epochs that are left after their first step."""
    return [whole(steps[:1], how="left", **facts)] * times


@pytest.mark.parametrize(
    ("epochs", "sentence"),
    [
        (first(A, 6), "left 6 times after 1 step; the same 4 samples each time: next(iter(loader)) begins again"),
        (
            first(A, 5, set_epoch=0) + first(B, 5, set_epoch=1) + first(C, 5, set_epoch=2),
            "left 15 times after 1 step; 3 batches in all, one of them 5 times (11 of 40 samples)",
        ),
    ],
)
@pytest.mark.parametrize("ranks", [1, 2])
def test_one_batch_that_comes_each_time_is_told(
    tmp_path: Path, epochs: list[dict[str, Any]], sentence: str, ranks: int
) -> None:
    """Whether it is trained on, no record knows."""
    parts = [[{**each, "steps": [each["steps"][0][rank::ranks]]} for each in epochs] for rank in range(ranks)]
    verdict = audited(job(tmp_path, parts, length=40, batch_size=4 // ranks))
    assert [] == found(verdict)
    (note,) = [note for note in verdict.groups[0].notes if note.key == "first-batch"]
    assert sentence in note.sentence


@pytest.mark.parametrize(
    "epochs",
    [
        pytest.param([each for seed in range(12) for each in first(cut(order(40, seed), 4))], id="another-each-time"),
        pytest.param(first(A, 3), id="a-few-looks"),
        pytest.param(first(A, 9, no_grad=True), id="an-evaluation"),
        pytest.param([*first(A), *[whole(A), whole(B), whole(C)]], id="a-look-before-the-training"),
    ],
)
def test_a_look_at_a_loader_is_not_told_so(tmp_path: Path, epochs: list[dict[str, Any]]) -> None:
    """Nor are batches that differ."""
    assert "first-batch" not in told(audited(job(tmp_path, [epochs], length=40, batch_size=4)))


def test_a_look_in_each_start_is_not_told_so(tmp_path: Path) -> None:
    """A job that is restarted looks again."""
    for _ in range(5):
        start(tmp_path, [*first(A), whole(B)], length=40, batch_size=4)
    assert "first-batch" not in told(audited(tmp_path))
