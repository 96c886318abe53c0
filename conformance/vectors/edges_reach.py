"""Verdicts at the edges of the clauses of chapters 4 and 11: streams, equal steps, files, and passes without end."""

from collections.abc import Iterator
from typing import Any

from conformance.loader.scenario import Scenario
from conformance.vectors.deliveries import Other
from conformance.vectors.edges import ranks_of

_PAD = {"when_dropping": "pad", "when_keeping": "pad"}


def edges() -> Iterator[Other]:
    """Streams, equal steps of streams and of files, and passes."""
    yield from _streams()
    yield from _equal()
    yield from _in_files()
    yield from _endless()


def _streams() -> Iterator[Other]:
    split = {"datasets": ["iterable"], "iterable_workers": "split"}
    copies = {"datasets": ["iterable"], "iterable_workers": "replicated"}

    def of(samples: int, ranks: int = 1, step: int = 1, **more: Any) -> Scenario:
        return Scenario(samples, ranks, step, dataset="iterable", **more)

    yield "one element twice in a row", of(2, num_workers=1), split, ranks_of([0, 0, 1]), {}
    yield "as many falls as workers", of(3, num_workers=3), split, ranks_of([2, 1, 0]), {}
    yield "steps in any order", of(3), {**split, "in_order": False}, ranks_of([2, 1, 0]), {}
    yield "a stream without elements", of(0), split, ranks_of([]), {}
    yield "a stream of one element", of(1), split, ranks_of([0]), {}
    yield "a stream that raises", of(1), split, [[]], {"failed": {"kind": "raised", "where": "step"}}
    yield "a stream that raises, replicated", of(1), copies, [[]], {"failed": {"kind": "raised", "where": "step"}}
    dropping = of(3, 2, 3, drop_last=True, num_workers=2)
    yield "all of a stream may be dropped", dropping, split, [[[]], [[]]], {}
    yield "all but the last of what may be dropped", of(9, 2, 3, drop_last=True, num_workers=2), split, [[[]], [[]]], {}
    yield "too often from one rank", of(2, 2, drop_last=True), copies, ranks_of([0, 0, 1], [0, 1]), {}
    yield "what is lacking on one rank comes on the other", of(2, 2, 2, drop_last=True), copies, [[[[0, 1]]], [[]]], {}
    unsaid = {"datasets": ["iterable"]}
    yield "nothing is said of workers", of(2), unsaid, ranks_of([0, 1]), {}
    for claims in (split, copies):
        yield "a stream without elements, dropping", of(0, 2, drop_last=True), claims, ranks_of([], []), {}
    by_file = {**split, "drops": "per-shard"}
    yield "what is dropped is said of files", of(4, drop_last=True), by_file, ranks_of([0]), {}


def _equal() -> Iterator[Other]:
    claims = {"datasets": ["iterable"], "iterable_workers": "split", "equal_steps": True}
    pads = {**claims, **_PAD}

    def of(samples: int, ranks: int = 2, **more: Any) -> Scenario:
        return Scenario(samples, ranks, dataset="iterable", **more)

    yield "all of a stream may be lost for equal steps", of(1), claims, ranks_of([], []), {}
    yield "as much is lost as may be", of(5), claims, ranks_of([0, 2], [1, 3]), {}
    yield "as much comes again as may", of(3), pads, ranks_of([0, 1], [2, 0]), {}
    yield "more comes again", of(2, num_workers=1), pads, ranks_of([0, 1], [0, 1]), {}
    yield "more comes again, and no padding is claimed", of(2), claims, ranks_of([0, 1], [0, 1]), {}
    yield "with two workers as much may be lost twice", of(7, num_workers=2), claims, ranks_of([0, 2], [1, 3]), {}
    yield "equal steps of copies", of(2), {**claims, "iterable_workers": "replicated"}, ranks_of([0, 1], [0, 1]), {}
    alone = of(5, 1)
    yield "equal steps of one rank", alone, claims, ranks_of([0]), {}
    yield "a stream with equal steps raises", of(5), claims, [[], []], {"failed": {"kind": "raised", "where": "step"}}
    plain = {"equal_steps": True}
    yield "equal steps without a policy", Scenario(3, 2), plain, ranks_of([0], [1]), {}
    yield "unequal steps without a policy", Scenario(3, 2), plain, ranks_of([0, 2], [1]), {}
    dropping = {"equal_steps": True, "when_dropping": "drop"}
    yield "a policy says so", Scenario(3, 2, drop_last=True), dropping, ranks_of([0, 2], [1]), {}


def _in_files() -> Iterator[Other]:
    equal = {"equal_steps": True, "drops": "per-shard"}
    one, other = [0, 1, 2, 7, 8, 9, 10, 11], [3, 4, 5, 6, 12, 13, 14, 15, 16, 17]
    files = Scenario(18, 2, conduct="sharded@4")
    yield "a sample of another file again", files, equal, ranks_of(one, [*other[:7], 0]), {}
    yield "as much is dropped of files as may be", files, equal, ranks_of(one[:7], other[:7]), {}
    yield "a sample more is dropped of files", files, equal, ranks_of(one[:7], other[:6]), {}
    workers = Scenario(18, 2, num_workers=3, conduct="sharded@4")
    threes = Scenario(18, 2, 3, conduct="sharded@4")
    kept = [[[[0, 1, 2], [7, 8, 9]]], [[[3, 4, 5], [12, 13, 14]]]]
    yield "whole steps of the smallest files", threes, equal, kept, {}
    yield (
        "a step less than the smallest files have",
        threes,
        equal,
        [[[[0, 1, 2], [7, 8, 9]]], [[[3, 4, 5], [12, 13]]]],
        {},
    )
    yield "all of four files may be dropped", workers, equal, ranks_of([], []), {}
    each = {"drops": "per-shard"}
    halves = [[[[0, 1], [7, 8], [9, 10]]], [[[3, 4], [5, 6], [12, 13], [14, 15], [16, 17]]]]
    yield "each file drops its rest", Scenario(18, 2, 2, drop_last=True, conduct="sharded@4"), each, halves, {}
    fewer = [halves[0], [halves[1][0][:4]]]
    yield "a file drops a step", Scenario(18, 2, 2, drop_last=True, conduct="sharded@4"), each, fewer, {}
    yield "files are kept, and a sample is lost", files, each, ranks_of(one, other[:9]), {}
    odd = Scenario(18, 2, 2, conduct="sharded@4")
    yield "files are kept, with their rests", odd, each, [[[[0, 1], [2], [7, 8], [9, 10], [11]]], halves[1]], {}
    yield "a rank of files raises", files, equal, [[], []], {"failed": {"kind": "raised", "where": "step"}}


def _endless() -> Iterator[Other]:
    uneven = {"epochs": "endless", "when_keeping": "uneven"}

    def of(samples: int, ranks: int, step: int = 1, passes: int = 2, **more: Any) -> Scenario:
        return Scenario(samples, ranks, step, epochs=passes, conduct="endless", **more)

    yield "passes with a foreign value", of(2, 1), uneven, ranks_of([0, 1, 0, 9]), {}
    yield "passes with a step of too many", of(2, 1), uneven, [[[[0, 1], [0], [1], [0]]]], {}
    yield "passes with a step of none", of(2, 1), uneven, [[[[0], [], [1], [0]]]], {}
    yield "a pass in place of another's sample", of(2, 1), uneven, ranks_of([0, 1, 0, 0]), {}
    yield "passes that raise", of(2, 1), uneven, [[]], {"failed": {"kind": "raised", "where": "step"}}
    padded = {"epochs": "endless", "when_keeping": "pad"}
    yield "padded passes", of(3, 2), padded, ranks_of([0, 2, 0, 2], [1, 0, 1, 0]), {}
    yield "padded passes, claimed as uneven", of(3, 2), uneven, ranks_of([0, 2, 0, 2], [1, 0, 1, 0]), {}
    yield "fewer samples than ranks", of(1, 2), uneven, ranks_of([0, 0], []), {}
    nothing = {"epochs": "endless"}
    yield "half of a pass may be lacking", of(2, 2), nothing, ranks_of([0, 0], [0, 0]), {}
    yield (
        "passes without a policy, one of five samples lacking",
        of(5, 2),
        nothing,
        ranks_of([0, 2, 0, 2, 0, 2], [1, 3, 1, 3, 1, 3]),
        {},
    )
    yield "one of three samples is lacking", of(3, 2), nothing, ranks_of([0, 0, 0, 0], [1, 1, 1, 1]), {}
    yield "two of four samples are lacking", of(4, 2), nothing, ranks_of([0, 0, 0, 0], [1, 1, 1, 1]), {}
    steps = [[[[0, 1], [2], [0, 1], [2]]], [[[3, 4], [3, 4], [3, 4], [3, 4]]]]
    yield "a pass is two steps of one rank, and one of the other", of(5, 2, 2), uneven, steps, {}
    of_steps = [[[[0, 1], [4], [0, 1], [4]]], [[[2, 3], [5], [2, 3], [5]]]]
    yield "passes that end with a smaller step", of(6, 2, 2), uneven, of_steps, {}
    in_turn = [[[[0, 1], [4, 0], [3, 4], [2, 3]]], [[[2, 3], [1, 2], [0, 1], [4, 0]]]]
    yield "passes of a stream that is dealt out by steps", of(5, 2, 2), uneven, in_turn, {}
    rounds = [[[[0, 1], [2, 3], [0, 1], [2, 3], [0, 1], [2, 3]]], [[[4, 5], [6, 7], [4, 5], [6, 7], [4, 5], [6, 7]]]]
    drops = {"epochs": "endless", "when_dropping": "drop", "when_keeping": "drop"}
    yield "whole rounds of passes", of(9, 2, 2, drop_last=True), drops, rounds, {}
    yield "less than a step of all ranks, dropping", of(3, 2, 2, drop_last=True), drops, [[[]], [[]]], {}
    filled = [[[[0, 1], [2, 0], [0, 1], [2, 0]]], [[[3, 4], [1, 2], [3, 4], [1, 2]]]]
    yield "passes with full last steps", of(5, 2, 2), padded, filled, {}
    worse = [[[[0, 1], [2, 0], [0, 1], [2, 0]]], [[[3, 3], [1, 2], [3, 3], [1, 2]]]]
    yield "passes with full last steps, one sample lost", of(5, 2, 2), padded, worse, {}
    dropping = {"epochs": "endless", "when_dropping": "drop", "when_keeping": "uneven"}
    wrong = [[[[0, 1], [4, 0], [0, 1], [4, 0], [0, 1], [4, 0]]]]
    yield (
        "whole steps of passes",
        of(5, 1, 2, drop_last=True),
        dropping,
        [[[[0, 1], [2, 3], [4, 0], [1, 2], [3, 4], [0, 1]]]],
        {},
    )
    yield "whole steps of passes that lack too many", of(5, 1, 2, drop_last=True), dropping, wrong, {}
