"""What is delivered in the verdict vectors: right shards, made by the policy table, and what may be wrong with them."""

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

from conformance.loader.scenario import Scenario

Steps = list[list[int]]
Delivered = list[list[Steps]]  # rank, epoch, step, sample

MANY = 64  # epochs, for PART-8


def shards(samples: int, step: int, ranks: int, drop_last: bool, policy: str, layout: str) -> list[Steps]:
    """The steps of each rank in one unshuffled epoch, right by the policy rule; padding goes round from the front."""
    size, rest = divmod(samples, ranks)
    sizes = {"drop": [size], "pad": [size + (rest > 0)], "uneven": [size + (rank < rest) for rank in range(ranks)]}
    sizes[policy] *= ranks if policy != "uneven" else 1
    found = []
    for rank, mine in enumerate(sizes[policy]):
        order = islice(cycle(range(samples)), mine * ranks if policy == "pad" else samples)
        start = sum(sizes[policy][:rank])
        shard = list(order)[start : start + mine] if layout == "contiguous" else list(order)[rank::ranks][:mine]
        steps = [shard[at : at + step] for at in range(0, len(shard), step)]
        found.append([each for each in steps if len(each) == step or not drop_last])
    return found


# --- faults -----------------------------------------------------------------------------------------------------------


def _lost(right: list[Steps], samples: int) -> list[Steps]:
    """The last sample of the last rank does not come."""
    return _with_last(right, lambda step: step[:-1])


def _twice(right: list[Steps], samples: int) -> list[Steps]:
    """The first sample of rank 0 comes in the place of the last one of the last rank."""
    return _with_last(right, lambda step: [*step[:-1], right[0][0][0]])


def _foreign(right: list[Steps], samples: int) -> list[Steps]:
    """What comes last is no sample of the dataset."""
    return _with_last(right, lambda step: [*step[:-1], samples])


def _with_last(right: list[Steps], change: Callable[[list[int]], list[int]]) -> list[Steps]:
    rank = next((rank for rank in reversed(range(len(right))) if right[rank]), None)
    if rank is None:
        return right
    last = change(right[rank][-1])
    return [*right[:rank], [*right[rank][:-1], *([last] if last else [])], *right[rank + 1 :]]


def _backwards(right: list[Steps], samples: int) -> list[Steps]:
    """Rank 0 comes from its end to its beginning."""
    return [[step[::-1] for step in right[0][::-1]], *right[1:]]


def _exchanged(right: list[Steps], samples: int) -> list[Steps]:
    """Rank 0 has what the last rank should have, and the other way round."""
    return [right[-1], *right[1:-1], right[0]] if len(right) > 1 else right


def _copied(right: list[Steps], samples: int) -> list[Steps]:
    """Every rank has what rank 0 has."""
    return [right[0]] * len(right)


def _parted(right: list[Steps], samples: int) -> list[Steps]:
    """Rank 0's first step comes as two."""
    if not right[0] or len(right[0][0]) < 2:
        return right
    return [[right[0][0][:1], right[0][0][1:], *right[0][1:]], *right[1:]]


def _joined(right: list[Steps], samples: int) -> list[Steps]:
    """Rank 0's first two steps come as one."""
    return [[right[0][0] + right[0][1], *right[0][2:]], *right[1:]] if len(right[0]) > 1 else right


def _empty(right: list[Steps], samples: int) -> list[Steps]:
    """The last rank has a step without a sample more."""
    return [*right[:-1], [*right[-1], []]]


def _a_step_less(right: list[Steps], samples: int) -> list[Steps]:
    """The last rank ends a step early."""
    return [*right[:-1], right[-1][:-1]]


def _nothing(right: list[Steps], samples: int) -> list[Steps]:
    """No rank delivers anything."""
    return [[] for _ in right]


FAULTS: dict[str, Callable[[list[Steps], int], list[Steps]]] = {
    "": lambda right, samples: right,
    "lost": _lost,
    "twice": _twice,
    "foreign": _foreign,
    "backwards": _backwards,
    "exchanged": _exchanged,
    "copied": _copied,
    "parted": _parted,
    "joined": _joined,
    "empty step": _empty,
    "a step less": _a_step_less,
    "nothing": _nothing,
}

# --- other kinds ------------------------------------------------------------------------------------------------------

Other = tuple[str, Scenario, dict[str, Any], Delivered, dict[str, Any]]
_UNEVEN = {"when_dropping": "drop", "when_keeping": "uneven"}
_SHUFFLED = {**_UNEVEN, "shuffle": "global"}
_ONE = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
_OTHER = [7, 2, 11, 0, 5, 9, 1, 12, 3, 8, 6, 10, 4]


def others() -> Iterator[Other]:
    """Padding that stands elsewhere, lengths, layouts, refusals, errors, shuffled epochs, streams."""
    yield from _padded()
    yield from _lengths()
    yield from _laid_out()
    yield from _refused()
    yield from _failed()
    yield from _shuffled()
    yield from _streams()


def _padded() -> Iterator[Other]:
    pad = {"when_dropping": "pad", "when_keeping": "pad"}
    for name, world, steps in (
        ("padding completes the last round", 4, [[[0, 1], [2]], [[3, 4], [5]], [[6, 7], [8]], [[9, 0], [1]]]),
        (
            "padding completes the last steps",
            4,
            [[[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [0, 1]], [[2, 3], [4, 5]]],
        ),
        ("one repeat too many", 2, [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [0, 1]]]),
        ("too few for equal ranks", 4, [[[0, 1], [2]], [[3, 4], [5]], [[6, 7], [8]], [[9]]]),
        ("a repeat in the place of a sample", 2, [[[0, 1], [2, 3], [4]], [[5, 6], [7, 8], [8]]]),
    ):
        yield name, Scenario(10, world, 2), pad, [[each] for each in steps], {}
    runs = {**pad, "layout": "contiguous"}
    for name, steps in (
        ("padding of one's own in each run", [[[0, 1]], [[2, 2]], [[3, 3]]]),
        ("padding in front of a run", [[[0, 1]], [[0, 2]], [[1, 3]]]),
        ("padding from another run", [[[0, 2]], [[1, 2]], [[3, 3]]]),
        ("a run with a gap", [[[0, 3]], [[1, 2]], [[2, 2]]]),
        ("runs in another order", [[[2, 2]], [[0, 1]], [[3, 3]]]),
    ):
        yield name, Scenario(4, 3, 2), runs, [[each] for each in steps], {}
    once = dict.fromkeys(("when_dropping", "when_keeping"), "once")
    dealt = [[[[0, 1], [4]]], [[[2, 3]]]]
    yield "whole batches dealt out", Scenario(5, 2, 2), once, dealt, {}
    uneven = [[[[0, 1], [4, 5]]], [[[2, 3]]]]
    yield "whole batches dealt out, claimed as uneven", Scenario(6, 2, 2), _UNEVEN, uneven, {}
    yield "whole batches, one of them twice", Scenario(5, 2, 2), once, [[[[0, 1], [4]]], [[[2, 3], [4]]]], {}
    yield "whole batches, one of them lost", Scenario(5, 2, 2), once, [[[[0, 1]]], [[[2, 3]]]], {}
    one_each = [[[[0]]], [[[0]]], [[[0]]], [[[0]]]]
    yield "one sample for all ranks", Scenario(1, 4), pad, one_each, {}
    yield "one pass of padding", Scenario(1, 4), pad, [[[[0]]], [[[0]]], [[]], [[]]], {}


def _lengths() -> Iterator[Other]:
    for length, told in ((3, "the steps"), (5, "the samples"), (2, "one too few")):
        yield f"len says {told}", Scenario(5, 1, 2), _UNEVEN, [[[[0, 1], [2, 3], [4]]]], {"lengths": [length]}


def _laid_out() -> Iterator[Other]:
    claims = {**_UNEVEN, "device_options": True, "layout": "contiguous"}
    request = Scenario(8, 1, 2, replication_factor=2, device_iterations=2, drop_last=True)
    yield "laid out by device iteration, then replica", request, claims, [[[[0, 1, 2, 3, 4, 5, 6, 7]]]], {}
    yield "laid out by replica, then device iteration", request, claims, [[[[0, 1, 4, 5, 2, 3, 6, 7]]]], {}
    stages = Scenario(10, 3, 1, replication_factor=2, drop_last=True)
    yield "cut once", stages, claims, [[[[0, 1]]], [[[2, 3]]], [[[4, 5]]]], {}
    yield "dealt out before it was cut", stages, claims, [[[[0, 1], [6, 7]]], [[[2, 3]]], [[[4, 5]]]], {}


def _refused() -> Iterator[Other]:
    for refusal in ("batch_size=0", "rank=2", "batch_size=1.5"):
        request = Scenario(4, 2, refusal=refusal)
        yield f"{refusal} is refused", request, _UNEVEN, [[]], {"failed": {"kind": "raised", "where": "load"}}
        yield f"{refusal} delivers", request, _UNEVEN, [[[[0], [1]]]], {}
        yield f"{refusal} ends quietly", request, _UNEVEN, [[[]]], {}
        yield f"{refusal} is refused late", request, _UNEVEN, [[[[0]]]], {"failed": {"kind": "raised", "where": "step"}}


def _failed() -> Iterator[Other]:
    for samples, smallest in ((0, 0), (0, 1), (1, 0), (1, "world_size"), (2, "world_size"), (1, "step"), (9, 0)):
        claims = {**_UNEVEN, "smallest": smallest}
        request = Scenario(samples, 2)
        for kind in ("raised", "hung"):
            told = f"{samples} samples, smallest {smallest}: {kind}"
            yield told, request, claims, [[], []], {"failed": {"kind": kind, "where": "load"}}
        right = [[steps] for steps in shards(samples, 1, 2, False, "uneven", "strided")]
        yield f"{samples} samples, smallest {smallest}: delivered", request, claims, right, {}


def _shuffled() -> Iterator[Other]:
    def epochs(*orders: list[int]) -> Delivered:
        return [[[[sample] for sample in order] for order in orders]]

    request = Scenario(13, shuffle=True, epochs=2)
    yield "two orders", request, _SHUFFLED, epochs(_ONE, _OTHER), {}
    yield "one order twice, of 13 samples", request, _SHUFFLED, epochs(_OTHER, _OTHER), {}
    five = [3, 0, 4, 1, 2]
    for times in (2, 5, 6):
        asked = Scenario(5, shuffle=True, epochs=times)
        yield f"one order {times} times, of 5 samples", asked, _SHUFFLED, epochs(*[five] * times), {}
    buffered = {**_UNEVEN, "shuffle": "buffered"}
    yield "one order twice, of 13 samples through a buffer", request, buffered, epochs(_OTHER, _OTHER), {}
    asked, plain = Scenario(5, shuffle=True), epochs([0, 1, 2, 3, 4])
    yield "drawn with replacement", asked, _SHUFFLED, epochs([3, 0, 4, 1, 3]), {"unshuffled": plain}
    again = [0, 1, 2, 3, 3]
    yield "as bad unshuffled", asked, _SHUFFLED, epochs([3, 0, 4, 1, 3]), {"unshuffled": epochs(again)}
    ranks = [[[[5], [2], [7], [1]]], [[[0], [3], [5], [6]]]]
    unshuffled = [[[[0], [2], [4], [6]]], [[[1], [3], [5], [7]]]]
    asked = Scenario(8, 2, shuffle=True)
    yield "each rank has a permutation of its own", asked, _SHUFFLED, ranks, {"unshuffled": unshuffled}
    ranks = [[[[5], [2], [7], [1]]], [[[0], [3], [4], [6]]]]
    yield "all ranks slice one permutation", asked, _SHUFFLED, ranks, {"unshuffled": unshuffled}
    asked = Scenario(3, 1, 2, shuffle=True, drop_last=True, epochs=MANY)
    # Not one after the other in a circle, which would be judged by ORDER-6.
    odd = [at.bit_count() % 2 for at in range(MANY)]
    turns = [[[(at + turn) % 3, (at + turn + 1) % 3]] for at, turn in enumerate(odd)]
    yield "each is left over in its turn", asked, _SHUFFLED, [turns], {}
    yield "sample 2 is left over forever", asked, _SHUFFLED, [[[[turn, 1 - turn]] for turn in odd]], {}


def _streams() -> Iterator[Other]:
    split = {"datasets": ["iterable"], "iterable_workers": "split"}
    copies = {"datasets": ["iterable"], "iterable_workers": "replicated"}
    two = Scenario(5, 1, 2, num_workers=2, dataset="iterable")
    yield "split", two, split, [[[[0, 2], [1, 3], [4]]]], {}
    yield "split, and the tail lost", two, split, [[[[0, 1], [2, 3]]]], {}
    yield "split, and not split", two, split, [[[[0, 1], [0, 1], [2, 3], [2, 3], [4], [4]]]], {}
    yield "more than two workers could have read in order", two, split, [[[[2, 3], [1, 4], [0]]]], {}
    yield "replicated", two, copies, [[[[0, 1], [0, 1], [2, 3], [2, 3], [4], [4]]]], {}
    yield "replicated by one worker", two, copies, [[[[0, 1], [2, 3], [4]]]], {}
    dropping = Scenario(5, 1, 2, drop_last=True, num_workers=2, dataset="iterable")
    yield "each worker drops its rest", dropping, split, [[[[0, 2], [1, 3]]]], {}
    yield "a worker drops a step", dropping, split, [[[[0, 2]]]], {}
    yield "replicated, each drops its rest", dropping, copies, [[[[0, 1], [0, 1], [2, 3], [2, 3]]]], {}
    yield "replicated, a step of one is dropped", dropping, copies, [[[[0, 1], [0, 1], [2, 3]]]], {}
    whole = Scenario(5, 2, 2, dataset="iterable")
    yield "both ranks have all", whole, split, [[[[0, 1], [2, 3], [4]]], [[[0, 1], [2, 3], [4]]]], {}
