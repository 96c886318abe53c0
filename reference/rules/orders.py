"""Decides by which method an epoch is shuffled: what is asked of an order, whichever method makes it.

    ShuffleMethod.Sort      a list of all samples, sorted by random keys: `shuffle.py`. Exactly as good as the keys;
                            20 bytes a sample while it is sorted, and 8 afterwards, on every rank
    ShuffleMethod.Feistel   no list: each sample is computed from its position, `feistel.py`. The same few hundred
                            bytes for any number of samples, and nothing to wait for before the first step

The two give different orders for the same seed, and each is a pure function of (n, seed, epoch).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..enums import ShuffleMethod
from . import feistel, feistel_blocks
from .checks import check_integer, check_type
from .shuffle import permutation

_AHEAD = 65_536
"""Positions that are asked for at once, once an epoch is under way: one by one they would cost a hundred times more."""
_AT_FIRST = 1_024


class Order(Protocol):
    """The order of one epoch."""

    @property
    def samples(self) -> int:
        """How many there are."""

    def sample_at(self, position: int) -> int:
        """Return the sample at a position, both from 0 to n - 1; TypeError or ValueError for another position."""

    def position_of(self, sample: int) -> int:
        """Return at which position a sample comes: the inverse."""

    def samples_at(self, positions: range) -> npt.NDArray[np.int64]:
        """Return the samples at many positions, in their order: shape (len(positions),)."""


def epoch_order(samples: int, seed: int, epoch: int, method: ShuffleMethod = ShuffleMethod.Sort) -> Order:
    """Return the order of a shuffled epoch. TypeError or ValueError for a bad argument."""
    check_type("method", method, ShuffleMethod)
    if method is ShuffleMethod.Feistel:
        return FeistelOrder(feistel_blocks.network(samples, seed, epoch))
    return SortedOrder(permutation(samples, seed, epoch))


@dataclass(frozen=True, slots=True)
class FeistelOrder:
    """An order without a list: every answer costs the same, whatever n."""

    network: feistel.Network

    @property
    def samples(self) -> int:
        """How many there are."""
        return self.network.samples

    def sample_at(self, position: int) -> int:
        """Return the sample at a position; see `Order`."""
        return feistel.sample_at(self.network, position)

    def position_of(self, sample: int) -> int:
        """Return the position of a sample; see `Order`."""
        return feistel.position_of(self.network, sample)

    def samples_at(self, positions: range) -> npt.NDArray[np.int64]:
        """Return the samples at many positions; see `Order`."""
        return feistel_blocks.samples_at(self.network, positions)


@dataclass(frozen=True, slots=True)
class SortedOrder:
    """An order as a list."""

    order: npt.NDArray[np.intp]

    @property
    def samples(self) -> int:
        """How many there are."""
        return len(self.order)

    def sample_at(self, position: int) -> int:
        """Return the sample at a position; see `Order`."""
        return int(self.order[check_integer("position", position, least=0, most=len(self.order) - 1)])

    def position_of(self, sample: int) -> int:
        """Return the position of a sample; see `Order`. It is looked for: the list says nothing of where."""
        sample = check_integer("sample", sample, least=0, most=len(self.order) - 1)
        return int(np.flatnonzero(self.order == sample)[0])

    def samples_at(self, positions: range) -> npt.NDArray[np.int64]:
        """Return the samples at many positions; see `Order`."""
        return self.order[positions.start : positions.stop : positions.step]


def in_steps(order: Order, positions: range, combined_batch: int) -> Iterator[list[int]]:
    """Yield the samples at the positions of a shard, step by step; some thousands are asked for ahead."""
    # The first question is small, so that nobody waits for what a later step needs.
    steps = max(1, _AT_FIRST // combined_batch)
    while positions:
        few, positions = positions[: steps * combined_batch], positions[steps * combined_batch :]
        samples = order.samples_at(few).tolist()
        for begin in range(0, len(samples), combined_batch):
            yield samples[begin : begin + combined_batch]
        steps = max(1, min(2 * steps, _AHEAD // combined_batch))
