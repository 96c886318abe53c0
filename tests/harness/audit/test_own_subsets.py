"""What ranks with subsets of their own have in common is padding where it can be, and else a finding."""

from pathlib import Path

import pytest

from conformance.records.writer import Recorder
from tests.harness.audit.jobs import LINE, LOOP, audited, cut, found, job, start, told, whole

LENGTH = 24


def of_subsets(folder: Path, parts: list[list[int]], size: int) -> Path:
    """A job in which each rank reads all of a list of indices of its own."""
    for rank, part in enumerate(parts):
        facts = {"length": LENGTH, "dataset": 0, "subset": len(part), "subset_print": str(rank), "batch_size": size}
        start(folder, [whole(cut(part, size))], rank, len(parts), **facts)
    return folder


@pytest.mark.parametrize(
    ("parts", "size", "accused"),
    [
        pytest.param([[*range(12)], [*range(12, 23), 0]], 4, False, id="one-to-be-equal"),
        pytest.param([[*range(8)], [*range(8, 13), 0, 1, 2]], 4, False, id="to-full-steps-at-the-end"),
        pytest.param([[0, 9, 4, 7, 2, 5, 8, 11], [9, 1, 0, 3, 6, 10, 12, 4]], 4, True, id="drawn-by-each-rank"),
        pytest.param([[0, 1, 2, 3, 4], [4, 5, 6, 7, 0]], 4, True, id="nothing-to-fill-up"),
    ],
)
def test_lists_that_overlap_are_padding_only_where_they_are_filled_up(
    tmp_path: Path, parts: list[list[int]], size: int, accused: bool
) -> None:
    """As many as make ranks equal, or the last steps full, and then at their ends."""
    verdict = audited(of_subsets(tmp_path, parts, size))
    assert accused == any(each[0] == "PART-1" for each in found(verdict))
    assert not accused or "padding" not in told(verdict)


@pytest.mark.parametrize(
    ("second", "accused"),
    [
        pytest.param([5, 6, 7, 8, 0], False, id="an-odd-number"),
        pytest.param([5, 6, 7, 8, 9, 0], True, id="equal-without"),
    ],
)
def test_ranks_that_are_equal_need_no_padding(tmp_path: Path, second: list[int], accused: bool) -> None:
    """What came twice there came twice for nothing."""
    first = [0, 1, 2, 3, 4] if not accused else [0, 1, 2, 3, 4, 5]
    length = len({*first, *second})
    verdict = audited(job(tmp_path, [[whole(cut(first, 4))], [whole(cut(second, 4))]], length=length, batch_size=4))
    assert accused == bool(found(verdict))


def test_a_subset_that_lists_a_sample_twice_gives_it_twice(tmp_path: Path) -> None:
    """A bag that is drawn with replacement is read as it is listed; what comes once more than that is found."""
    bag = [0, 1, 1, 2, 3, 3, 3, 5]
    for name, part in (("bag", bag), ("more", [*bag, 5])):
        facts = {"length": LENGTH, "dataset": 0, "subset": 5, "listed": 8, "batch_size": 4}
        start(tmp_path / name, [whole(cut(part, 4))], **facts)
    right, wrong = audited(tmp_path / "bag"), audited(tmp_path / "more")
    assert ([], True) == (found(right), "listed-again" in told(right))
    assert [("PART-1", "again")] == found(wrong)


@pytest.mark.parametrize(
    ("loader", "other", "accused"),
    [pytest.param(2, 1, False, id="of-two-folds"), pytest.param(3, 2, True, id="of-one-fold")],
)
def test_the_loaders_of_two_folds_may_share_samples(tmp_path: Path, loader: int, other: int, accused: bool) -> None:
    """What one fold trains on another one evaluates; within a fold they are apart."""
    recorder = Recorder(tmp_path)
    recorder.hello({"rank": 0, "world_size": 1})
    halves = [*range(12)], [*range(12, 24)]
    for at, part in enumerate((halves[0], halves[1], halves[1], halves[0])):
        shared = [{"loader": other, "shared": 12, "same": False, "some": [0]}] * (at == loader)
        facts = {"length": LENGTH, "dataset": 0, "subset": 12, "subset_print": str(at), "batch_size": 4}
        recorder.loader({**LINE, **facts, "line": 9 + at % 2, "overlap": shared})
        epoch = recorder.epoch(at, {**LOOP, "no_grad": at % 2 == 1})
        for step in cut(part, 4):
            recorder.batch(at, epoch, step)
        recorder.end_of_epoch(at, epoch, "whole")
    recorder.close()
    assert [("SPLIT", "overlap")] * accused == found(audited(tmp_path))


@pytest.mark.parametrize(
    ("shared", "held_out", "accused"),
    [
        pytest.param(6, True, False, id="how-well-it-was-learnt"),
        pytest.param(6, False, True, id="nothing-is-held-out"),
        pytest.param(5, True, True, id="a-part-of-it"),
    ],
)
def test_what_is_trained_on_may_be_evaluated_beside_what_is_held_out(
    tmp_path: Path, shared: int, held_out: bool, accused: bool
) -> None:
    """A share of the training samples, as a whole; a part of an evaluation is a leak. Told once, by either loader."""
    recorder = Recorder(tmp_path)
    recorder.hello({"rank": 0, "world_size": 1})
    parts = [*range(12)], [*range(12 - shared, 18 - shared)], [*range(18, 24)]
    for at, part in enumerate(parts[: 2 + held_out]):
        both = [{"loader": 1 - at, "shared": shared, "same": False, "some": [0]}] * (at == 1)
        facts = {"length": LENGTH, "dataset": 0, "subset": len(part), "subset_print": str(at), "batch_size": 4}
        recorder.loader({**LINE, **facts, "line": 9 + at, "overlap": both})
        if at == 1:  # the first one is made anew by a library
            recorder.loader({**LINE, **facts, "line": 9, "rebuilt_from": 0, "overlap": [{**both[0], "loader": 1}]})
    for at, part in enumerate(parts[: 2 + held_out]):
        number = at + (at > 1)
        epoch = recorder.epoch(number, {**LOOP, "no_grad": at > 0})
        for step in cut(part, 4):
            recorder.batch(number, epoch, step)
        recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    assert [("SPLIT", "overlap")] * accused == found(audited(tmp_path))
