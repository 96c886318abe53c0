"""What a recorder writes is what a reader reads, however the process ends."""

import errno
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from conformance.records import writer
from conformance.records.reader import Deliveries, files, read_file
from conformance.records.writer import Recorder, open_record


def read(folder: Path, at: int = 0) -> list[Any]:
    """All that one file of a record holds."""
    return list(read_file(files(folder)[at]))


def facts(items: list[Any], what: str) -> list[dict[str, Any]]:
    """The facts of one kind, without that word."""
    return [
        {name: value for name, value in item.items() if name != "what"}
        for item in items
        if isinstance(item, dict) and item.get("what") == what
    ]


def batches(items: list[Any]) -> list[tuple[list[Any], int]]:
    """The delivered batches, each with its worker."""
    found = []
    for item in items:
        if isinstance(item, Deliveries) and item.ids is not None:
            at = 0
            for size, worker in zip(item.sizes.tolist(), item.workers.tolist(), strict=True):
                found.append((item.ids[at : at + size].tolist(), worker))
                at += size
    return found


def starts(data: bytes) -> list[int]:
    """Where the frames of a file begin."""
    return [at for at in range(len(data)) if data.startswith(b"\x89LSR", at)]


def recorded(folder: Path, *given: Any, worker: int | None = None) -> Recorder:
    """A recorder that wrote one epoch of these batches."""
    recorder = Recorder(folder)
    loader = recorder.loader({"file": "train.py", "line": 9})
    epoch = recorder.epoch(loader, {"line": 14})
    for ids in given:
        recorder.batch(loader, epoch, ids, worker)
    recorder.end_of_epoch(loader, epoch, "whole")
    return recorder


def test_a_closed_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    """Facts, batches and the clean end come back."""
    recorder = recorded(tmp_path, [0, 1, 2], [3, 4, 5], [6])
    recorder.close()
    items = read(tmp_path)
    assert [{"loader": 0, "file": "train.py", "line": 9}] == facts(items, "loader")
    assert [([0, 1, 2], -1), ([3, 4, 5], -1), ([6], -1)] == batches(items)
    assert [{"loader": 0, "epoch": 0, "how": "whole", "steps": 3}] == facts(items, "end")
    assert "clean end" == items[-1].state


@pytest.mark.parametrize(
    "ids",
    [
        [[0, 2**32 - 1]],
        [[2**32], [1, 2]],
        [[-1], [5]],
        [[-(2**63), 2**63 - 1]],
        [[], []],
        [[1], [], [2, 3]],
        [[7]] * 70_000,
    ],
)
def test_ids_of_64_bits_come_back(tmp_path: Path, ids: list[list[int]]) -> None:
    """Any integers, any sizes, any number of batches."""
    recorded(tmp_path, *ids, worker=3).close()
    assert [(batch, 3) for batch in ids] == batches(read(tmp_path))


def test_digests_come_back(tmp_path: Path) -> None:
    """Two words of 64 bits are one digest."""
    recorded(tmp_path, [bytes(range(16)), bytes(16)]).close()
    words = [int.from_bytes(bytes(range(8)), "little"), int.from_bytes(bytes(range(8, 16)), "little")]
    assert [([words, [0, 0]], -1)] == batches(read(tmp_path))


def test_a_list_that_the_sampler_uses_again_is_copied(tmp_path: Path) -> None:
    """What a batch held when it was told is written, and not what became of the list."""
    recorder = Recorder(tmp_path)
    loader = recorder.loader({})
    epoch = recorder.epoch(loader, {})
    batch = [1, 2]
    recorder.batch(loader, epoch, batch)
    batch[:] = [8, 9]
    recorder.close()
    assert [([1, 2], -1)] == batches(read(tmp_path))


def test_ids_that_are_none_are_told_and_do_not_raise(tmp_path: Path) -> None:
    """A recorder that can't store an id says so in the record."""
    recorded(tmp_path, ["a", "b"]).close()
    assert 1 == facts(read(tmp_path), "unread")[0]["batches"]


def test_steps_go_on_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A block says which step of its epoch it begins with."""
    monkeypatch.setattr(writer, "_FULL", 4)
    recorded(tmp_path, [0, 1], [2, 3], [4, 5], [6, 7], [8]).close()
    assert [0, 2, 4] == [item.step for item in read(tmp_path) if isinstance(item, Deliveries)]


def test_what_workers_make_has_its_iterator(tmp_path: Path) -> None:
    """The digests of a worker and the order of workers are joined by a key and a count."""
    recorder = Recorder(tmp_path)
    loader = recorder.loader({})
    epoch = recorder.epoch(loader, {})
    key = recorder.iterator(loader, epoch)
    recorder.made(key, 1, [bytes(16)])
    recorder.batch(loader, epoch, None, 1)
    recorder.close()
    found = [item for item in read(tmp_path) if isinstance(item, Deliveries)]
    given, made = sorted(found, key=lambda item: item.iterator)
    assert made.ids is not None
    assert (key, 1, [[0, 0]]) == (made.iterator, made.loader, made.ids.tolist())
    assert (None, [1]) == (given.ids, given.workers.tolist())


def test_a_file_that_is_cut_anywhere_is_read_to_there(tmp_path: Path) -> None:
    """Whatever is left of a file is good, and the word for it is cut."""
    recorded(tmp_path, [0, 1, 2], [3]).close()
    path = files(tmp_path)[0]
    data = path.read_bytes()
    ends = [*starts(data)[1:], len(data)]
    for length in range(len(data)):
        path.write_bytes(data[:length])
        items = read(tmp_path)
        assert "cut" == items[-1].state
        assert sum(1 for end in ends if end <= length) == len(items) - 1


def test_a_bit_that_flips_anywhere_is_corrupt(tmp_path: Path) -> None:
    """No damaged byte is taken for a sample, a fact, or an early end."""
    recorded(tmp_path, [0, 1, 2], [3]).close()
    path = files(tmp_path)[0]
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 4]) + data[at + 1 :])
        assert "corrupt" == read(tmp_path)[-1].state, at


def test_a_tail_of_zeros_is_corrupt(tmp_path: Path) -> None:
    """What a power loss leaves is no sample 0."""
    recorded(tmp_path, [0, 1, 2]).flush()
    path = files(tmp_path)[0]
    path.write_bytes(path.read_bytes() + bytes(4096))
    items = read(tmp_path)
    assert [([0, 1, 2], -1)] == batches(items)
    assert "corrupt" == items[-1].state


def test_bytes_behind_the_closing_frame_are_corrupt(tmp_path: Path) -> None:
    """A clean end is the end."""
    recorded(tmp_path, [0]).close()
    path = files(tmp_path)[0]
    path.write_bytes(path.read_bytes() * 2)
    assert "corrupt" == read(tmp_path)[-1].state


def test_a_frame_that_was_taken_out_is_noticed(tmp_path: Path) -> None:
    """The closing frame counts the others."""
    recorded(tmp_path, [0]).close()
    path = files(tmp_path)[0]
    data = path.read_bytes()
    second, third = starts(data)[1:3]
    path.write_bytes(data[:second] + data[third:])
    assert "corrupt" == read(tmp_path)[-1].state


def test_a_full_disk_is_told_once_there_is_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a frame is taken back, what was lost is counted, and the file stays readable."""
    recorder = recorded(tmp_path, [0, 1])
    room = [10]
    write = os.write

    def full(file: int, data: memoryview) -> int:
        if not room[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        done = write(file, data[: room[0]])
        room[0] -= done
        return done

    loader = recorder.loader({})
    monkeypatch.setattr(os, "write", full)
    epoch = recorder.epoch(loader, {})
    recorder.batch(loader, epoch, [2, 3])
    recorder.flush()
    monkeypatch.undo()
    recorder.batch(loader, epoch, [4, 5])
    recorder.end_of_epoch(loader, epoch, "whole")
    recorder.close()
    items = read(tmp_path)
    assert [([0, 1], -1), ([4, 5], -1)] == batches(items)
    assert [{"why": "No space left on device", "frames": 3}] == facts(items, "lost")
    assert "clean end" == items[-1].state


def test_a_folder_that_can_not_be_made_breaks_nothing(tmp_path: Path) -> None:
    """The job goes on without a record."""
    (tmp_path / "taken").write_text("a file")
    recorded(tmp_path / "taken" / "record", [0]).close()


def test_a_forked_process_writes_its_own_file(tmp_path: Path) -> None:
    """What the parent had not written yet is not written twice, and its loaders are known."""
    recorder = open_record(tmp_path)
    assert recorder is open_record(tmp_path)
    loader = recorder.loader({"line": 9})
    epoch = recorder.epoch(loader, {})
    recorder.batch(loader, epoch, [0])
    child = os.fork()
    if not child:
        recorder.batch(loader, recorder.epoch(loader, {}), [1])
        recorder.close()
        os._exit(0)
    assert 0 == os.waitpid(child, 0)[1]
    recorder.close()
    both = sorted((read(tmp_path, at) for at in (0, 1)), key=batches)
    assert [[([0], -1)], [([1], -1)]] == [batches(items) for items in both]
    assert [9, 9] == [facts(items, "loader")[0]["line"] for items in both]


def test_a_batch_after_which_none_comes_is_written(tmp_path: Path) -> None:
    """The loop waits in a collective for ever, and a process that is killed says no last word."""
    recorder = Recorder(tmp_path)
    loader = recorder.loader({})
    recorder.batch(loader, recorder.epoch(loader, {}), [0, 1])
    recorder._later.join(60)
    items = read(tmp_path)
    assert [([0, 1], -1)] == batches(items)
    assert "cut" == items[-1].state


def test_a_process_that_forks_has_no_thread_that_waits(tmp_path: Path) -> None:
    """What is forked while a thread holds a lock may wait for it for ever; what came before is written."""
    recorder = open_record(tmp_path)
    loader = recorder.loader({})
    epoch = recorder.epoch(loader, {})
    recorder._later.wait = 3600
    recorder.batch(loader, epoch, [0])
    threads = threading.active_count()
    child = os.fork()
    if not child:
        os._exit(0)
    assert 0 == os.waitpid(child, 0)[1]
    assert threads - 1 == threading.active_count()
    assert [([0], -1)] == batches(read(tmp_path))
    recorder.close()
