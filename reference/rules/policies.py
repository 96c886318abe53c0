"""Decides what each policy makes of a rest: the table of `specs/README.md` as code, for vectors and readers.

The reference's own loader has two of them, with contiguous shards ("drop" in whole steps, and "uneven"), and uses
`partition.py`, which needs no lists. Here are all, in both layouts, over any order of the samples.
"""

from collections.abc import Sequence
from typing import Literal

from .arithmetic import ceil_div

Policy = Literal["drop", "pad", "uneven"]
Layout = Literal["contiguous", "strided"]
Steps = list[list[int]]

POLICIES: tuple[Policy, ...] = ("drop", "pad", "uneven")
LAYOUTS: tuple[Layout, ...] = ("contiguous", "strided")


def shard_sizes(samples: int, ranks: int, policy: Policy) -> list[int]:
    """Return how many samples each rank has before its shard is cut into steps."""
    size, rest = divmod(samples, ranks)
    if policy == "pad":
        # PART-4: the last round of ranks is completed, and an empty dataset has nothing to repeat.
        return [ceil_div(samples, ranks)] * ranks
    # PART-6: under "uneven" the first ranks have one more.
    return [size + (policy == "uneven" and rank < rest) for rank in range(ranks)]


def padded_to_steps(samples: int, combined_batch: int, ranks: int) -> list[int]:
    """Return the sizes under the other padding that is allowed when the rest is kept: a full last step everywhere."""
    return [combined_batch * ceil_div(samples, combined_batch * ranks)] * ranks


def shards(order: Sequence[int], sizes: Sequence[int], layout: Layout) -> list[list[int]]:
    """Return the samples of each rank; where the order is too short it goes on from its beginning."""
    around = [order[at % len(order)] for at in range(max(len(order), sum(sizes)))] if order else []
    if layout == "strided":
        return [around[rank :: len(sizes)][:size] for rank, size in enumerate(sizes)]
    starts = [sum(sizes[:rank]) for rank in range(len(sizes))]
    return [around[start : start + size] for start, size in zip(starts, sizes, strict=True)]


def cut(shard: Sequence[int], combined_batch: int, drop_last: bool) -> Steps:
    """Return the steps of a shard: whole ones under drop_last, else the rest as well (COUNT-1, COUNT-2)."""
    steps = [list(shard[at : at + combined_batch]) for at in range(0, len(shard), combined_batch)]
    return [step for step in steps if len(step) == combined_batch or not drop_last]


def steps_of_ranks(
    order: Sequence[int], combined_batch: int, ranks: int, drop_last: bool, policy: Policy, layout: Layout
) -> list[Steps]:
    """Return every rank's steps over an order of the samples."""
    sizes = shard_sizes(len(order), ranks, policy)
    return [cut(shard, combined_batch, drop_last) for shard in shards(order, sizes, layout)]
