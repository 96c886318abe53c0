"""What is only told: loaders read side by side, folds that overlap, first passes that were cut off, and lanes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.audit.verdict import Verdict
from conformance.records.writer import Recorder
from tests.harness.audit.jobs import LINE, LOOP, audited, cut, found, job, told, whole

ONE, OTHER = [3, 0, 5, 1, 4, 2], [1, 4, 2, 0, 3, 5]


def of_loaders(folder: Path, loaders: Sequence[tuple[dict[str, Any], dict[str, Any], list[int]]]) -> Verdict:
    """The verdict over one process: of each loader its facts, those of its epoch, and the samples of that."""
    recorder = Recorder(folder)
    recorder.hello({"rank": 0})
    numbers = [recorder.loader({**LINE, **loader}) for loader, _, _ in loaders]
    for number, (_, facts, order) in zip(numbers, loaders, strict=True):
        epoch = recorder.epoch(number, {**LOOP, **facts})
        for sample in order:
            recorder.batch(number, epoch, [sample], None)
        recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    return audited(folder)


@pytest.mark.parametrize(
    ("order", "facts", "length", "is_told"),
    [
        pytest.param(OTHER, {}, 6, True, id="two-orders"),
        pytest.param(ONE, {}, 6, False, id="one-order"),
        pytest.param(OTHER, {"line": 99}, 6, False, id="two-loops"),
        pytest.param(OTHER, {}, 8, False, id="another-size"),
        pytest.param([0, 1, 2, 3, 4, 5], {}, 6, False, id="in-order"),
    ],
)
def test_two_shuffles_side_by_side_are_told(
    tmp_path: Path, order: list[int], facts: dict[str, Any], length: int, is_told: bool
) -> None:
    """Of as many samples, in one loop, in two orders."""
    verdict = of_loaders(
        tmp_path, [({"length": 6, "dataset": 0}, {}, ONE), ({"line": 10, "length": length, "dataset": 1}, facts, order)]
    )
    assert is_told == ("beside" in told(verdict))


@pytest.mark.parametrize(
    ("folds", "is_told"),
    [
        pytest.param([[0, 1], [2, 3], [4, 5]], False, id="folds"),
        pytest.param([[0, 1], [1, 3], [4, 5]], True, id="overlap"),
        pytest.param([[0, 1], [1, 3], [4]], False, id="other-sizes"),
    ],
)
def test_folds_that_overlap_are_told(tmp_path: Path, folds: list[list[int]], is_told: bool) -> None:
    """They have as many places as there are samples, and not each sample has one."""
    subsets = [
        ({"length": 6, "dataset": 0, "subset": len(fold), "subset_print": str(at)}, {"no_grad": True}, fold)
        for at, fold in enumerate(folds)
    ]
    verdict = of_loaders(tmp_path, subsets)
    assert is_told == ("folds" in told(verdict))
    assert [] == found(verdict)


@pytest.mark.parametrize(
    ("later", "is_told"),
    [
        pytest.param([range(4), range(4)], True, id="no-more"),
        pytest.param([range(6), range(6)], False, id="more"),
        pytest.param([range(2, 6), range(4)], False, id="others"),
        pytest.param([range(4)], False, id="one-epoch"),
    ],
)
def test_a_first_pass_that_was_cut_off_is_told(tmp_path: Path, later: list[range], is_told: bool) -> None:
    """The loop left it, and all later epochs have just what it had by then."""
    epochs = [whole(cut(range(4), 2), how="left"), *(whole(cut(each, 2)) for each in later)]
    assert is_told == ("cut-off" in told(audited(job(tmp_path, [epochs], kind="iterable"))))


def test_an_order_in_lanes_is_no_shuffle(tmp_path: Path) -> None:
    """Each step is the one before moved on, in every epoch alike: a rule gives that."""
    lanes = [[at + lane for lane in (0, 10, 20)] for at in range(10)]
    random = [[7, 2, 25], [1, 19, 4], [11, 0, 28], [3, 15, 9], [5, 6, 8], [10, 12, 13], [14, 16, 17]]
    random += [[18, 20, 21], [22, 23, 24], [26, 27, 29]]
    assert [] == found(audited(job(tmp_path / "lanes", [[whole(lanes), whole(lanes)]], length=30)))
    assert [("ORDER-6", "same-order")] == found(
        audited(job(tmp_path / "random", [[whole(random), whole(random)]], length=30))
    )
