"""Verdicts in which two readings of chapter 11 part: files, and each way in which a pass without an end may be cut."""

from collections.abc import Iterator
from typing import Any

from conformance.loader.scenario import Scenario
from conformance.vectors.deliveries import Delivered, Other
from conformance.vectors.edges import ranks_of

_DROP = {"epochs": "endless", "when_dropping": "drop", "when_keeping": "drop"}
_UNEVEN = {"epochs": "endless", "when_dropping": "uneven", "when_keeping": "uneven"}
_PAD = {"epochs": "endless", "when_dropping": "pad", "when_keeping": "pad"}
_NOTHING = {"epochs": "endless"}
_RAISED = {"failed": {"kind": "raised", "where": "step"}}


def readings() -> Iterator[Other]:
    """Files, what goes on, what passes lack, and how they are cut."""
    yield from _in_files()
    yield from _going_on()
    yield from _lacking()
    yield from _cut_by_ranks()
    yield from _cut_in_one_stream()


def _of(samples: int, ranks: int, step: int = 1, passes: int = 2, **more: Any) -> Scenario:
    return Scenario(samples, ranks, step, epochs=passes, conduct="endless", **more)


def _in_files() -> Iterator[Other]:
    files = Scenario(5, 2, 2, conduct="sharded@2")
    lost: Delivered = [[[[0, 1]]], [[[2, 3]]]]
    yield "the tail of a file is dropped, and the rest is kept", files, {"drops": "per-shard"}, lost, {}
    yield "files raise, and steps need not be equal", files, {"drops": "per-shard"}, [[], []], _RAISED
    few = {"drops": "per-shard", "equal_steps": True, "smallest": "step"}
    yield "files below the smallest raise", Scenario(3, 2, 2, conduct="sharded@2"), few, [[], []], _RAISED


def _going_on() -> Iterator[Other]:
    early: Delivered = [[[[0, 1], [2, 0]]]]
    yield "fewer steps than are read, dropping", _of(3, 1, 2, drop_last=True), _DROP, early, {}
    yield "fewer samples than ranks, and a step of none", _of(1, 2), _UNEVEN, [[[[0], []]], [[]]], {}
    yield "fewer samples than ranks, and it raises", _of(1, 2), _UNEVEN, [[[]], [[]]], _RAISED
    yield "below the smallest, and it raises", _of(1, 2), {**_UNEVEN, "smallest": "step"}, [[[]], [[]]], _RAISED
    yield "all passes, and then it raises", _of(2, 1), _UNEVEN, ranks_of([0, 1, 0, 1]), _RAISED


def _lacking() -> Iterator[Other]:
    fives = ranks_of([0, 2, 0, 2, 0, 2], [1, 3, 1, 3, 1, 3])
    yield "passes that drop one sample of five", _of(5, 2), _DROP, fives, {}
    four = [[0], [1], [2], [3]]
    yield "two whole passes where four are read for", _of(4, 1, 2, passes=4), _UNEVEN, [[[*four, *four]]], {}
    longer: Delivered = [[[[0, 1], [2, 3], [0], [1, 2], [3], [0], [1, 2], [3]]]]
    yield "three whole passes where four are read for", _of(4, 1, 2, passes=4), _UNEVEN, longer, {}
    foreign = ranks_of([0, 3, 9] * 2, [1, 4, 7] * 2, [2, 5, 8] * 2)
    yield "a foreign value where a sample may be lacking", _of(9, 3), _NOTHING, foreign, {}


def _cut_by_ranks() -> Iterator[Other]:
    """Each is right by one way of cutting alone: so many samples, or steps, of every rank."""
    short = [[0, 2, 4, 6], [1, 3, 5, 7]]
    yield "passes of floor(n / R) samples", _of(9, 2, 3), _DROP, _flowing(short, 3, 4), {}
    longer = [[0, 2, 4, 6, 8, 8, 6, 4, 2, 0], [1, 3, 5, 7, 0, 0, 7, 5, 3, 1]]
    yield "passes of ceil(n / R) samples", _of(9, 2, 3), _PAD, _flowing(longer, 3, 4), {}
    rounds = [[0, 1, 2, 3], [4, 5, 6, 7]]
    yield "passes of N floor(n / (N R)) samples", _of(11, 2, 2, drop_last=True), _DROP, _flowing(rounds, 1, 6), {}
    filled = [[0, 1, 2, 3], [0, 1, 2, 4]]
    yield "passes of N ceil(n / (N R)) samples", _of(5, 2, 2), _PAD, _flowing(filled, 1, 4), {}
    fewer: Delivered = [[[[0, 1, 2], [3, 4, 5]] * 3], [[[6, 7, 8], [9, 10]] * 3]]
    yield "passes of floor(n / (N R)) steps", _of(14, 2, 3), _NOTHING, fewer, {}
    first, second = [[0, 1], [2, 3], [4], [4, 0], [1, 2], [3]], [[5, 6], [7, 8], [0, 1], [0, 1], [5, 6], [7, 8]]
    more: Delivered = [[[*first, *first[:3]]], [[*second, *second[:3]]]]
    yield "passes of ceil(n / (N R)) steps", _of(9, 2, 2, passes=3), _PAD, more, {}


def _cut_in_one_stream() -> Iterator[Other]:
    """Each is right by one way of cutting alone: n samples, or whole steps of them, of one stream."""
    fives, tens = [0, 1, 2, 3, 4] * 4, [*range(10), 3, 0, 9, 1, 8, 2, 7, 4, 6, 5, 0, 1, 2, 3]
    yield "n samples of a stream, dealt out by samples", _of(5, 2, 2), _UNEVEN, _dealt(fives[:16], 2, 1), {}
    yield "whole steps of a stream, dealt out by samples", _of(11, 3, 2), _DROP, _dealt(tens, 3, 1), {}
    yield "whole steps of a stream, dealt out by steps", _of(11, 3, 2), _DROP, _dealt(tens, 3, 2), {}


def _flowing(passes: list[list[int]], step: int, steps: int) -> Delivered:
    """So many steps of every rank, in which pass follows pass."""
    rows = [each * (step * steps) for each in passes]
    return [[[row[at : at + step] for at in range(0, step * steps, step)]] for row in rows]


def _dealt(stream: list[int], ranks: int, together: int) -> Delivered:
    """A stream that is dealt out, so many samples at a time, in steps of two."""
    parts = [stream[at : at + together] for at in range(0, len(stream), together)]
    rows = [[sample for part in parts[rank::ranks] for sample in part] for rank in range(ranks)]
    return [[[row[at : at + 2] for at in range(0, len(row), 2)]] for row in rows]
