"""Batch samplers of the user's own: ranks that draw other batches are found by their cause, and a top-up is none."""

import random
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole
from tests.harness.audit.test_samples import order

OWN = {"sampler": "LengthBucketBatchSampler"}


def batches(n: int, size: int, seed: int) -> list[list[int]]:
    """Batches of a permutation, in another order, so that the short one may be anywhere."""
    made = cut(order(n, seed), size)
    random.Random(seed).shuffle(made)
    return made


def dealt(n: int, size: int, ranks: int, seeds: list[int], tail: str = "") -> list[dict[str, Any]]:
    """What each rank gets: every so manieth of its batches, of which the first are repeated, or the last dropped."""
    parts = []
    for rank in range(ranks):
        mine = batches(n, size, seeds[rank % len(seeds)])
        extra = -len(mine) % ranks
        mine = mine[: len(mine) // ranks * ranks] if tail == "dropped" else mine + mine[:extra]
        parts.append(whole(mine[rank::ranks]))
    return parts


@pytest.mark.parametrize("facts", [OWN, {**OWN, "batch_size": 8}])
@pytest.mark.parametrize(("n", "ranks"), [(80, 2), (85, 2), (101, 2), (93, 4), (905, 2), (240, 8)])
def test_batches_that_are_repeated_or_dropped_make_ranks_equal(
    tmp_path: Path, n: int, ranks: int, facts: dict[str, Any]
) -> None:
    """A whole batch of them, and the short one may be on any rank: that is told."""
    for tail in ("repeated", "dropped"):
        epochs = [dealt(n, 8, ranks, [seed], tail) for seed in range(3)]
        folder = job(tmp_path / tail, list(zip(*epochs, strict=True)), length=n, **facts)
        verdict = audited(folder)
        assert [] == found(verdict), verdict.findings
        assert told(verdict) <= {"padding", "dropped", "sizes"}


@pytest.mark.parametrize("facts", [OWN, {**OWN, "batch_size": 8}])
@pytest.mark.parametrize(("n", "ranks"), [(85, 2), (93, 4), (905, 2), (240, 8)])
def test_ranks_that_draw_other_batches_are_one_finding(
    tmp_path: Path, n: int, ranks: int, facts: dict[str, Any]
) -> None:
    """In every epoch, whichever of them drew the short batch; also in one that was left."""
    epochs = [dealt(n, 8, ranks, [100 * epoch + rank for rank in range(ranks)]) for epoch in range(6)]
    last = [{**epoch, "how": "left", "steps": epoch["steps"][:-1]} for epoch in epochs.pop()]
    verdict = audited(job(tmp_path, list(zip(*epochs, last, strict=True)), length=n, **facts))
    assert [("ORDER-4", "other-seeds")] == found(verdict), verdict.findings
    assert "in each epoch" in verdict.findings[0].sentence
