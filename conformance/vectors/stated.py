"""Verdicts about half-sentences: each is said by a text, and a judge that left it out passed every other vector.

The third implementer from outside found them, by leaving them out of a judge of his own.
"""

from collections.abc import Iterator
from typing import Any

from conformance.loader.scenario import Scenario
from conformance.vectors.deliveries import MANY, Delivered, Other, Steps
from conformance.vectors.edges import epochs_of, ranks_of

_PAD = {"when_dropping": "pad", "when_keeping": "pad"}
_UNEVEN = {"when_dropping": "uneven", "when_keeping": "uneven"}
_GLOBAL = {"when_dropping": "drop", "when_keeping": "drop", "shuffle": "global"}
_ORDER = [7, 2, 11, 0, 5, 9, 1, 12, 3, 8, 6, 10, 4]


def stated() -> Iterator[Other]:
    """Foreign values, runs, shuffled epochs of two lengths, what is left over, streams, and passes."""
    yield from _foreign()
    yield from _laid_out()
    yield from _shuffled()
    yield from _left_over()
    yield from _streams()
    yield from _endless()


def _foreign() -> Iterator[Other]:
    late = {"failed": {"kind": "raised", "where": "step"}}
    refused = Scenario(3, refusal="batch_size=0")
    yield "batch_size=0 is refused after a foreign value", refused, _UNEVEN, [[[[9]]]], late
    for where in ("len", "close"):
        told = {"failed": {"kind": "raised", "where": where}}
        yield f"batch_size=0 is refused by {where}", refused, _UNEVEN, [[[]]], told
    replicas = Scenario(3, replication_factor=2)
    claims = {"device_options": True}
    yield "a sample and a foreign value in one step, with replicas", replicas, claims, [[[[0, 9]]]], {}


def _laid_out() -> Iterator[Other]:
    strided = {**_UNEVEN, "layout": "strided", "device_options": True}
    back: Delivered = [[[[4, 6], [0, 2]]], [[[5, 7], [1, 3]]]]
    yield "steps exchanged, with device iterations", Scenario(8, 2, device_iterations=2), strided, back, {}
    padded = {**_PAD, "layout": "contiguous"}
    told = "a sample on both sides of a foreign value, and in no padded run"
    yield told, Scenario(4, 2), padded, ranks_of([0, 1], [2, 9, 2]), {}


def _shuffled() -> Iterator[Other]:
    """u and s are counted in the first epoch, and orders are compared all the same."""
    alone, asked = {"shuffle": "global"}, Scenario(13, shuffle=True, epochs=2)
    yield "the second epoch is short", asked, alone, epochs_of(_ORDER, _ORDER[:3]), {}
    yield "the first epoch is short", asked, alone, epochs_of(_ORDER[:3], _ORDER), {}
    long = [*_ORDER, *range(13, 31)]
    asked, buffered = Scenario(31, shuffle=True, epochs=2), {"shuffle": "buffered"}
    yield "the second epoch is short, through a buffer", asked, buffered, epochs_of(long, _ORDER[:3]), {}


def _left_over() -> Iterator[Other]:
    odd = [at.bit_count() % 2 for at in range(MANY)]
    turns: list[Steps] = [[[turn, 1 - turn]] for turn in odd]
    asked = Scenario(3, 1, 2, shuffle=True, drop_last=True, epochs=MANY)
    buffered = {**_GLOBAL, "shuffle": "buffered"}
    yield f"one sample is left over {MANY} times, through a buffer", asked, buffered, [turns], {}
    yield "a sample that comes in the first epoch alone", asked, _GLOBAL, [[[[2, 0]], *turns[1:]]], {}
    queue = {**_GLOBAL, "assignment": "dynamic"}
    alike: Delivered = [[[[0, 1]]] * MANY, [[[2, 3]]] * MANY]
    two = Scenario(5, 2, 2, shuffle=True, drop_last=True, epochs=MANY)
    yield f"{MANY} epochs alike, where ranks take from one queue", two, queue, alike, {}
    yield f"{MANY} epochs alike, where one rank takes from a queue", asked, queue, [[[[0, 1]]] * MANY], {}


def _streams() -> Iterator[Other]:
    split: dict[str, Any] = {"datasets": ["iterable"], "iterable_workers": "split", "equal_steps": True}
    padded = {**split, **_PAD}
    back = ranks_of([0, 2, 4], [3, 1, 0])
    yield "a padded stream, out of order before its padding", Scenario(5, 2, dataset="iterable"), padded, back, {}
    dropping = Scenario(5, 1, 4, drop_last=True, dataset="iterable")
    yield "equal steps of one rank that drops a step", dropping, split, ranks_of([]), {}


def _endless() -> Iterator[Other]:
    claims = {"epochs": "endless"}
    asked = Scenario(5, 2, epochs=2, conduct="endless")
    twice = ranks_of([0, 2, 4, 0, 2, 4], [1, 3, 0, 1, 3, 0])
    yield "passes that hold a sample twice, without a policy", asked, claims, twice, {}
    yield "an empty step of an empty dataset without end", Scenario(0, conduct="endless"), claims, [[[[]]]], {}
