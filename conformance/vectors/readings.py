"""Verdicts in which two readings of chapters 1 to 4 part: an implementer from outside took the other, or could have.

Each is told by the README of the vectors, and none of the deliveries in `deliveries.py` and `edges.py` tells it.
"""

from collections.abc import Iterator
from typing import Any

from conformance.loader.scenario import Scenario
from conformance.vectors.deliveries import MANY, Other, Steps
from conformance.vectors.edges import epochs_of, ranks_of

_PAD = {"when_dropping": "pad", "when_keeping": "pad"}
_UNEVEN = {"when_dropping": "uneven", "when_keeping": "uneven"}
_DROP = {"when_dropping": "drop", "when_keeping": "drop"}
_GLOBAL = {"shuffle": "global"}
_RAISED = {"failed": {"kind": "raised", "where": "step"}}


def readings() -> Iterator[Other]:
    """Steps, shares, order, runs, shuffled epochs, and streams."""
    yield from _steps()
    yield from _many()
    yield from _shares()
    yield from _in_order()
    yield from _runs()
    yield from _padded_runs()
    yield from _shuffled()
    yield from _left_over()
    yield from _streams()


def _steps() -> Iterator[Other]:
    yield "no step of N, and none smaller than another", Scenario(7, 1, 4), _UNEVEN, [[[[0, 1, 2], [3, 4, 5], [6]]]], {}
    yield "each rank is given the length of rank 0", Scenario(3, 2), _UNEVEN, ranks_of([0, 2], [1]), {"lengths": [2, 2]}
    factors = {**_PAD, "device_options": True}
    elsewhere = [[[[0, 2]]], [[[1, 0]]]]
    yield "padding of another rank's sample", Scenario(3, 2, replication_factor=2), factors, elsewhere, {}
    told, strided = "padding before a sample, in strides", {**factors, "layout": "strided"}
    yield told, Scenario(3, 2, replication_factor=2), strided, elsewhere, {}
    one = Scenario(1)
    yield "one sample, smallest 1: raised", one, {**_UNEVEN, "smallest": 1}, [[]], _RAISED


def _many() -> Iterator[Other]:
    """Samples without number are an ending, not a count."""
    again = ranks_of([0, 1, 0, 1, 0, 1] * 8)
    yield "far more samples, and an end", Scenario(2), _UNEVEN, again, {}
    for samples, smallest in ((2, 0), (0, 0), (0, 1)):
        told = f"{samples} samples, smallest {smallest}: stopped among more and more"
        claims = {**_UNEVEN, "smallest": smallest}
        yield told, Scenario(samples), claims, [[]], {"failed": {"kind": "endless", "where": "step"}}


def _shares() -> Iterator[Other]:
    yield "as many as ranks are dropped, and the rest is kept", Scenario(4, 2, 2), _DROP, [[[[0]]], [[[1]]]], {}
    yield "a foreign value below 0", Scenario(2), _UNEVEN, ranks_of([0, -1]), {}
    filled = [[[[0, 1], [2, 0]]], [[[3, 9], [1, 2]]]]
    yield "full last steps, with a foreign value in them", Scenario(5, 2, 2), _PAD, filled, {}
    parts = [[[[0, 1], [2, 3]]], [[[4, 5], [6]]], [[[7, 8]]]]
    yield "three sizes in two numbers of steps", Scenario(9, 3, 2), _DROP, parts, {}
    yield "nothing is claimed, and a foreign value comes twice", Scenario(1), {}, ranks_of([5, 5]), {}


def _in_order() -> Iterator[Other]:
    claims = {**_PAD, "device_options": True, "layout": "contiguous"}
    asked = Scenario(3, replication_factor=2)
    yield "a step that ends with padding, by device factors", asked, claims, [[[[0, 1], [2, 0]]]], {}


def _runs() -> Iterator[Other]:
    runs, strides = {**_UNEVEN, "layout": "contiguous"}, {**_UNEVEN, "layout": "strided"}
    yield "a gap before the first rank", Scenario(4, 2), runs, ranks_of([1], [2, 3]), {}
    yield "after the end, what is foreign, of one sample", Scenario(2, 2), strides, ranks_of([0, 7], [1]), {}
    early = ranks_of([4, 0], [1, 2, 3, 4, 0])
    yield "after a run that ends with what comes again", Scenario(5, 2), runs, early, {}
    yield "after the end, what another rank has later", Scenario(3, 2), runs, ranks_of([2, 0], [0]), {}


def _padded_runs() -> Iterator[Other]:
    padded = {**_PAD, "layout": "contiguous"}
    yield "a padded run with a gap, and nothing twice in it", Scenario(4, 2), padded, ranks_of([0, 2], [3, 3]), {}
    yield "padding within the last run", Scenario(5, 2), padded, ranks_of([0, 1, 2], [3, 0, 4]), {}
    for foreign in (5, 9):
        told = f"after the end of padded runs, the foreign {foreign}"
        yield told, Scenario(5, 2), padded, ranks_of([0, 1, 2], [3, 4, foreign]), {}
    yield "before the end of padded runs, the foreign 9", Scenario(5, 2), padded, ranks_of([0, 1, 9], [3, 4, 2]), {}
    within = ranks_of([2, 0, 1], [3, 2, 4, 5])
    yield "a foreign value in place of a sample in no run", Scenario(5, 2), padded, within, {}


def _shuffled() -> Iterator[Other]:
    kept = {"unshuffled": [[[[0, 1], [2]]]]}
    claims = {**_PAD, **_GLOBAL}
    more = [[[[2, 0], [1, 0], [2]]]]
    yield "padding on one rank, shuffled alone", Scenario(3, 1, 2, shuffle=True), claims, more, kept
    claims = {**_DROP, **_GLOBAL}
    asked = Scenario(8, 1, 2, drop_last=True, shuffle=True)
    whole = {"unshuffled": [[[[0, 1], [2, 3], [4, 5], [6, 7]]]]}
    yield "most is dropped, shuffled alone", asked, claims, [[[[3, 1]]]], whole
    later = {"unshuffled": epochs_of([0, 1, 2, 2, 2])}
    drawn = epochs_of([4, 1, 4, 2, 0], [3, 3, 3, 3, 3])
    yield "worse than unshuffled in its second epoch", Scenario(5, shuffle=True, epochs=2), claims, drawn, later
    some = Scenario(13, 1, 7, drop_last=True, shuffle=True, epochs=2)
    part: list[Steps] = [[[7, 2, 11, 0, 5, 9, 1]]] * 2
    yield "one order twice, of 7 samples of 13", some, claims, [part], {}
    foreign: list[Steps] = [[[7, 2, 11, 0, 5, 9, 1], [20, 21, 22, 23, 24, 25]]] * 2
    yield (
        "one order twice, of 7 samples of 13 and 6 foreign values",
        Scenario(13, 1, 7, shuffle=True, epochs=2),
        claims,
        [foreign],
        {},
    )
    buffered = {**_DROP, "shuffle": "buffered"}
    cut = Scenario(31, 1, 30, drop_last=True, shuffle=True, epochs=2)
    yield "one order twice, of 30 of 31 through a buffer", cut, buffered, [[[list(range(30))]] * 2], {}


def _left_over() -> Iterator[Other]:
    odd = [at.bit_count() % 2 for at in range(MANY)]
    turns: list[Steps] = [[[turn, 1 - turn]] for turn in odd]
    asked = Scenario(3, 1, 2, shuffle=True, drop_last=True, epochs=MANY)
    yield "left over forever, and no policy of dropping", asked, {"when_keeping": "uneven", **_GLOBAL}, [turns], {}
    yield f"{MANY} epochs that fail", asked, {**_DROP, **_GLOBAL}, [[]], _RAISED
    ready = {**_DROP, **_GLOBAL, "in_order": False}
    alike: list[Steps] = [[[0, 1]]] * MANY
    yield f"{MANY} epochs alike, in any order", asked, ready, [alike], {}
    half = MANY // 2
    for first, told in ((half, "the half of them"), (half + 1, "more than the half of them")):
        order = (turns[:half] + [[[1, 0]]] * (first - half))[:first]
        come = [*order, *order][:MANY]
        yield f"{MANY} epochs that come round after {told}", asked, {**_DROP, **_GLOBAL}, [come], {}


def _streams() -> Iterator[Other]:
    split: dict[str, Any] = {"datasets": ["iterable"], "iterable_workers": "split"}
    copies = {**split, "iterable_workers": "replicated"}
    two = Scenario(2, 1, 2, drop_last=True, dataset="iterable", num_workers=2)
    yield "as much of a stream is dropped as may be", two, split, [[[]]], {}
    three = Scenario(3, 1, 2, drop_last=True, dataset="iterable")
    yield "one copy more is dropped than may be", three, copies, [[[[0]]]], {}
    yield "three copies of one element, and none of two", three, copies, [[[[0, 0], [0]]]], {}
    yield "a foreign element overtakes", Scenario(2, dataset="iterable"), split, ranks_of([0, 7, 1]), {}
    yield "an element and a foreign one", Scenario(1, dataset="iterable"), split, ranks_of([0, 7]), {}
    for name, claims in (("a stream", split), ("a stream of copies", copies)):
        few = {**claims, "smallest": "step"}
        asked = Scenario(1, 1, 2, dataset="iterable")
        yield f"{name} below the smallest raises", asked, few, [[]], _RAISED
        yield f"{name} below the smallest is lost", asked, few, [[[]]], {}
