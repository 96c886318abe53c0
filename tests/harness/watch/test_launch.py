"""Jobs that do not end when enough was seen: they are ended, with all that they started."""

import os
import time
from pathlib import Path

import pytest

from conformance.watch import launch
from conformance.watch.family import everyone
from conformance.watch.folder import NOTE


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PATIENCE", "_LATE", "_TERMINATION"):
        monkeypatch.setattr(launch, name, 0.0)


def test_a_job_that_asks_for_no_batch_is_ended_after_its_seconds(tmp_path: Path) -> None:
    """It can't be stopped politely; that it was ended is told."""
    ended = launch.run(["sleep", "3600"], os.environ, tmp_path, time.time() - 1)
    assert (True, True) == (ended.stopped, ended.code in (128 + 15, 128 + 9))
    assert "asked for a batch" in ended.forced


def test_what_a_job_has_started_ends_with_it(tmp_path: Path) -> None:
    """A shell between does not save it, and one that has no ear for SIGTERM is killed."""
    job = f"trap '' TERM; sleep 3600 & echo $! > {tmp_path}/child; touch {tmp_path}/{NOTE}; wait; sleep 3600"
    ended = launch.run(["sh", "-c", job], os.environ, tmp_path)
    assert "others had stopped" in ended.forced
    child = int((tmp_path / "child").read_text())
    assert child not in dict(everyone())
