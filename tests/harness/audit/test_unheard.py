"""Copies in persistent workers that did not hear of set_epoch are found by what they still have."""

from pathlib import Path
from typing import Any

import pytest

from conformance.records.writer import Recorder
from tests.harness.audit.jobs import LINE, LOOP, audited, found

ORDERS = [[3, 0, 5, 1, 4, 2], [1, 4, 2, 0, 3, 5]]


def recorded(
    folder: Path,
    of_main: list[dict[str, Any]],
    of_copy: list[dict[str, Any]],
    orders: list[list[int]] = ORDERS,
    **loader: Any,
) -> Path:
    """Two epochs of one worker, in two orders, with what the dataset and its copy had in each."""
    recorder = Recorder(folder)
    recorder.hello({"rank": 0})
    number = recorder.loader({**LINE, "kind": "iterable", "persistent": True, **loader})
    for order, main, copy in zip(orders, of_main, of_copy, strict=True):
        epoch = recorder.epoch(number, {**LOOP, "dataset_state": main})
        recorder.worker(recorder.iterator(number, epoch), 0, {"random": {}, "drew": [], "dataset_state": copy})
        for sample in order:
            recorder.batch(number, epoch, [sample], 0)
        recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    return folder


@pytest.mark.parametrize(
    ("of_main", "of_copy", "loader", "accused"),
    [
        pytest.param([{"epoch": 0}, {"epoch": 1}], [{"epoch": 0}, {"epoch": 0}], {}, True, id="stayed"),
        pytest.param([{"epoch": 0}, {"epoch": 1}], [{"epoch": 0}, {"epoch": 1}], {}, False, id="heard"),
        pytest.param([{"epoch": 0}, {"epoch": 1}], [{"epoch": 1}, {"epoch": 2}], {}, False, id="counts-itself"),
        pytest.param([{"epoch": 0}, {"epoch": 0}], [{"epoch": 0}, {"epoch": 0}], {}, False, id="never-set"),
        pytest.param(
            [{"epoch": 0}, {"epoch": 1}], [{"epoch": 0}, {"epoch": 0}], {"persistent": False}, False, id="new-workers"
        ),
    ],
)
def test_a_copy_that_stays_behind_is_found(
    tmp_path: Path, of_main: Any, of_copy: Any, loader: dict[str, Any], accused: bool
) -> None:
    """The dataset was changed between two epochs, and a worker's copy has what it had before."""
    verdict = audited(recorded(tmp_path, of_main, of_copy, **loader))
    assert [("STREAM-5", "unheard-epoch")] * accused == found(verdict)


def test_what_the_loop_sets_is_found_in_any_order(tmp_path: Path) -> None:
    """A limit that is raised between the epochs, of which no set_epoch tells, may leave the order alone."""
    of_main, of_copy = [{"longest": 12}, {"longest": 24}], [{"longest": 12}, {"longest": 12}]
    (finding,) = audited(recorded(tmp_path, of_main, of_copy, [ORDERS[0], ORDERS[0]])).findings
    assert "epoch 1: .longest of the dataset was set to 24, and it is 12 in worker 0" in finding.sentence
