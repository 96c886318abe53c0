"""Decides which samples a rank gets of passes without end: one stream of orders, dealt out to ranks in turn."""

from collections.abc import Iterator
from itertools import count

import numpy as np

from .checks import check_integer, check_rank
from .shuffle import permutation


class EndlessShard:
    """The samples of one rank, pass after pass: a sampler for torch's loader that never ends.

    `seed` is that of the shuffle, or None for the order of the dataset.
    """

    def __init__(self, samples: int, ranks: int, rank: int, seed: int | None = None) -> None:
        self.samples = check_integer("samples", samples, least=0)
        self.rank, self.ranks = check_rank(rank, ranks)
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        # COUNT-6: of nothing there is no pass.
        passes = count() if self.samples else range(0)
        first = self.rank
        # ENDLESS-1: there is always another pass, and no rank has one that the others have not.
        for number in passes:
            # ENDLESS-3: each pass is an epoch of the same seed, in an order of its own.
            order = np.arange(self.samples) if self.seed is None else permutation(self.samples, self.seed, number)
            # ENDLESS-2: place p of the stream is rank p mod R's, where one pass ends and the next begins too.
            yield from order[first :: self.ranks].tolist()
            first = (first - self.samples) % self.ranks
