"""Passes of an endless stream: one order in all of them is found, as it is of epochs."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, found, job, told, whole
from tests.harness.audit.test_endless import Stream, first, forever, shard, stopped
from tests.harness.audit.test_samples import order


def again(n: int, seed: int = 0) -> Stream:
    """One permutation, again and again."""
    return itertools.cycle(order(n, seed))


@pytest.mark.parametrize(("ranks", "n"), [(1, 40), (2, 40), (2, 41), (3, 40)])
@pytest.mark.parametrize("parts", ["one-stream", "fixed"])
def test_one_order_in_all_passes_is_found(tmp_path: Path, ranks: int, n: int, parts: str) -> None:
    """The loop reads one stream, and no epoch ever ends."""
    streams = [shard(again(n), rank, ranks) for rank in range(ranks)]
    if parts == "fixed":
        streams = [itertools.cycle(order(n)[rank::ranks]) for rank in range(ranks)]
    verdict = audited(stopped(tmp_path, streams, 45, 4, n))
    assert [("ORDER-6", "same-passes")] == found(verdict)


def test_how_many_passes_are_alike_is_told(tmp_path: Path) -> None:
    """The first ones may have another order."""
    steps = first(itertools.chain(order(40, 3), again(40)), 40, 4)
    (finding,) = audited(job(tmp_path, [[whole(steps, how="left")]], length=40, batch_size=4)).findings
    assert finding.sentence.startswith("2 of 4 passes came in the order of the one before: the stream has no end")


@pytest.mark.parametrize(
    ("stream", "facts"),
    [
        pytest.param(lambda: forever(40), {}, id="each-is-shuffled"),
        pytest.param(lambda: itertools.cycle(range(40)), {}, id="the-datasets-order"),
        pytest.param(lambda: again(40), {"shuffle": False}, id="no-shuffle-was-asked-for"),
        pytest.param(lambda: again(3), {"length": 3}, id="chance"),
    ],
)
def test_passes_that_may_be_alike_are_not_accused(tmp_path: Path, stream: Any, facts: dict[str, Any]) -> None:
    """Each has its own order, or nobody shuffles."""
    steps = first(stream(), 40 if "length" not in facts else 3, 4 if "length" not in facts else 2)
    verdict = audited(job(tmp_path, [[whole(steps, how="left")]], **{"length": 40, "batch_size": 4, **facts}))
    assert ([], False) == (found(verdict), "same-passes" in told(verdict))


def test_one_order_of_an_iterable_dataset_is_told(tmp_path: Path) -> None:
    """Of other datasets nobody promised a shuffle."""
    stream = {"kind": "iterable", "ids": "named", "length": None, "batch_size": 4}
    verdict = audited(job(tmp_path, [[whole(first(again(40), 30, 4), how="left")]], **stream))
    assert ([], True) == (found(verdict), "same-passes" in told(verdict))


def test_the_ends_of_passes_are_no_small_batches(tmp_path: Path) -> None:
    """Each pass may end with one; and that the loop has stopped is no end of an epoch that it left."""
    steps = [step for seed in range(4) for step in [order(38, seed)[at : at + 4] for at in range(0, 38, 4)]]
    verdict = audited(job(tmp_path, [[whole(steps, how="left")]], length=38, batch_size=4))
    assert {"endless", "not-whole-left"} == told(verdict)
    (note,) = [note for note in verdict.groups[0].notes if note.key == "not-whole-left"]
    assert "the loop stopped after 40 steps: the stream has no end of its own" == note.sentence
