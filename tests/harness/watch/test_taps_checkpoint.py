"""Checkpoints that a job loads: which start wrote them is recorded, and nothing of what else is loaded."""

import io
import os
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance.watch import taps_checkpoint
from tests.harness.watch.jobs import Jobs, found, judged

GOES_ON = Path(__file__).parent / "goes_on.py"
SGD = {"state": {}, "param_groups": [{"lr": 0.1, "params": [0]}]}


def test_a_job_that_goes_on_with_another_split_is_found(started: Jobs, tmp_path: Path) -> None:
    """It loads what its start before wrote; two starts that load nothing are only told."""
    for name, more in (("goes-on", ["load"]), ("anew", [])):
        path = str(tmp_path / f"{name}.pt")
        assert [0] == started.run(GOES_ON, tmp_path / name, words=[path, "0"])
        assert [0] == started.run(GOES_ON, tmp_path / name, words=[path, "1", *more])
    assert [("SPLIT", "goes_on.py:16")] == found(judged(tmp_path / "goes-on"))
    assert [] == found(judged(tmp_path / "anew"))


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        pytest.param(SGD, True, id="an-optimizer"),
        pytest.param({"epoch": 3, "model": OrderedDict(), "optimizer": SGD}, True, id="a-checkpoint"),
        pytest.param({"state_dict": {}, "optimizer_states": [SGD]}, True, id="a-list-of-optimizers"),
        pytest.param({"weight": torch.zeros(2)}, False, id="a-model"),
        pytest.param([1, 2, 3], False, id="samples"),
    ],
)
def test_a_file_with_an_optimizer_in_it_is_a_checkpoint(
    stored: Any, expected: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time is kept, whether it is named or open."""
    monkeypatch.setattr(taps_checkpoint, "_restored", [True])
    path = tmp_path / "state.pt"
    torch.save(stored, path)
    os.utime(path, (1000, 1000))
    serialization: Any = type("serialization", (), {"load": staticmethod(torch.load)})
    taps_checkpoint.tap(serialization)
    with path.open("rb") as file:
        for named in (path, file):
            monkeypatch.setattr(taps_checkpoint, "_written", [])
            serialization.load(named)
            assert ([1000.0] if expected else None) == taps_checkpoint.checkpoints()


def test_a_checkpoint_that_is_only_looked_at_is_not_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A job may compare itself to an earlier one: what counts is an optimizer that takes over a state."""
    monkeypatch.setattr(taps_checkpoint, "_written", [1000.0])
    monkeypatch.setattr(taps_checkpoint, "_restored", [])
    kind: Any = type("Optimizer", (torch.optim.Optimizer,), {"load_state_dict": torch.optim.SGD.load_state_dict})
    taps_checkpoint.tap(type("optimizer", (), {"Optimizer": kind}))
    optimizer = kind([torch.zeros(1)], {"lr": 0.1})
    assert taps_checkpoint.checkpoints() is None
    optimizer.load_state_dict(optimizer.state_dict())
    assert [1000.0] == taps_checkpoint.checkpoints()


def test_what_has_no_file_is_loaded_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes in memory have no time."""
    monkeypatch.setattr(taps_checkpoint, "_restored", [True])
    monkeypatch.setattr(taps_checkpoint, "_written", [])
    serialization: Any = type("serialization", (), {"load": staticmethod(torch.load)})
    taps_checkpoint.tap(serialization)
    held = io.BytesIO()
    torch.save(SGD, held)
    held.seek(0)
    assert SGD == serialization.load(held)
    assert taps_checkpoint.checkpoints() is None
