"""Decides which positions of an epoch's order a rank gets, and how they are cut into steps.

Positions are numbers from 0 to n - 1. Unshuffled, a position is the sample's index; shuffled, it is looked up
in the epoch's permutation (`shuffle.py`). A shard and a step are `range` objects, never lists: they cost the
same for ten samples and for 10^15.
"""

from collections.abc import Iterator

from .arithmetic import shard_size, shard_start
from .checks import check_flag, check_integer, check_rank


def shard(samples: int, combined_batch: int, ranks: int, rank: int, drop_last: bool) -> range:
    """Return the positions that one rank gets: one contiguous block, rank 0's first.

    Raises TypeError or ValueError for a bad argument (BATCH-4, BATCH-5).
    """
    n = check_integer("samples", samples, least=0)
    size_of_step = check_integer("combined batch", combined_batch)
    rank, ranks = check_rank(rank, ranks)
    drop = check_flag("drop_last", drop_last)
    # PART-7: the shard is computed from these five numbers; there is no state that could change it.
    first = shard_start(n, size_of_step, ranks, rank, drop)
    # PART-1: a block begins where the block before it ends, so no position is in two of them.
    # PART-5: the last block ends at n or before, so every position is a sample of the dataset.
    # ORDER-2: contiguous layout: one run of consecutive positions, after those of the rank before.
    return range(first, first + shard_size(n, size_of_step, ranks, rank, drop))


def cut(positions: range, combined_batch: int) -> Iterator[range]:
    """Yield a shard step by step, as ranges.

    Under drop_last the shard is a whole number of steps already, so there is nothing to drop here.
    """
    # ORDER-1: the steps go through the shard from its beginning to its end.
    # BATCH-1, BATCH-2: each step takes N positions; only the last can find fewer.
    # COUNT-6, COUNT-7: an empty shard has no steps, and any other ends with its last position.
    for begin in range(0, len(positions), combined_batch):
        yield positions[begin : begin + combined_batch]


def locate(offset: int, gradient_accumulation: int, replicas: int, micro_batch: int) -> tuple[int, int, int, int]:
    """Return where a sample of a combined batch goes: (device iteration, accumulation, replica, place).

    `offset` counts the samples of the step from 0; the place is the sample's position in its micro-batch.
    """
    # BATCH-3: [device iteration, gradient accumulation, replica, micro-batch], slowest axis first.
    rest, place = divmod(offset, micro_batch)
    rest, replica = divmod(rest, replicas)
    device_iteration, accumulation = divmod(rest, gradient_accumulation)
    return device_iteration, accumulation, replica, place
