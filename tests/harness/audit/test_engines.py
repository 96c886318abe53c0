"""Where files are read does not matter: a task for each rank gives the verdict of one process."""

import importlib.util
from pathlib import Path

import pytest

from conformance.audit.command import as_json
from conformance.audit.engines import by_rank, engine, one_part
from conformance.audit.gather import gather
from conformance.audit.partial import from_bytes, merged
from conformance.audit.summary import Summary
from conformance.audit.verdict import judged
from conformance.cli import main
from conformance.records.content import digest
from conformance.records.writer import Recorder
from tests.harness.audit.jobs import cut, start, whole


def recorded(folder: Path) -> Path:
    """Two ranks, one of which was started twice, and a worker of the other."""
    steps = cut(range(20), 4)
    start(folder, [whole(steps[:2], how="")], 0, 2, length=40, close=False)
    start(folder, [whole(steps[3:])], 0, 2, length=40)
    recorder = start(folder, [whole(steps)], 1, 2, length=40, close=False)
    epoch = recorder.epoch(0, {})
    worker = Recorder(folder)
    worker.made(recorder.iterator(0, epoch), 0, [digest(1)])
    worker.close()
    recorder.batch(0, epoch, None, 0)
    recorder.close()
    return folder


def verdict(summary: Summary) -> str:
    """To the byte."""
    return as_json(judged(summary))


def test_parts_hold_whole_ranks(tmp_path: Path) -> None:
    """All starts of a rank, and its workers."""
    assert [2, 2] == [len(part) for part in by_rank(recorded(tmp_path))]


def test_tasks_give_the_verdict_of_one_process(tmp_path: Path) -> None:
    """What a task makes of its files is merged."""
    parts = [from_bytes(one_part([str(path) for path in part])) for part in by_rank(recorded(tmp_path))]
    assert verdict(gather(tmp_path)) == verdict(merged(parts))


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_gives_the_verdict_of_one_process(tmp_path: Path) -> None:
    """On a real local cluster."""
    folder = recorded(tmp_path)
    assert verdict(gather(folder)) == verdict(engine("ray")(folder, lambda done, all_of_it: None))


@pytest.mark.parametrize("name", ["spark", *(["ray"] if importlib.util.find_spec("ray") is None else [])])
def test_an_engine_that_is_not_there_is_told(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what to do."""
    assert 2 == main(["audit", str(tmp_path), "--engine", name])
    assert "there are local and ray" in (told := capsys.readouterr().err) or "loaderspec[ray]" in told
