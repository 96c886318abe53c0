"""Decides which samples an epoch holds that are drawn with replacement: a pure function of (n, seed, epoch, weights).

The method: as many 64-bit keys as there are samples, from the stream that a shuffle would sort by; each key is a place
on a line from 0 to 2^64 on which every sample has a length that is its share of the weights.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from .checks import check_integer
from .partition import shard
from .shuffle import _mixed


def draws(samples: int, seed: int, epoch: int, weights: Sequence[float] | None = None) -> npt.NDArray[np.intp]:
    """Return the samples of the epoch, over all ranks, in order. Shape (samples,).

    Raises TypeError or ValueError for a bad argument; weights are numbers from 0 on, one a sample, not all 0.
    """
    n = check_integer("samples", samples, least=0)
    given = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if given.shape != (n,) or not bool((given >= 0).all() and (n == 0 or 0 < given.sum() < np.inf)):
        raise ValueError(f"weights must be {n} numbers from 0 on, one for each sample and not all of them 0.")
    # DRAW-4, DRAW-5: the stream hangs on seed and epoch alone, so all ranks find one list, and others of other epochs.
    keys = np.random.PCG64(_mixed(seed, epoch)).random_raw(n)
    ends = np.cumsum(given)
    places = (keys >> np.uint64(11)) / 2**53 * (ends[-1] if n else 0)
    # DRAW-3: each key is drawn by itself, so a sample may come again, as often as its part of the line is long.
    # DRAW-2: a sample of weight 0 has no part of it: its end is the end before it, which no place lies below.
    last = int(np.flatnonzero(given)[-1]) if n else 0
    return np.minimum(np.searchsorted(ends, places, side="right"), last)


class DrawnShard:
    """The samples of one rank, drawn anew each time that it is iterated: a sampler for torch's loader."""

    def __init__(
        self,
        samples: int,
        combined_batch: int,
        ranks: int,
        rank: int,
        drop_last: bool,
        seed: int,
        weights: Sequence[float] | None = None,
    ) -> None:
        # DRAW-1, DRAW-4: a rank takes the places of the list that it would have of the dataset, and no other rank does.
        self.positions = shard(samples, combined_batch, ranks, rank, drop_last)
        self.samples, self.seed, self.weights = samples, seed, weights
        self.epoch = 0

    def __len__(self) -> int:
        return len(self.positions)

    def __iter__(self) -> Iterator[int]:
        drawn = draws(self.samples, self.seed, self.epoch, self.weights)
        self.epoch += 1
        return iter(drawn[self.positions.start : self.positions.stop].tolist())
