"""Restarts that deliver again what had come: how far back is told, and nothing that no record knows."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import Steps, audited, cut, found, start, whole
from tests.harness.audit.test_samples import order

GOOD = "The loop before it ended without an error: had it stored its state then, nothing would have come again"


def ranks_of(epoch: int, n: int = 40, size: int = 2) -> list[Steps]:
    """The steps of each of two ranks, padded as torch's sampler does."""
    numbers = order(n, epoch)
    numbers += numbers[: n % 2]
    return [cut(numbers[rank::2], size) for rank in range(2)]


def restarted(folder: Path, parts: list[Steps], done: int, at: int, how: str = "left", **first: Any) -> str:
    """What is told of a job that ended after `done` steps, and whose restart begins at step `at`."""
    length = len({sample for steps in parts for step in steps for sample in step})
    for rank, steps in enumerate(parts):
        start(folder, [whole(steps[:done], how=how, **first)], rank, len(parts), length=length, close=bool(how))
    for rank, steps in enumerate(parts):
        start(folder, [whole(steps[at:])], rank, len(parts), length=length)
    verdict = audited(folder)
    assert [] == [clause for clause, _ in found(verdict) if clause != "COUNT-7"]
    (note,) = [note for note in verdict.groups[0].notes if note.key == "restart"]
    return note.sentence


@pytest.mark.parametrize(
    ("how", "ended"),
    [
        ("left", GOOD),
        ("error: ValueError: torn", "The start before it ended with an error of the loader"),
        ("crash: ValueError: nan", "The start before it ended with an exception"),
        ("", "The start before it has no end in the record, as one that is killed"),
    ],
)
def test_how_far_back_a_restart_went_is_told_in_steps(tmp_path: Path, how: str, ended: str) -> None:
    """No record knows when a state was stored: what it hangs on is told, and how the start before ended."""
    back = "the restart in epoch 0 went back by 6 of the 8 steps of each rank (24 samples), and skipped none: right if"
    sentence = restarted(tmp_path, ranks_of(0), done=8, at=2, how=how)
    assert f"{back} the last checkpoint was made after the first 2 of them. {ended}" == sentence


def test_what_makes_ranks_equal_is_not_what_came_again(tmp_path: Path) -> None:
    """The first sample comes once more at the end of the epoch."""
    assert "by 2 of the 8 steps of each rank (8 samples)" in restarted(tmp_path, ranks_of(0, 39), done=8, at=6)


def test_a_checkpoint_that_counts_the_optimizers_steps_is_asked_for(tmp_path: Path) -> None:
    """The restart begins at the batch whose number is that of the optimizer's steps."""
    sentence = restarted(tmp_path, ranks_of(0), done=8, at=2, stepped=[4, 8])
    assert "its optimizer stepped every 4 batches, 2 times: does the checkpoint count these steps" in sentence
    assert "optimizer" not in restarted(tmp_path / "other", ranks_of(0), done=8, at=3, stepped=[4, 8])


def test_a_restart_that_goes_back_beyond_the_last_start_is_told_in_samples(tmp_path: Path) -> None:
    """Steps are those of one start."""
    steps = cut(order(40), 4)
    for part in (steps[:6], steps[6:8]):
        start(tmp_path, [whole(part, how="left")], length=40)
    start(tmp_path, [whole(steps[4:])], length=40)
    (*_, note) = [note for note in audited(tmp_path).groups[0].notes if note.key == "restart"]
    assert "went back by 16 samples, and skipped none: right if the last checkpoint was made there" in note.sentence
