"""`record(loader)` leaves a loop as it is, and a record of it behind."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from conformance import record
from conformance.audit.verdict import audit_folder
from conformance.records.crash import ending
from conformance.records.crash import told as words
from conformance.records.reader import files, read_file
from tests.harness.records.test_writer import batches, facts

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "LOADERSPEC_RECORD"):
        monkeypatch.delenv(name, raising=False)


def closed(recorded: Any, folder: Path) -> list[Any]:
    """What is in the one file of a record."""
    recorded._recorder.close()
    (path,) = files(folder)
    return list(read_file(path))


class Loader:
    """Two batches, and attributes of its own."""

    epoch = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        yield {"id": torch.tensor([3, 1]), "x": torch.zeros(2)}
        yield {"id": torch.tensor([2]), "x": torch.zeros(1)}

    def __len__(self) -> int:
        return 2

    def set_epoch(self, epoch: int) -> None:
        """As samplers have it."""
        self.epoch = epoch


def test_a_loop_gets_the_same_batches(tmp_path: Path) -> None:
    """Batches pass through as they are, and len() and attributes are the loader's."""
    loader = Loader()
    recorded = record(loader, "id", folder=tmp_path)
    recorded.set_epoch(7)
    given = [torch.tensor([1]), torch.tensor([2])]
    assert all(one is other for one, other in zip(given, record(given, folder=tmp_path), strict=True))
    assert (7, 2, 2) == (loader.epoch, len(recorded), len(list(recorded)))


def test_ids_are_taken_from_a_field(tmp_path: Path) -> None:
    """A field of integers is the identity of samples."""
    recorded = record(Loader(), "id", folder=tmp_path)
    list(recorded)
    items = closed(recorded, tmp_path)
    assert [([3, 1], -1), ([2], -1)] == batches(items)
    assert ["named", 2] == [facts(items, "loader")[0][name] for name in ("ids", "steps")]
    assert __file__ == facts(items, "loader")[0]["file"]


def test_ids_are_taken_from_a_function(tmp_path: Path) -> None:
    """A function of the batch, whose words are stored as digests."""
    recorded = record([["a", "b"], ["a"]], lambda batch: [word * 2 for word in batch], folder=tmp_path)
    list(recorded)
    (one, _), (other, _) = batches(closed(recorded, tmp_path))
    assert one[0] == other[0] != one[1]


def test_samples_are_told_by_content(tmp_path: Path) -> None:
    """Rows of equal content have one digest, in whichever batch they come."""
    recorded = record([torch.tensor([[1, 2], [3, 4]]), torch.tensor([[3, 4]])], folder=tmp_path)
    list(recorded)
    (one, _), (other, _) = batches(closed(recorded, tmp_path))
    assert one[1] == other[0] != one[0]


@pytest.mark.parametrize(("stop", "how"), [(1, "left"), (9, "whole")])
def test_how_an_epoch_ended_is_written(tmp_path: Path, stop: int, how: str) -> None:
    """A loop that breaks off is told from one that came to its end."""
    recorded = record(Loader(), "id", folder=tmp_path)
    for number, _ in enumerate(recorded, 1):
        if number == stop:
            break
    assert [how] == [end["how"] for end in facts(closed(recorded, tmp_path), "end")]


def test_an_error_of_the_loader_is_written_and_passes_through(tmp_path: Path) -> None:
    """The exception is the job's, and its words are in the record."""

    def failing() -> Iterator[list[int]]:
        yield [1]
        raise ValueError("no such file")

    recorded = record(failing(), folder=tmp_path)
    with pytest.raises(ValueError, match="no such file"):
        list(recorded)
    assert ["error: ValueError: no such file"] == [end["how"] for end in facts(closed(recorded, tmp_path), "end")]


def test_ids_that_can_not_be_taken_leave_a_gap(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field that is not there is told with those that are, once, and the loop goes on; the audit is no success."""
    recorded = record([{"x": 1}, {"x": 2}], "id", folder=tmp_path)
    assert 2 == len(list(recorded))
    assert 2 == facts(closed(recorded, tmp_path), "unread")[0]["batches"]
    verdict = audit_folder(tmp_path)
    assert 3 == verdict.exit_code
    assert "ids='id': a batch of type dict has no such field; it has x" in verdict.notes[0]


def test_the_place_of_a_rank_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As torchrun says it."""
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "4")
    recorded = record([[1]], folder=tmp_path)
    list(recorded)
    hello = facts(closed(recorded, tmp_path), "hello")[0]
    assert [1, 4] == [hello["rank"], hello["world_size"]]


def test_a_job_that_records_imports_no_test_tools(tmp_path: Path) -> None:
    """`from conformance import record` and a loop cost neither Hypothesis nor pytest nor torch nor numpy."""
    program = "import sys; from conformance import record; list(record([[1]])); print(*sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert set() == {"hypothesis", "pytest", "torch", "numpy"} & set(done.stdout.split())
    assert 1 == len(files(tmp_path / "loaderspec-record"))


def test_a_crash_of_the_job_ends_its_epoch(tmp_path: Path) -> None:
    """It is told from a loop that breaks off, also where both are in one function."""
    program = (
        "from conformance import record\n"
        "for batch in record([[1], [2]]): break\n"
        "for batch in record([[1], [2]]): raise ValueError('loss is nan')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, check=False)
    (path,) = files(tmp_path)
    items = list(read_file(path))
    assert [(1, 0, "ValueError: loss is nan")] == [tuple(each.values())[:3] for each in facts(items, "crash")]
    assert "clean end" == items[-1].state


def leaving(code: int) -> Iterator[BaseException | None]:
    """What is known to end a process that reports what was raised and exits."""
    try:
        try:
            raise ValueError("x" * 9000 + " is why")
        except ValueError:
            sys.exit(code)
    except SystemExit:
        yield ending()


def test_what_ends_a_process_is_known_while_it_leaves() -> None:
    """Also where it is reported to another process, and the exit code is all that is left."""
    assert [None] == list(leaving(0))
    (error,) = leaving(1)
    assert isinstance(error, ValueError)
    text = words(error)
    assert text.startswith("ValueError: xxx")
    assert text.endswith(" is why")
    assert len(text) < 2000


def test_what_was_flushed_before_a_sigkill_is_read(tmp_path: Path) -> None:
    """A job that is killed in the middle of an epoch leaves a cut file, good to the last block."""
    program = (
        "import os, signal; from conformance.records import writer; from conformance import record\n"
        "writer._FULL = 10\n"
        "for step, batch in enumerate(record([[number] for number in range(100)], lambda batch: batch)):\n"
        "    if step == 25: os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environment, check=False)
    assert -signal.SIGKILL == done.returncode
    (path,) = files(tmp_path)
    items = list(read_file(path))
    assert [[number] for number in range(20)] == [ids for ids, _ in batches(items)][:20]
    assert "cut" == items[-1].state
    verdict = audit_folder(tmp_path)
    assert [] == list(verdict.findings)
    assert "was cut, or is still being written (it has no closing frame): what came after" in verdict.notes[0]
    assert "not at its end when the record ends" in verdict.groups[0].notes[0].sentence
