"""Decides how many samples of `feistel.py` are computed at once: blocks of numpy integers, in place.

All numbers are 64 bits unsigned, and nothing but the two products that are meant to wrap does: sides of the table, and
so rows and columns, are below 2**32. A block stays in the processor's cache, whatever is asked for.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import feistel
from .checks import check_integer, show
from .feistel import Network, of_words, round_count
from .shuffle import check_epoch, check_seed

BLOCK = 16_384
"""Smaller blocks pay more for calls, larger ones leave the cache."""
_FEW = 12
"""This many samples, or fewer, are computed sooner one by one."""

Words = npt.NDArray[np.uint64]
Keys = Sequence[tuple[Any, Any, Any]]
"""For each round three words, each a number for all cells or an array that is broadcast over them."""
_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(frozen=True, slots=True)
class _Way:
    """Through the rounds or back, of one cell and of a block."""

    of_one: Callable[[Network, int], int]
    of_block: Callable[[Network, Words, Keys], Words]


def network(samples: int, seed: int, epoch: int) -> Network:
    """Return what `feistel.network` returns; its keys are mixed all at once."""
    n = check_integer("samples", samples, least=0, most=feistel.MOST_SAMPLES)
    seed_word, epoch_word = np.uint64(check_seed(seed) % 2**64), np.uint64(check_epoch(epoch))
    return of_words(n, key_words(3 * round_count(n), seed_word, epoch_word, n).tolist())


def key_words(count: int, seed: Any, epoch: Any, samples: int) -> Words:
    """Return words 1 to `count` of `feistel.key_word`: shape (count, *shape of seed and epoch)."""
    words = np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    words = words.reshape(-1, *np.ones(np.ndim(seed), dtype=int))
    for number in (np.uint64(0), seed, epoch, np.uint64(samples)):
        words = _mixed(words ^ number)
    return words


def _mixed(words: Words) -> Words:
    words = (words ^ words >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return words ^ words >> np.uint64(31)


def samples_at(order: Network, positions: range | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return the samples at positions of the epoch, in their order: shape (len(positions),).

    Raises ValueError for a position outside the epoch.
    """
    return _in_blocks(order, positions, "position", _Way(feistel.through, through))


def positions_of(order: Network, samples: range | npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Return at which positions of the epoch samples come: the inverse of `samples_at`; raises as it does."""
    return _in_blocks(order, samples, "sample", _Way(feistel.back, back))


def _in_blocks(order: Network, numbers: range | npt.NDArray[np.integer], name: str, way: _Way) -> npt.NDArray[np.int64]:
    _check(order, numbers, name)
    keys = [(np.uint64(first), np.uint64(added), np.uint64(second)) for first, added, second in order.keys]
    found = np.empty(len(numbers), dtype=np.int64)
    for begin in range(0, len(numbers), BLOCK):
        part = numbers[begin : begin + BLOCK]
        if len(part) <= _FEW:
            found[begin : begin + BLOCK] = [feistel.walk(order, int(cell), way.of_one) for cell in part]
        else:
            found[begin : begin + BLOCK] = _walked(order, _cells(part), keys, way)
    return found


def _check(order: Network, numbers: range | npt.NDArray[np.integer], name: str) -> None:
    if not len(numbers):
        return
    ends = (numbers[0], numbers[-1]) if isinstance(numbers, range) else (int(numbers.min()), int(numbers.max()))
    for number in ends:
        if not 0 <= number < order.samples:
            raise ValueError(
                f"a {name} is {show(number)}, but the epoch has {order.samples}: give whole numbers from 0 to "
                f"{order.samples - 1}."
            )


def _cells(numbers: range | npt.NDArray[np.integer]) -> Words:
    if isinstance(numbers, range):
        # Wraps where the step is negative, as it should.
        return np.arange(len(numbers), dtype=np.uint64) * np.uint64(numbers.step % 2**64) + np.uint64(numbers.start)
    return numbers.astype(np.uint64)


def _walked(order: Network, cells: Words, keys: Keys, way: _Way) -> Words:
    """Lead all cells through the rounds, and those that are no samples again."""
    cells = way.of_block(order, cells, keys)
    astray = np.flatnonzero(cells >= np.uint64(order.samples))
    while len(astray) > _FEW:
        again = way.of_block(order, cells[astray], keys)
        cells[astray] = again
        astray = astray[again >= np.uint64(order.samples)]
    for at in astray:
        cells[at] = feistel.walk(order, int(cells[at]), way.of_one)
    return cells


def through(order: Network, cells: Words, keys: Keys) -> Words:
    """Return where all rounds lead each cell. `keys` stand in for those of the order, and may be others for each."""
    row, column = _parted(order, cells)
    moved, spare = np.empty_like(cells), np.empty_like(cells)
    columns, rows = np.uint64(order.columns), np.uint64(order.rows)
    for key in keys:
        _shift(row, key, columns, order.hash_bits, moved, spare)
        np.add(column, moved, out=column)
        _reduce(column, columns, spare)
        column, row = row, column
        columns, rows = rows, columns
    return _joined(order, row, column)


def back(order: Network, cells: Words, keys: Keys) -> Words:
    """Return which cell all rounds lead to each of these; see `through`."""
    row, column = _parted(order, cells)
    moved, spare = np.empty_like(cells), np.empty_like(cells)
    columns, rows = np.uint64(order.columns), np.uint64(order.rows)
    for key in reversed(keys):
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


def _shift(row: Words, key: tuple[Any, Any, Any], columns: np.uint64, bits: int, moved: Words, spare: Words) -> None:
    """Put into `moved` what `feistel.shift` gives for each row."""
    first, added, second = key
    np.multiply(row, first, out=moved)
    np.add(moved, added, out=moved)
    np.right_shift(moved, _HALF, out=spare)
    np.bitwise_xor(moved, spare, out=moved)
    np.multiply(moved, second, out=moved)
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
