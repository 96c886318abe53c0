"""Starts that begin at the same place again and again are told with what it depends on; so are empty ones."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, start, told, whole
from tests.harness.audit.test_samples import order

A, B = (cut(order(40, seed), 4) for seed in range(2))


def lives(folder: Path, of: list[list[dict[str, Any]]]) -> dict[str, str]:
    """The kinds and the words of what is told of a job's starts, of which nobody is accused."""
    for epochs in of:
        start(folder, epochs, length=40, batch_size=4, close=epochs[-1]["how"] != "")
    verdict = audited(folder)
    assert [] == found(verdict)
    return {note.key: note.sentence for note in verdict.groups[0].notes}


def life(steps: int, **facts: Any) -> list[dict[str, Any]]:
    """A start that was preempted after some steps."""
    return [whole(A[:steps], how="left", **facts)]


def test_starts_that_deliver_the_same_steps_are_told(tmp_path: Path) -> None:
    """Each begins at the start of the epoch, and none comes to its end."""
    notes = lives(tmp_path, [life(4), life(4), life(4)])
    assert "3 starts delivered the same first 4 steps, and none came to the end of the epoch" in notes["in-place"]
    assert "the job gets no further, or the loader's state is not loaded; right if each" in notes["in-place"]
    assert "restart" not in notes


def test_a_checkpoint_that_was_loaded_is_told(tmp_path: Path) -> None:
    """Then the model went on, and its loader did not."""
    notes = lives(tmp_path, [life(4), life(3, loaded=[1.0]), life(2, loaded=[2.0])])
    assert "the same first steps (4, 3 and 2 of them)" in notes["in-place"]
    assert "a checkpoint was loaded, and the loader began at its start" in notes["in-place"]


@pytest.mark.parametrize(
    "of",
    [
        pytest.param([life(4), life(4)], id="two"),
        pytest.param([life(4), life(4), [whole(A)]], id="the-last-one-came-to-its-end"),
        pytest.param([life(4), [whole(A[4:7], how="left")], [whole(A[7:9], how="left")]], id="each-goes-on"),
        pytest.param([life(4), life(4), [whole(B[:4], how="left")]], id="another-order"),
        pytest.param([life(1), life(1), life(1)], id="a-look-at-a-batch"),
        pytest.param([life(4, no_grad=True)] * 3, id="an-evaluation"),
        pytest.param([[whole(A[:4], how="steps")]] * 3, id="watched-for-some-steps"),
    ],
)
def test_starts_that_get_further_are_not_told_so(tmp_path: Path, of: list[list[dict[str, Any]]]) -> None:
    """One comes to an end, or has other steps."""
    assert "in-place" not in lives(tmp_path, of)


def test_a_restart_that_begins_again_and_is_cut_says_so(tmp_path: Path) -> None:
    """How many samples it has is known, and that it skipped none."""
    expected = "the restart began epoch 0 again in the same order, and did not come to its end"
    assert expected == lives(tmp_path, [life(4), life(3)])["restart"]


def test_starts_that_recorded_nothing_are_named(tmp_path: Path) -> None:
    """Their batches were lost with them; a record that another start follows is written no more."""
    nothing = [whole([], how="")]
    notes = lives(tmp_path, [[whole(A[:4], how="")], nothing, nothing, life(2), life(2)])
    silent = "nothing was recorded of restarts 1 and 2: a second of batches is lost with a process that is killed"
    assert silent == notes["silent"]
    assert {"in-place", "silent"} <= told(audited(tmp_path))
    (about,) = audited(tmp_path).notes
    assert about.startswith("the records of rank 0 were cut (they have no closing frame)")
