"""Decides how many samples of `feistel.py` are computed at once: blocks of numpy integers, in place.

All numbers are 64 bits unsigned, and nothing but the two products that are meant to wrap does: sides of the table, and
so rows and columns, are below 2**32. A block stays in the processor's cache, whatever is asked for.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from .checks import check_integer, show
from .feistel import MOST_SAMPLES, Network, of_words, round_count
from .shuffle import check_epoch, check_seed

BLOCK = 16_384
"""Smaller blocks pay more for calls, larger ones leave the cache."""

Words = npt.NDArray[np.uint64]
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


def network(samples: int, seed: int, epoch: int) -> Network:
    """Return what `feistel.network` returns; its keys are mixed all at once."""
    n = check_integer("samples", samples, least=0, most=MOST_SAMPLES)
    words = np.arange(1, 3 * round_count(n) + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    for number in (0, check_seed(seed) % 2**64, check_epoch(epoch), n):
        words = _mixed(words ^ np.uint64(number))
    return of_words(n, words.tolist())


def _mixed(words: Words) -> Words:
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def samples_at(order: Network, positions: range | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the samples at positions of the epoch, in their order: shape (len(positions),).

    Raises ValueError for a position outside the epoch.
    """
    return _in_blocks(order, positions, "position", _through)


def positions_of(order: Network, samples: range | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return at which positions of the epoch samples come: the inverse of `samples_at`; raises as it does."""
    return _in_blocks(order, samples, "sample", _back)


def _in_blocks(
    order: Network,
    numbers: range | npt.NDArray[np.integer],
    name: str,
    once: Callable[[Network, Words], Words],
) -> npt.NDArray[np.int64]:
    if len(numbers):
        least, most = (min(numbers[0], numbers[-1]), max(numbers[0], numbers[-1]))
        if not isinstance(numbers, range):
            least, most = int(numbers.min()), int(numbers.max())
        if least < 0 or most >= order.samples:
            raise ValueError(
                f"a {name} is {show(least if least < 0 else most)}, but the epoch has {order.samples}: give whole "
                f"numbers from 0 to {order.samples - 1}."
            )
    found = np.empty(len(numbers), dtype=np.int64)
    for first in range(0, len(numbers), BLOCK):
        cells = _cells(numbers[first : first + BLOCK])
        found[first : first + BLOCK] = _walked(order, cells, once)
    return found


def _cells(numbers: range | npt.NDArray[np.integer]) -> Words:
    if isinstance(numbers, range):
        # Wraps where the step is negative, as it should.
        return np.arange(len(numbers), dtype=np.uint64) * np.uint64(numbers.step % 2**64) + np.uint64(numbers.start)
    return numbers.astype(np.uint64)


def _walked(order: Network, cells: Words, once: Callable[[Network, Words], Words]) -> Words:
    """Lead all cells through the rounds, and those that are no samples again."""
    cells = once(order, cells)
    astray = np.flatnonzero(cells >= np.uint64(order.samples))
    while len(astray):
        again = once(order, cells[astray])
        cells[astray] = again
        astray = astray[again >= np.uint64(order.samples)]
    return cells


def _through(order: Network, cells: Words) -> Words:
    row, column = _parted(order, cells)
    moved, spare = np.empty_like(cells), np.empty_like(cells)
    columns, rows = np.uint64(order.columns), np.uint64(order.rows)
    for key in order.keys:
        _shift(row, key, columns, order.hash_bits, moved, spare)
        np.add(column, moved, out=column)
        _reduce(column, columns, spare)
        column, row = row, column
        columns, rows = rows, columns
    return _joined(order, row, column)


def _back(order: Network, cells: Words) -> Words:
    row, column = _parted(order, cells)
    moved, spare = np.empty_like(cells), np.empty_like(cells)
    columns, rows = np.uint64(order.columns), np.uint64(order.rows)
    for key in reversed(order.keys):
        column, row = row, column
        columns, rows = rows, columns
        _shift(row, key, columns, order.hash_bits, moved, spare)
        # Add the number of columns first: below zero there is nothing.
        np.add(column, columns, out=column)
        np.subtract(column, moved, out=column)
        _reduce(column, columns, spare)
    return _joined(order, row, column)


def _parted(order: Network, cells: Words) -> tuple[Words, Words]:
    row = cells // np.uint64(order.columns)
    return row, cells - row * np.uint64(order.columns)


def _joined(order: Network, row: Words, column: Words) -> Words:
    np.multiply(row, np.uint64(order.columns), out=row)
    return np.add(row, column, out=row)


def _reduce(column: Words, columns: np.uint64, spare: Words) -> None:
    """Bring columns that are below twice their number below it: what would be negative wraps and is no minimum."""
    np.subtract(column, columns, out=spare)
    np.minimum(column, spare, out=column)


def _shift(row: Words, key: tuple[int, int, int], columns: np.uint64, bits: int, moved: Words, spare: Words) -> None:
    """Put into `moved` what `feistel.shift` gives for each row."""
    np.multiply(row, np.uint64(key[0]), out=moved)
    np.add(moved, np.uint64(key[1]), out=moved)
    np.right_shift(moved, _HALF, out=spare)
    np.bitwise_xor(moved, spare, out=moved)
    np.multiply(moved, np.uint64(key[2]), out=moved)
    if bits == 64:
        # The product has up to 96 bits: what its lower half carries is added to the upper one.
        np.bitwise_and(moved, _LOW, out=spare)
        np.multiply(spare, columns, out=spare)
        np.right_shift(spare, _HALF, out=spare)
    np.right_shift(moved, _HALF, out=moved)
    np.multiply(moved, columns, out=moved)
    if bits == 64:
        np.add(moved, spare, out=moved)
    np.right_shift(moved, _HALF, out=moved)
