"""Restarts of streams whose length nobody told: the epochs that were read whole tell what one has."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, of_workers, start, whole
from tests.harness.audit.test_samples import order

STREAM = {"kind": "iterable", "length": None, "batch_size": 4, "drop_last": False}
A, B, C = (cut(order(40, seed), 4) for seed in range(3))
Parts = Sequence[Sequence[dict[str, Any]]]


def stopped(steps: list[list[int]]) -> dict[str, Any]:
    """What came of an epoch before the job ended."""
    return whole(steps, how="left")


def said(folder: Path, starts: Parts, ids: str = "named") -> tuple[str, str]:
    """The clause, and what is told of the restart."""
    for epochs in starts:
        start(folder, epochs, **STREAM, ids=ids)
    verdict = audited(folder)
    assert {"RESUME-1"} >= {clause for clause, _ in found(verdict)}
    told = [each for group in verdict.groups for each in (*group.findings, *group.notes) if each.key == "restart"]
    (one,) = told
    return one.id, one.sentence


AROUND = "the restart in epoch 1 skipped 8 samples of the 40 of each of 2 epochs that came whole"
FEWER = "8 samples of the 40 of an epoch that came whole came neither before the restart in epoch 0 nor after it"


@pytest.mark.parametrize(
    ("starts", "clause", "sentence"),
    [
        ([[whole(A), stopped(B[:3])], [whole(B[5:]), whole(C)]], "RESUME-1", AROUND),
        ([[whole(A), stopped(B[:3])], [whole(B[3:]), whole(C)]], "note", "went on in epoch 1 where the job had ended"),
        ([[whole(A), stopped(B[:3])], [whole(B[2:]), whole(C)]], "note", "went back by 1 of the 3 steps before it"),
        ([[whole(A), stopped(B[:3])], [whole(B), whole(C)]], "note", "began epoch 1 again in the same order"),
        ([[stopped(B[:3])], [whole(B[6:]), whole(C)]], "RESUME-1", "as many as were done before it"),
        ([[stopped(B[:3])], [whole(B[5:]), whole(C)]], "note", FEWER),
        ([[stopped(B[:3])], [whole(B[5:])]], "note", "is not known (12 samples came before it, and 20 after)"),
    ],
)
def test_what_came_of_a_stream_is_compared_with_whole_epochs(
    tmp_path: Path, starts: Parts, clause: str, sentence: str
) -> None:
    """It is found where whole epochs lie on both sides, or as many are missing as were done: a first epoch may be meant
    to have fewer.
    """
    for ids in ("named", "content"):
        told = said(tmp_path / ids, [[as_texts(each, ids) for each in epochs] for epochs in starts], ids)
        assert clause == told[0]
        assert sentence in told[1]


def as_texts(epoch: dict[str, Any], ids: str) -> dict[str, Any]:
    """The same epoch, whose samples are texts where these are digested."""
    steps = [[f"text {each}" if ids == "content" else each for each in step] for step in epoch["steps"]]
    return {**epoch, "steps": steps}


@pytest.mark.parametrize(
    ("starts", "sentence"),
    [
        ([[whole(A), stopped(B[:3])], [whole(B[5:]), whole(cut(order(36, 2), 4))]], "is not known"),
        (
            [[whole(A), stopped(cut(range(100, 112), 4))], [whole(B[5:]), whole(C)]],
            "12 samples of it are not among the 40 of each of 2 epochs",
        ),
        (
            [[whole(A), {**stopped(B[:3]), "facts": {"dataset_epoch": 1}}], [whole(C, dataset_epoch=2), whole(A)]],
            "the restart read epoch 2, its dataset says",
        ),
    ],
)
def test_a_stream_whose_epochs_differ_is_not_judged_by_them(tmp_path: Path, starts: Parts, sentence: str) -> None:
    """Another number, other samples, or another epoch."""
    clause, told = said(tmp_path, starts)
    assert "note" == clause
    assert sentence in told


def test_workers_that_each_skip_what_their_rank_had_done_are_named(tmp_path: Path) -> None:
    """Three of them skip three times as many."""
    parts = [cut(order(60, 5)[worker::3], 4) for worker in range(3)]
    rest = of_workers([part[3:] for part in parts])
    before = {**of_workers([part[:1] for part in parts]), "how": "left"}
    clause, told = said(tmp_path, [[before], [rest, of_workers(parts)]])
    assert "RESUME-1" == clause
    assert "skipped 24 samples of the 60 of an epoch that came whole: each of 3 workers skipped as many as" in told


@pytest.mark.parametrize("loader", [{"length": 40, "batch_size": 4}, {**STREAM, "ids": "named"}])
def test_what_came_before_the_record_is_not_skipped(tmp_path: Path, loader: dict[str, Any]) -> None:
    """The first start of the record had itself gone on with an epoch."""
    rest = {**whole(B[4:7], restored=True), "how": "left"}
    for epochs in ([whole(A), rest], [whole(B[7:]), whole(C)]):
        start(tmp_path, epochs, **loader)
    verdict = audited(tmp_path)
    assert [] == found(verdict)
    (note,) = [note for note in verdict.groups[0].notes if note.key == "restart"]
    assert "16 samples of epoch 1 came neither before the restart nor after it: skipped, or delivered" in note.sentence
