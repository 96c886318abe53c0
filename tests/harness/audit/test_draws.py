"""Samplers that draw by weights: fewer weights than samples are found, and right ones are not accused."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole

CLASSES = [whole(cut([0, 1, 2, 3, 3, 1, 0, 2], 4))] * 2
DRAWN = {"length": 1000, "batch_size": 4, "replacement": True, "sampler": "WeightedRandomSampler"}


def draws(number: int, of: int = 1000, what: str = "weights") -> dict[str, Any]:
    """What the loader says of its sampler."""
    return {"what": what, "from": number, "of": of}


@pytest.mark.parametrize(
    ("told_by_it", "sentence"),
    [
        (draws(10), "the sampler has 10 weights, and the dataset 1,000 samples: 990 can never be drawn"),
        (
            draws(10, what="data_source"),
            "the sampler draws from 10 samples, and the dataset has 1,000: 990 can never be drawn",
        ),
    ],
)
def test_samples_that_can_never_be_drawn_are_found(tmp_path: Path, told_by_it: dict[str, Any], sentence: str) -> None:
    """Weights of classes in the place of those of samples."""
    (finding,) = audited(job(tmp_path, [CLASSES], draws=told_by_it, **DRAWN)).findings
    assert ("PART-2", sentence) == (finding.id, finding.sentence)


@pytest.mark.parametrize(
    ("loader", "note"),
    [
        pytest.param({"draws": draws(1000)}, False, id="a-weight-for-each"),
        pytest.param({"draws": draws(4, 4), "subset": 4}, False, id="a-subset"),
        pytest.param({"draws": draws(3)}, False, id="others-came"),
        pytest.param({"draws": draws(1200)}, True, id="more-weights"),
        pytest.param({}, False, id="not-told"),
    ],
)
def test_weights_of_which_none_is_missing_are_right(tmp_path: Path, loader: dict[str, Any], note: bool) -> None:
    """More of them are told, as an index may be drawn that the dataset does not have."""
    verdict = audited(job(tmp_path, [CLASSES], **{**DRAWN, **loader}))
    assert ([], note) == (found(verdict), "more-weights" in told(verdict))


def test_a_loader_that_is_never_read_is_not_accused(tmp_path: Path) -> None:
    """Nothing was drawn."""
    assert [] == found(audited(job(tmp_path, [[]], draws=draws(10), **DRAWN)))


@pytest.mark.parametrize(
    ("seeds", "facts", "expected"),
    [
        pytest.param(lambda epoch, rank: epoch + rank, {}, [("DRAW-4", "drawn-again")], id="a-sum"),
        pytest.param(lambda epoch, rank: 2 * epoch + rank, {}, [], id="one-for-each"),
        pytest.param(lambda epoch, rank: epoch + rank, {"length": 16, "rows": 4}, [], id="too-few-to-tell"),
    ],
)
def test_one_rank_draws_what_no_other_one_draws(
    tmp_path: Path, seeds: Callable[[int, int], int], facts: dict[str, int], expected: list[tuple[str, str]]
) -> None:
    """Seeds that are sums of the epoch and the rank meet again in the next epoch."""
    length, rows = facts.get("length", 60), facts.get("rows", 30)
    ranks = [
        [whole(cut(random.Random(seeds(epoch, rank)).choices(range(length), k=rows), 4)) for epoch in range(3)]
        for rank in range(2)
    ]
    loader = {"length": length, "replacement": True, "sampler": "WeightedRandomSampler", "batch_size": 4}
    verdict = audited(job(tmp_path, ranks, **loader))
    assert expected == [each for each in found(verdict) if each[0] == "DRAW-4"]
