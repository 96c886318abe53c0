"""One sample that fills the last steps of an evaluation is told; what else comes again is a finding."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, found, job, told, whole

LOADER: dict[str, Any] = {"length": 9, "own_batches": True, "batch_size": None}
RIGHT = [[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [0, 0, 0]]]


@pytest.mark.parametrize(
    ("parts", "accused"),
    [
        pytest.param(RIGHT, False, id="filled"),
        pytest.param([[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [0, 1, 2]]], True, id="several-samples"),
        pytest.param([[[0, 1, 2], [0, 7, 8]], [[3, 4, 0], [6, 5, 0]]], True, id="before-the-end"),
        pytest.param([[[0, 1, 2], [6, 7, 0]], [[3, 4, 5], [0, 0, 0]]], True, id="one-is-missing"),
        pytest.param([[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [0, 0]]], True, id="not-full"),
    ],
)
def test_one_sample_that_fills_the_last_steps_is_told(tmp_path: Path, parts: Any, accused: bool) -> None:
    """It is one, in last steps that are full, and nothing else came again or is missing."""
    ranks = [[whole(steps, no_grad=True)] for steps in parts]
    verdict = audited(job(tmp_path, ranks, **LOADER))
    assert accused == bool(found(verdict))
    assert accused == ("filler" not in told(verdict))
