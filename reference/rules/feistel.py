"""Decides the order of an epoch that no list holds: the sample at a position is computed, and so is its inverse.

The n positions are the first cells of a table of `rows` x `columns`, row by row. A round adds to each cell's column a
keyed hash of its row, modulo the number of columns; then rows and columns change their parts (a Feistel network with
addition, as J. Black and P. Rogaway build one for domains that are no power of two). The cell at which all rounds end
is the sample. If that is none, because the table has a few cells more than there are samples, the rounds go on from
there until it is one ("cycle walking").

    columns  the least even integer that is at least the square root of n; even, because turning an odd number of
             cells by one place is an even permutation, and with odd sides only even orders could come
    rows     n / columns, rounded up
    rounds   4 + 2 * ceil(64 / bits of n - 1): an attack on r rounds is known to cost about sqrt(n)**(r - 4), and the
             rule asks that this be 2**64. Small tables need the rounds for another reason: two cells of one row part
             only where the hash of their columns differs.

`specs/3-order.md` tells the same to implementers in other languages. This file is the plain form, one sample at a
time and in integers of any size; `feistel_blocks.py` computes the same for many at once.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import isqrt

from .checks import check_integer
from .shuffle import check_epoch, check_seed

MOST_SAMPLES = 2**63 - 1
WORD = 2**64 - 1
_WIDE = 2**54
"""Above this many samples all 64 bits of a hash are scaled: of 32 bits, a column would get one or two values each."""

Key = tuple[int, int, int]
"""What one round multiplies by, adds, and multiplies by: 64 bits each, the last one odd."""


@dataclass(frozen=True, slots=True)
class Network:
    """The order of one epoch: a few numbers, however many samples. Make it with `network`, which checks."""

    samples: int
    columns: int
    rows: int
    hash_bits: int
    """How many of a hash's 64 bits are scaled to a number of columns."""
    keys: tuple[Key, ...]
    """One for each round."""


def network(samples: int, seed: int, epoch: int) -> Network:
    """Return the order of an epoch of 0 to 2**63 - 1 samples. TypeError or ValueError for a bad argument."""
    n = check_integer("samples", samples, least=0, most=MOST_SAMPLES)
    # ORDER-4, ORDER-5: nothing but these three numbers; no rank, no process, no state.
    words = [key_word(index, check_seed(seed), check_epoch(epoch), n) for index in range(1, 3 * round_count(n) + 1)]
    return of_words(n, words)


def of_words(samples: int, words: list[int]) -> Network:
    """Return the network whose rounds take three words each."""
    columns, rows = table(samples)
    keys = tuple((words[at], words[at + 1], words[at + 2] | 1) for at in range(0, len(words), 3))
    return Network(samples, columns, rows, 64 if samples > _WIDE else 32, keys)


def table(samples: int) -> tuple[int, int]:
    """Return the table's columns and rows. They hold all samples, and fewer than `columns` cells more."""
    if samples <= 1:
        return 1, 1
    # An integer square root: a float would be wrong from 2**53 on.
    root = isqrt(samples - 1) + 1
    columns = root + root % 2
    return columns, -(-samples // columns)


def round_count(samples: int) -> int:
    """Return the rounds, which are even, so that rows end as rows; 0 where there is nothing to shuffle."""
    return 4 + 2 * -(-64 // (samples - 1).bit_length()) if samples > 1 else 0


def key_word(index: int, seed: int, epoch: int, samples: int) -> int:
    """Return word number `index`, counted from 1, of an epoch's keys."""
    # ORDER-6, ORDER-7, ORDER-14: the numbers are mixed one inside the other, not added, so (seed, epoch + 1) and
    # (seed + 1, epoch) have unrelated keys. The number of samples is mixed in too: a dataset that grows by one is
    # shuffled again.
    return mix(mix(mix(_start(index) ^ seed % 2**64) ^ epoch) ^ samples)


@cache
def _start(index: int) -> int:
    return mix(index * 0x9E3779B97F4A7C15 & WORD)


def mix(word: int) -> int:
    """Return another word of 64 bits, each bit of which depends on all bits of this one (splitmix64's finish)."""
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & WORD
    word = (word ^ word >> 27) * 0x94D049BB133111EB & WORD
    return word ^ word >> 31


def sample_at(order: Network, position: int) -> int:
    """Return the sample at a position of the epoch, both from 0 to n - 1."""
    position = check_integer("position", position, least=0, most=order.samples - 1)
    # ORDER-3: a round adds to one half what depends on the other alone, so it can be undone: no two positions end at
    # one cell. The walk leads each to the next cell of its cycle that is a sample, which no other is led to.
    return walk(order, position, through)


def position_of(order: Network, sample: int) -> int:
    """Return at which position of the epoch a sample comes: the inverse of `sample_at`."""
    sample = check_integer("sample", sample, least=0, most=order.samples - 1)
    return walk(order, sample, back)


def walk(order: Network, cell: int, once: Callable[[Network, int], int]) -> int:
    """Lead a cell through the rounds, or back, until it is a sample."""
    while True:
        cell = once(order, cell)
        if cell < order.samples:
            return cell


def through(order: Network, cell: int) -> int:
    """Return where all rounds lead a cell."""
    row, column = divmod(cell, order.columns)
    columns, rows = order.columns, order.rows
    for key in order.keys:
        column = (column + shift(row, key, columns, order.hash_bits)) % columns
        column, row = row, column
        columns, rows = rows, columns
    return row * order.columns + column


def back(order: Network, cell: int) -> int:
    """Return which cell all rounds lead here."""
    row, column = divmod(cell, order.columns)
    columns, rows = order.columns, order.rows
    for key in reversed(order.keys):
        column, row = row, column
        columns, rows = rows, columns
        column = (column - shift(row, key, columns, order.hash_bits)) % columns
    return row * order.columns + column


def shift(row: int, key: Key, columns: int, bits: int) -> int:
    """Return by how many of `columns` places the cells of a row are moved."""
    first, added, second = key
    # The upper half of (row * first + added) is pairwise independent for rows below 2**32 (M. Dietzfelbinger); the
    # rest breaks its linearity.
    hashed = row * first + added & WORD
    hashed = (hashed ^ hashed >> 32) * second & WORD
    return (hashed >> 64 - bits) * columns >> bits
