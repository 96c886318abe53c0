"""Verdicts that a judge gets wrong which was changed in one place, and which all the other vectors let pass.

An implementer from outside changed a judge of his own, one place at a time. Each delivery here sees a change that
nothing saw before, or decides what no sentence decided.
"""

from collections.abc import Iterator
from typing import Any

from conformance.loader.scenario import Scenario
from conformance.vectors.deliveries import MANY, Delivered, Other, Steps
from conformance.vectors.edges import epochs_of, ranks_of

_PAD = {"when_dropping": "pad", "when_keeping": "pad"}
_UNEVEN = {"when_dropping": "uneven", "when_keeping": "uneven"}
_DROP = {"when_dropping": "drop", "when_keeping": "drop"}
_GLOBAL = {**_DROP, "shuffle": "global"}
_SPLIT = {"datasets": ["iterable"], "iterable_workers": "split"}
_RAISED = {"failed": {"kind": "raised", "where": "step"}}


def unseen() -> Iterator[Other]:
    """Steps, runs, shuffled epochs, streams, and passes."""
    yield from _steps()
    yield from _empty_steps()
    yield from _runs()
    yield from _padded_runs()
    yield from _shuffled()
    yield from _left_over()
    yield from _streams()
    yield from _endless()


def _steps() -> Iterator[Other]:
    refused = Scenario(3, refusal="batch_size=0")
    yield "batch_size=0 is refused after an empty step", refused, _UNEVEN, [[[[]]]], _RAISED
    factors = {**_UNEVEN, "device_options": True}
    two = Scenario(4, 2, device_iterations=2)
    back: Delivered = [[[[1, 0]]], [[[3, 2]]]]
    yield "device factors, in any order", two, {**factors, "in_order": False}, back, {}
    apart: Delivered = [[[[0, 2]]], [[[1, 3]]]]
    yield "device factors, strided", two, {**factors, "layout": "strided"}, apart, {}


def _empty_steps() -> Iterator[Other]:
    """Where the policy gives a shard no size no clause names them, and they count as steps."""
    one: Delivered = [[[[0], [], [1]]]]
    yield "an empty step without a policy", Scenario(2), {}, one, {"lengths": [3]}
    yield "an empty step without a policy, left out of the length", Scenario(2), {}, one, {"lengths": [2]}
    once = dict.fromkeys(("when_dropping", "when_keeping"), "once")
    yield "an empty step of whole batches", Scenario(2, 2), once, [[[[0], [], [1]]], [[[]]]], {}
    yield "an empty step of whole batches, dropping", Scenario(2, 2, drop_last=True), once, [[[[0], []]], [[[1]]]], {}
    yield "an empty step of all there is, on one rank", Scenario(2, drop_last=True), once, one, {}
    yield "an empty step of a stream", Scenario(2, dataset="iterable"), _SPLIT, one, {}
    equal = {**_SPLIT, "equal_steps": True}
    yield "equal steps, one of them empty", Scenario(3, 2, dataset="iterable"), equal, [[[[0], [1]]], [[[2], []]]], {}


def _runs() -> Iterator[Other]:
    """Foreign values where the run of a rank has not begun."""
    runs = {**_UNEVEN, "layout": "contiguous"}
    five, whole = Scenario(5, 2), [0, 1, 2, 3, 4]
    yield "a foreign value before a run", five, runs, ranks_of([0, 1, 2], [9, 3, 4]), {}
    yield "a foreign value alone on its rank", five, runs, ranks_of([0, 1, 2], [9]), {}
    yield "a foreign value, and then what comes again", five, runs, ranks_of([0, 1, 2], [9, 0]), {}
    yield "a foreign value on a rank before a run", Scenario(2, 2), runs, ranks_of([9], [0, 1]), {}
    yield "a foreign value before what comes again on the next rank", five, runs, [*ranks_of([0, 9], whole)], {}
    yield "a foreign value below 0 before a run", five, runs, ranks_of([0, 1, 2], [-1, 3, 4]), {}
    yield "a foreign value below 0 alone on its rank", five, runs, ranks_of([0, 1, 2], [-1]), {}
    yield "a foreign value below 0 after all runs", five, runs, ranks_of(whole, [-1]), {}


def _padded_runs() -> Iterator[Other]:
    padded = {**_PAD, "layout": "contiguous"}
    five = Scenario(5, 2)
    yield "a foreign value before a padded run", five, padded, ranks_of([0, 1, 2], [9, 3, 4]), {}
    yield "a foreign value between padding and a run", five, padded, ranks_of([0, 1, 2], [0, 9, 3, 4]), {}
    yield "a foreign value, and then padding alone", five, padded, ranks_of([0, 1, 2], [9, 0, 1]), {}
    yield "padding, and then a foreign value", five, padded, ranks_of([0, 1, 2], [0, 9]), {}
    yield "a foreign value and padding, and then a run", Scenario(4, 2), padded, ranks_of([9, 2], [0, 1, 2]), {}
    yield "a foreign value below 0, and then padding alone", five, padded, ranks_of([0, 1, 2], [-1, 0, 1]), {}
    every = ranks_of([0, 1, 2, 3, 4], [-1, 0])
    yield "a foreign value below 0 after all padded runs", five, padded, every, {}
    yield "nothing but padding", Scenario(4, 2), padded, ranks_of([2, 3], [2, 3]), {}
    strides = {**_PAD, "layout": "strided"}
    any_order = {**strides, "in_order": False}
    yield "padding in strides, in any order", Scenario(3, 2), any_order, ranks_of([2, 0], [0, 1]), {}


def _shuffled() -> Iterator[Other]:
    order = [5, 3, 11, 0, 7, 1, 12, 9, 2, 4, 10, 8, 6]
    asked = Scenario(13, shuffle=True, epochs=2)
    elsewhere = epochs_of([*order, 99], [98, *order])
    yield "one order twice, foreign values elsewhere", asked, _GLOBAL, elsewhere, {}
    halves: Delivered = [epochs_of(order[:7], order[:7])[0], epochs_of(order[7:], order[7:])[0]]
    dealt = {"shuffle": "global", "assignment": "dynamic"}
    yield "one order twice, where ranks take from one queue", Scenario(13, 2, shuffle=True, epochs=2), dealt, halves, {}
    one = epochs_of(order, order)
    yield "one order twice, where one rank takes from a queue", asked, dealt, one, {}
    buffered = {"shuffle": "buffered", "when_dropping": "drop"}
    thirty, down = Scenario(30, shuffle=True, epochs=2), [*range(29, -1, -1)]
    foreign = epochs_of([*down, 99], [*down, 99])
    yield "one order of 30 twice through a buffer, and a foreign value", thirty, buffered, foreign, {}
    again = epochs_of([*down, 0], [*down, 0])
    yield "one order of 30 twice through a buffer, and one sample again", thirty, buffered, again, {}


def _left_over() -> Iterator[Other]:
    odd = [0, *(at.bit_count() % 2 for at in range(MANY - 1))]
    turns: list[Steps] = [[[turn, 1 - turn]] for turn in odd]
    asked = Scenario(3, 1, 2, shuffle=True, drop_last=True, epochs=MANY)
    yield "two epochs alike, and then others", asked, _GLOBAL, [turns], {}
    plain = Scenario(3, 1, 2, drop_last=True, epochs=MANY)
    yield f"{MANY} epochs that are not shuffled", plain, _GLOBAL, [turns], {}


def _streams() -> Iterator[Other]:
    few = {**_SPLIT, "smallest": "step"}
    lost = Scenario(1, 2, drop_last=True, dataset="iterable")
    yield "a stream below the smallest is lost, dropping", lost, few, ranks_of([], []), {}
    both = {"datasets": ["map", "iterable"], "iterable_workers": "split", "equal_steps": True}
    yield "equal steps of samples cost too much", Scenario(5, 2), both, ranks_of([0], [1]), {}
    files = {**both, "drops": "per-shard"}
    yield "equal steps of a stream of files", Scenario(5, 2, dataset="iterable"), files, ranks_of([0], [1]), {}


def _endless() -> Iterator[Other]:
    def of(samples: int, ranks: int, step: int = 1, passes: int = 2, **more: Any) -> Scenario:
        return Scenario(samples, ranks, step, epochs=passes, conduct="endless", **more)

    claims = {"epochs": "endless", **_UNEVEN}
    yield "one pass is read for, and no way has a whole one", of(3, 1, 2, passes=1), claims, [[[[0, 1], [0]]]], {}
    padded = {"epochs": "endless", **_PAD}
    yield "a sample for two ranks, padded", of(1, 2), padded, ranks_of([0, 0], [0, 0]), {}
    yield "a sample for two ranks, padded, and one ends early", of(1, 2), padded, ranks_of([0, 0], [0]), {}
    yield "a sample for two ranks, and both deliver it", of(1, 2), claims, ranks_of([0, 0], [0, 0]), {}
    unlike: Delivered = [[[[0, 2], [1, 0], [0]]], [[[1, 0], [2], [1]]]]
    yield "a stream ends in the round in which a rank has no more", of(3, 2, 2, passes=3), claims, unlike, {}
