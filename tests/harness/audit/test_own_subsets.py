"""What ranks with subsets of their own have in common is padding where it can be, and else a finding."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole

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
