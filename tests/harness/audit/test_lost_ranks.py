"""Ranks whose records are lost: what came is judged, and what they had is not missing."""

from pathlib import Path

import pytest

from conformance.audit.verdict import Verdict
from tests.harness.audit.jobs import audited, cut, found, start, told, whole
from tests.harness.audit.test_samples import order

A, B = (cut(order(40, seed), 4) for seed in range(2))


def part(steps: list[list[int]], rank: int, ranks: int) -> list[list[int]]:
    """Every so manieth step, as a sampler of batches shares them out."""
    return steps[rank::ranks]


@pytest.mark.parametrize(("there", "world"), [((0,), 2), ((1,), 2), ((0,), 4), ((0, 2), 4), ((1, 2, 3), 4)])
def test_what_ranks_without_a_record_had_is_not_missing(tmp_path: Path, there: tuple[int, ...], world: int) -> None:
    """Where a host is lost, nothing is known of its ranks: not that they had nothing."""
    for rank in there:
        start(tmp_path, [whole(part(steps[:8], rank, world)) for steps in (A, B)], rank, world, length=40)
    verdict = audited(tmp_path)
    assert ([], False) == (found(verdict), "few-ranks" in told(verdict))
    assert "nothing is known of rank" in verdict.notes[0]


def test_what_a_restart_skipped_on_them_is_not_judged(tmp_path: Path) -> None:
    """The other half of the epoch came to a rank whose record is lost."""
    for steps, how in ((A[:4], "left"), (A[4:], "whole")):
        start(tmp_path, [whole(part(steps, 0, 2), how=how)], 0, 2, length=40, batch_size=4)
    assert [] == found(audited(tmp_path))


def with_a_rank_that_reads_nothing(folder: Path, steps: list[list[int]]) -> Verdict:
    """Rank 0 reads a loader by itself, and rank 1 is in the record."""
    start(folder, [whole(steps)], 0, 2, length=40)
    start(folder, [], 1, 2, length=40)
    return audited(folder)


def test_what_one_rank_reads_alone_is_judged_where_the_others_are_known(tmp_path: Path) -> None:
    """All of it is that rank's; what it lacks is missing."""
    verdict = with_a_rank_that_reads_nothing(tmp_path / "right", A)
    assert ([], True) == (found(verdict), "few-ranks" in told(verdict))
    assert [("PART-2", "lost")] == found(with_a_rank_that_reads_nothing(tmp_path / "wrong", A[:5]))
