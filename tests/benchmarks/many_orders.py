"""Decides how orders of many epochs are made at once, for tests that count thousands to millions of them."""

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from reference.rules import feistel, feistel_blocks
from reference.rules.feistel_blocks import Words, key_words

Orders = npt.NDArray[np.int64]
"""Shape (orders, n): the samples at positions 0 to n - 1 of each order."""
Shuffle = Callable[[int, Words, Words], Orders]
"""Makes the orders of n samples for pairs of seed and epoch."""
_AT_ONCE = 2**16  # cells


def by_network(n: int, seeds: Words, epochs: Words, rounds: int | None = None) -> Orders:
    """The orders of `ShuffleMethod.Feistel`, or what they would be with another number of rounds."""
    count = rounds or feistel.round_count(n)
    order = feistel.of_words(n, [0, 0, 0])
    words = key_words(3 * count, seeds[:, None], epochs[:, None], n)
    keys = [(words[at], words[at + 1], words[at + 2] | np.uint64(1)) for at in range(0, 3 * count, 3)]
    cells = feistel_blocks.through(order, np.tile(np.arange(n, dtype=np.uint64), (len(seeds), 1)), keys)
    while (astray := cells >= np.uint64(n)).any():
        lines, places = np.nonzero(astray)
        theirs = [(first[lines, 0], added[lines, 0], second[lines, 0]) for first, added, second in keys]
        cells[lines, places] = feistel_blocks.through(order, cells[lines, places], theirs)
    return cells.astype(np.int64)


def by_sorting(n: int, seeds: Words, epochs: Words) -> Orders:
    """Control: random keys, sorted. Of numpy's generator, once a call; nothing of the network is in it."""
    generator = np.random.default_rng([int(seeds[0]), int(epochs[0]), n])
    return np.argsort(generator.random((len(seeds), n)), axis=1)


def batches(shuffle: Shuffle, n: int, count: int, seeds_of: int = 1_000, first_seed: int = 0) -> Iterator[Orders]:
    """Yield `count` orders in batches: epochs 0 to 999 of seed 0, then of seed 1, and so on."""
    size = max(1, _AT_ONCE // n)
    for begin in range(0, count, size):
        numbers = np.arange(begin, min(begin + size, count), dtype=np.uint64)
        seeds, epochs = np.divmod(numbers, np.uint64(seeds_of))
        yield shuffle(n, seeds + np.uint64(first_seed), epochs)
