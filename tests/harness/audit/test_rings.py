"""Buffers that are filled again before a batch is made of them are found by the contents that come in turn."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, told

STREAM = {"kind": "iterable", "ids": "content", "batch_size": 6}


def of_a_ring(first: int, buffers: int, batches: int = 4) -> list[list[str]]:
    """What a worker gives whose batches of 6 are made of so many buffers: of each the last that was written."""
    made = []
    for at in range(first, first + 6 * batches, 6):
        last = {sample % buffers: sample for sample in range(6)}
        made.append([f"text {at + last[sample % buffers]}" for sample in range(6)])
    return made


@pytest.mark.parametrize("buffers", [1, 2, 3, 4, 5])
def test_a_ring_that_is_shorter_than_a_batch_is_found(tmp_path: Path, buffers: int) -> None:
    """Whatever part of the batch it is, in every worker."""
    parts = [of_a_ring(0, buffers), of_a_ring(100, buffers)]
    verdict = audited(job(tmp_path, [[of_workers(parts)]], **STREAM))
    assert [("WORK-16", "overwritten")] == found(verdict)
    assert f"each batch of 6 holds {buffers} content" in verdict.findings[0].sentence


@pytest.mark.parametrize(
    "batches",
    [
        pytest.param([["a", "b", "c", "d", "e", "f"], *of_a_ring(0, 3)], id="not-in-each-batch"),
        pytest.param([["a", "a", "b", "b", "c", "c"], ["d", "d", "e", "e", "f", "f"], *["gghhii"]], id="pairs"),
        pytest.param(of_a_ring(0, 3, 2), id="in-two-batches"),
        pytest.param(cut([f"text {each}" for each in [*range(6)] * 4], 6), id="passes"),
        pytest.param([["zeros"] * 6] * 4, id="samples-that-are-all-alike"),
        pytest.param([["a", "b", "a", "b", "a", "b"]] * 4, id="two-samples-in-turn"),
    ],
)
def test_equal_samples_that_stand_otherwise_are_no_ring(tmp_path: Path, batches: list[list[str]]) -> None:
    """They are told, as samples that may be equal."""
    verdict = audited(job(tmp_path, [[of_workers([batches])]], **STREAM))
    assert "overwritten" not in {key for _, key in found(verdict)} | told(verdict)
