"""Chapter 3, statistics: how far a sample is from the one before it, modulo the number of samples.

Orders that are computed and not drawn go wrong here first: by a network with few rounds, on a table that is small, or
by multiplying and adding. `chances.py` derives what is expected.
"""

from collections import Counter
from collections.abc import Sequence
from math import sqrt

from conformance.epochs.chances import MANY_CELLS, REPEATED, chi_square_limit

_ENOUGH = 100  # of each difference, over all orders, that its count is nearly a normal variable
_LEAST_REPEATED = 16  # samples from which on there are many equal differences

Order = tuple[int, ...]


def uneven_differences(orders: Sequence[Order]) -> tuple[str, str] | None:
    """The kind of a finding and what was seen, if some differences come too often. All orders are permutations."""
    size = len(orders[0])
    within = [differences(order) for order in orders]
    counts = [sum(each[step] for each in within) for step in range(1, size)] if size <= _ENOUGH else []
    expected = len(orders) * size / (size - 1)
    if counts and expected >= _ENOUGH and chi_square(counts, len(orders)) > chi_square_limit(size - 2, MANY_CELLS):
        at = max(range(size - 1), key=lambda at: abs(counts[at] - expected))
        line = f"a sample is {at + 1} after the one before it, modulo {size}, {counts[at]} times"
        return "uneven-differences", f"{line}, expected {expected:.0f}"
    if size < _LEAST_REPEATED:
        return None
    equal, mean = sum(map(equal_pairs, within)), len(orders) * mean_of_equal_pairs(size)
    if equal - mean > REPEATED * sqrt(len(orders) * (size / 2 + 2)):
        line = f"{equal} pairs of neighbours lie equally far apart, modulo {size}, in the same order"
        return "repeated-differences", f"{line}, expected {mean:.0f}"
    return None


def differences(order: Order) -> Counter[int]:
    """How often each difference comes in an order, read round its end."""
    size = len(order)
    return Counter((here - before) % size for before, here in zip(order, order[1:] + order[:1], strict=True))


def equal_pairs(counts: Counter[int]) -> int:
    """How many pairs of neighbours have the same difference."""
    return sum(count * (count - 1) // 2 for count in counts.values())


def mean_of_equal_pairs(size: int) -> float:
    """How many there are in a uniform order, on average."""
    return (size + size / (size - 1) if size % 2 == 0 else size * (size - 1) / (size - 2)) / 2


def chi_square(counts: list[int], orders: int) -> float:
    """The sum that `chances.py` derives; `counts` are of the differences 1 to n - 1."""
    size = len(counts) + 1
    off = [count - orders * size / (size - 1) for count in counts]
    both = list(zip(off, reversed(off), strict=True))
    even = sum((here + there) ** 2 / 4 for here, there in both)
    odd = sum((here - there) ** 2 / 4 for here, there in both)
    return even * (size - 1) / (size * orders) + odd * (size - 1) * (size - 2) / (size**2 * orders)
