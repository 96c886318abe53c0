"""From files to a summary: ranks and starts, parallel processes, workers' files, corrupt files, and progress."""

import io
from pathlib import Path
from typing import Any

import pytest

from conformance.audit import files, gather
from conformance.audit.command import Progress
from conformance.audit.files import Skimmed, place
from conformance.audit.gather import gather as gathered
from conformance.records.content import digest
from conformance.records.reader import files as files_of
from conformance.records.writer import Recorder
from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole


def lanes(*spans: tuple[float, float], rank: int | None = None) -> list[tuple[int, int]]:
    """The rank and the start of processes that lived from then to then."""
    made = []
    for number, (begin, end) in enumerate(spans):
        hello: dict[str, Any] = {} if rank is None else {"rank": rank}
        made.append(Skimmed(Path(), str(number), 0, hello, begin, end, epochs=1))
    place(made)
    return [(file.rank, file.attempt) for file in made]


def test_processes_that_live_side_by_side_are_ranks() -> None:
    """They did not say who they are; one that begins when another has ended goes on in its place."""
    assert [(-1, 0), (-2, 0), (-1, 1)] == lanes((0, 5), (1, 9), (6, 8))


def test_each_start_of_a_rank_is_a_start() -> None:
    """In the order of time."""
    assert [(3, 0), (3, 1)] == lanes((0, 5), (6, 7), rank=3)


def test_what_workers_made_is_joined_to_what_came(tmp_path: Path) -> None:
    """Batches that were made ahead and never came do not count, and order is that of the loop."""
    recorder = start(tmp_path, [], kind="iterable", ids="content", close=False)
    epoch = recorder.epoch(0, {})
    key = recorder.iterator(0, epoch)
    for worker, texts in enumerate(("abc", "defg")):
        other = Recorder(tmp_path)
        for text in texts:
            other.made(key, worker, [digest(text), digest(text * 2)])
        other.close()
    for worker in (0, 1, 1, 0):
        recorder.batch(0, epoch, None, worker)
    recorder.end_of_epoch(0, epoch, "left")
    recorder.close()
    summary = gathered(tmp_path)
    ((_, group),) = summary.groups.items()
    (epoch_of_it,) = group.epochs.values()
    seen = epoch_of_it.ranks[0]
    expected = [[digest(text).hex()[:16], digest(text * 2).hex()[:16]] for text in "adeb"]
    assert (expected, 8, {2: 4}) == (seen.head, seen.rows, seen.sizes)
    assert {1: 8} == epoch_of_it.histogram()


def test_batches_that_no_workers_file_has_are_told(tmp_path: Path) -> None:
    """Its node was lost, perhaps."""
    recorder = start(tmp_path, [], kind="iterable", ids="content", close=False)
    epoch = recorder.epoch(0, {})
    recorder.batch(0, epoch, None, 0)
    recorder.end_of_epoch(0, epoch, "whole")
    recorder.close()
    verdict = audited(tmp_path)
    assert ([], True) == (found(verdict), "unread" in told(verdict))


def test_a_corrupt_file_is_read_to_where_it_is_good(tmp_path: Path) -> None:
    """It is told by its own word, and what follows is not missing."""
    job(tmp_path, [[whole(cut(range(40), 4))]], length=40)
    (path,) = files_of(tmp_path)
    data = bytearray(path.read_bytes())
    data[-200] ^= 1
    path.write_bytes(bytes(data))
    verdict = audited(tmp_path)
    assert [] == found(verdict)
    assert "rank 0 is corrupt (at byte" in verdict.notes[0]


def test_facts_of_other_kinds_are_passed_over(tmp_path: Path) -> None:
    """Whoever writes a record may tell more."""
    recorder = start(tmp_path, [whole([[0]])], length=1, close=False)
    for what in ("weather", "file", "open", "deliveries", "summary"):
        recorder.say(what, {"loader": 0})
    recorder.close()
    assert ([], True) == (found(audited(tmp_path)), audited(tmp_path).recorded)


def test_records_of_hosts_are_brought_together_in_folders(tmp_path: Path) -> None:
    """At any depth."""
    start(tmp_path / "a", [whole([[0, 1]])], 0, 2, length=4)
    start(tmp_path / "b" / "c", [whole([[2, 3]])], 1, 2, length=4)
    assert ([], 0) == (found(audited(tmp_path)), len(audited(tmp_path).notes))


def test_reading_in_pieces_and_packing_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of any size is judged as a small one is."""
    steps = cut([*range(39), 0], 4)
    folder = job(tmp_path, [[whole(steps)] * 3, [whole(steps[:5])] * 3], length=41)
    at_once = audited(folder)
    monkeypatch.setattr(files, "_CHUNK", 1)
    monkeypatch.setattr(gather, "_ROOM", 0)
    assert at_once == audited(folder)


class Terminal(io.StringIO):
    """Something that says that it is one."""

    def isatty(self) -> bool:
        """Yes."""
        return True


@pytest.mark.parametrize(("stream", "expected"), [(Terminal(), "25%, about 6 s to go"), (io.StringIO(), "")])
def test_progress_is_told_on_a_terminal_after_a_second(stream: io.StringIO, expected: str) -> None:
    """And not before, nor anywhere else."""
    moments = iter([0.0, 0.5, 2.0])
    with Progress(stream, lambda: next(moments)) as progress:
        progress(10, 100)
        assert "" == stream.getvalue()
        progress(25, 100)
        assert expected in stream.getvalue()
    assert bool(expected) == stream.getvalue().endswith("\x1b[K")
