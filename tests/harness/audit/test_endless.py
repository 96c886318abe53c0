"""Streams that never end: a new pass is no repeat, and what comes again within a pass is."""

import itertools
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, start, told, whole
from tests.harness.audit.test_samples import order

Stream = Iterator[int]


def forever(n: int, seed: int = 0) -> Stream:
    """Permutations, one after the other."""
    for number in itertools.count():
        yield from order(n, 1000 * seed + number)


def shard(stream: Stream, rank: int, ranks: int) -> Stream:
    """Every so manieth of a stream."""
    return itertools.islice(stream, rank, None, ranks)


def fixed(n: int, rank: int, ranks: int) -> Stream:
    """One part of the samples, shuffled again in each pass."""
    part = range(rank, n, ranks)
    return (part[at] for at in forever(len(part)))


def first(stream: Stream, steps: int, size: int) -> list[list[int]]:
    """What a loop takes of a stream before it stops."""
    return cut(itertools.islice(stream, steps * size), size)


def stopped(folder: Path, streams: list[Stream], steps: int, size: int = 4, n: int | None = 40, **loader: Any) -> Path:
    """A job whose ranks read a stream each until they have made their steps."""
    ranks = [[whole(first(stream, steps, size), how="left")] for stream in streams]
    return job(folder, ranks, length=n, batch_size=size, **loader)


def right_ones(ranks: int, n: int) -> dict[str, list[Stream]]:
    """Ways in which ranks share a stream."""
    return {
        "one-stream": [shard(forever(n), rank, ranks) for rank in range(ranks)],
        "fixed-parts": [fixed(n, rank, ranks) for rank in range(ranks)],
    }


@pytest.mark.parametrize("kind", ["one-stream", "fixed-parts"])
@pytest.mark.parametrize(
    ("ranks", "n", "size"), [(1, 40, 4), (1, 37, 8), (2, 40, 4), (2, 41, 4), (3, 100, 8), (4, 90, 2)]
)
def test_a_new_pass_of_a_stream_is_no_finding(tmp_path: Path, kind: str, ranks: int, n: int, size: int) -> None:
    """However long the run is: in the first pass, just behind it, and after many."""
    full = n // (ranks * size)
    for steps in (full, full + 1, full + 2, 2 * full, 5 * full + 3):
        verdict = audited(stopped(tmp_path / str(steps), right_ones(ranks, n)[kind], steps, size, n))
        assert [] == found(verdict), (steps, verdict.findings)
        assert (steps > full + 1) <= ("endless" in told(verdict))


@pytest.mark.parametrize("kind", ["one-stream", "fixed-parts"])
@pytest.mark.parametrize("steps", [(25, 40), (400, 100), (11, 10)])
def test_ranks_that_were_stopped_at_other_steps_have_one_stream(
    tmp_path: Path, kind: str, steps: tuple[int, int]
) -> None:
    """A limit in seconds stops each where it is."""
    streams = right_ones(2, 40)[kind]
    ranks = [[whole(first(stream, many, 4), how="left")] for stream, many in zip(streams, steps, strict=True)]
    assert [] == found(audited(job(tmp_path, ranks, length=40, batch_size=4)))


def with_replacement(n: int, seed: int) -> Stream:
    """Draws of their own."""
    drawn = random.Random(seed)
    while True:
        yield drawn.randrange(n)


def some_twice(n: int, many: int) -> Stream:
    """In each pass, some samples come twice."""
    for number in itertools.count():
        again = order(n, number)
        yield from random.Random(number).sample(again + again[:many], n + many)


WRONG: dict[str, Callable[[], list[Stream]]] = {
    "other-seeds": lambda: [shard(forever(40, seed), seed, 2) for seed in range(2)],
    "every-rank-reads-all": lambda: [forever(40, seed) for seed in range(2)],
    "with-replacement": lambda: [with_replacement(40, seed) for seed in range(2)],
    "some-twice-in-a-pass": lambda: [shard(some_twice(40, 5), rank, 2) for rank in range(2)],
    "half-of-them-only": lambda: [shard(forever(20), rank, 2) for rank in range(2)],
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("steps", [5, 7, 13, 15, 40])
def test_what_comes_again_within_a_pass_is_found(tmp_path: Path, kind: str, steps: int) -> None:
    """Whatever the length of the run."""
    assert "PART-1" in [clause for clause, _ in found(audited(stopped(tmp_path, WRONG[kind](), steps)))]


@pytest.mark.parametrize("ids", ["content", "named"])
def test_an_endless_iterable_dataset_is_told_by_its_passes(tmp_path: Path, ids: str) -> None:
    """Its length is not known: it has what came."""
    stream = {"kind": "iterable", "ids": ids, "length": None, "batch_size": 4}
    readers = [first(shard(forever(80), reader, 4), 15, 4) for reader in range(4)]
    if ids == "content":
        readers = [[[f"text {each}" for each in step] for step in steps] for steps in readers]
    ranks = [[of_workers(readers[2 * rank : 2 * rank + 2])] for rank in range(2)]
    for rank in ranks:
        rank[0]["how"] = "left"
    verdict = audited(job(tmp_path, ranks, **stream))
    assert ([], True) == (found(verdict), "endless" in told(verdict))
    (note,) = [note for note in verdict.groups[0].notes if note.key == "endless"]
    assert "an endless stream: 3.0 passes" in note.sentence


def test_ranks_with_files_of_their_own_read_them_again(tmp_path: Path) -> None:
    """Each has passes of its own; what comes again within one of them is found."""
    for wrong in (False, True):
        for rank in range(2):
            stream = some_twice(20, 4) if wrong else forever(20, rank)
            facts = {"length": 20, "dataset_print": f"files of {rank}"}
            start(tmp_path / str(wrong), [whole(first(stream, 12, 4), how="left")], rank, 2, **facts)
    assert [] == found(audited(tmp_path / "False"))
    assert [("PART-1", "again")] == found(audited(tmp_path / "True"))


@pytest.mark.parametrize("done", [3, 7, 11, 14])
def test_a_stream_that_is_gone_on_with_begins_anywhere_in_a_pass(tmp_path: Path, done: int) -> None:
    """A restart takes up the stream, and what it reads may begin a new pass at once."""
    steps = first(forever(40), 34, 4)
    for part in (steps[:done], steps[done:]):
        start(tmp_path, [whole(part, how="left")], length=40, batch_size=4)
    assert [] == found(audited(tmp_path))


def test_an_epoch_that_comes_to_its_end_makes_one_pass(tmp_path: Path) -> None:
    """A sampler that goes over the samples twice in an epoch repeats them."""
    assert [("PART-1", "again")] == found(audited(job(tmp_path, [[whole(first(forever(40), 20, 4))]], length=40)))


@pytest.mark.parametrize(("said", "expected"), [(10, [("PART-1", "again")]), (100, []), (5, []), (None, [])])
def test_what_comes_again_within_one_pass_that_len_tells_is_found(
    tmp_path: Path, said: int | None, expected: list[tuple[str, str]]
) -> None:
    """A sampler of so many steps has one pass; one that says more, or none, or that is read further goes on and on."""
    steps = first(forever(40), 10, 4)
    steps[9][3] = steps[0][0]
    assert expected == found(audited(job(tmp_path, [[whole(steps, how="left", steps=said)]], length=40)))


def padded(n: int, rank: int, ranks: int, wrong: int = 0) -> Stream:
    """A rank's share of passes that are padded by their first samples, as torch's sampler over ranks does."""
    for number in itertools.count():
        one = order(n, number)
        one[n - wrong :] = one[:wrong]
        yield from (one + one[: -n % ranks])[rank::ranks]


@pytest.mark.parametrize(("ranks", "n"), [(2, 75), (3, 40), (4, 37)])
@pytest.mark.parametrize("steps", [11, 19, 20, 21, 45])
def test_passes_that_are_padded_are_no_finding(tmp_path: Path, ranks: int, n: int, steps: int) -> None:
    """The padding comes again in its pass; what else comes again there is found."""
    for wrong in (0, 5):
        streams = [padded(n, rank, ranks, wrong) for rank in range(ranks)]
        verdict = audited(stopped(tmp_path / str(wrong), streams, steps, 4, n, replicas=ranks))
        assert ([("PART-1", "again")] if wrong else []) == found(verdict)
