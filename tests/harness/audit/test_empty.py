"""Epochs without a sample: what was used up by the epochs before is found, and a loop that reads to an end is not."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, start, told, whole
from tests.harness.audit.test_samples import order

STREAM = {"kind": "iterable", "ids": "named", "length": None, "batch_size": 4}
FULL, NONE = whole(cut(range(16), 4)), whole([])
WORKERS = of_workers([cut(range(8), 4), cut(range(8, 16), 4)])


@pytest.mark.parametrize(
    ("epochs", "loader", "expected"),
    [
        pytest.param([FULL, NONE, NONE, NONE], STREAM, [("PART-2", "empty")], id="a-generator"),
        pytest.param([WORKERS, NONE, NONE], STREAM, [("PART-2", "empty")], id="of-each-worker"),
        pytest.param([FULL, FULL, NONE, NONE], STREAM, [("PART-2", "empty")], id="after-two-epochs"),
        pytest.param([FULL, NONE], {"length": 16}, [("PART-2", "empty")], id="a-sampler-that-is-an-iterator"),
        pytest.param([FULL, NONE], STREAM, [], id="the-end-that-a-loop-may-wait-for"),
        pytest.param([FULL, NONE, NONE, FULL], STREAM, [], id="a-queue-that-is-filled-again"),
        pytest.param([FULL, whole(cut(range(16, 32), 4)), NONE, NONE], STREAM, [], id="parts-of-a-stream"),
        pytest.param([FULL, whole(cut(range(8), 4)), NONE], {"ids": "named", "length": 16}, [], id="an-emptied-pool"),
    ],
)
def test_epochs_after_what_is_iterated_was_used_up_are_found(
    tmp_path: Path, epochs: list[dict[str, Any]], loader: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """Where a loop may wait for the end, it is told with what it depends on; never is such an epoch one seen whole."""
    verdict = audited(job(tmp_path, [epochs], **loader))
    assert expected == [each for each in found(verdict) if "lost" not in each]
    assert (not expected) == ("empty" in told(verdict))
    assert "without a sample" in verdict.groups[0].title


@pytest.mark.parametrize(
    "epochs",
    [
        pytest.param([FULL, whole([], restored=True)], id="a-state-of-an-epochs-end-was-restored"),
        pytest.param([FULL, whole([], steps=0)], id="the-loader-says-that-it-has-none"),
        pytest.param([NONE, NONE], id="nothing-ever-came"),
    ],
)
def test_an_epoch_that_is_meant_to_be_empty_is_not_told(tmp_path: Path, epochs: list[dict[str, Any]]) -> None:
    """Nothing was used up."""
    verdict = audited(job(tmp_path, [epochs], **STREAM))
    assert ([], False) == (found(verdict), "empty" in told(verdict))


def test_one_rank_whose_samples_were_used_up_is_named(tmp_path: Path) -> None:
    """Shards that went to another rank instead are no loss: these ranks have other numbers of steps, and no more."""
    lost = [[FULL, FULL, FULL], [whole(cut(range(16, 32), 4)), NONE, NONE]]
    verdict = audited(job(tmp_path / "lost", lost, **STREAM))
    (finding,) = [each for each in verdict.findings if each.id == "PART-2"]
    assert "2 epochs had no sample on rank 1, where epoch 0 had 16 samples, first epoch 1" in finding.sentence
    moved = [[FULL, whole(cut(range(32), 4)), whole(cut(range(32), 4))], lost[1]]
    assert "PART-2" not in [clause for clause, _ in found(audited(job(tmp_path / "moved", moved, **STREAM)))]


def test_a_new_start_has_samples_of_its_own(tmp_path: Path) -> None:
    """What one start used up, the next one begins again."""
    for epochs in ([whole(cut(order(16), 4))], [NONE, NONE]):
        start(tmp_path, epochs, **STREAM)
    assert [] == found(audited(tmp_path))
