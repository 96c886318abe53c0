"""Decides by which statistics orders are told from uniform ones: each is a number of standard deviations, 0 expected.

What is told of n! equally likely orders is exact: means, variances and degrees of freedom are derived, not sampled. A
chi-square value becomes standard deviations by the Wilson-Hilferty approximation. A run has fewer than 500 statistics,
and `LIMIT` is passed by a normal variable with a chance of 2.6e-12, on either side; so a run accuses a uniform shuffle
about once in 10^9 times, if what is nearly normal is taken for normal.
"""

from collections.abc import Iterator
from math import factorial, lgamma, log, sqrt

import numpy as np
import numpy.typing as npt

from conformance.epochs import differences
from reference.rules.feistel import table
from tests.benchmarks.many_orders import Orders

LIMIT = 7.0
Statistic = tuple[str, float]
_BINS = 256
_IN_A_CELL = 5  # as many are expected, or a chi-square value is not asked for


def deviations(square: float, freedom: int) -> float:
    """How many standard deviations a chi-square value is off."""
    spread = 2 / (9 * freedom)
    return float((np.cbrt(square / freedom) - (1 - spread)) / sqrt(spread))


def chi_square(counts: npt.NDArray[np.int64]) -> float:
    """How far counts of equally likely cells are off."""
    expected = counts.sum() / len(counts)
    return deviations(float(((counts - expected) ** 2).sum() / expected), len(counts) - 1)


class Sums:
    """What is counted of many whole orders of n samples, batch by batch; the statistics come at the end."""

    def __init__(self, n: int) -> None:
        self.n, self.orders = n, 0
        columns = table(n)[0]
        # A lag of half of n, or one that comes round after two steps, has another law.
        self.lags = [lag for lag in dict.fromkeys((1, 2, 3, columns)) if 2 * lag % n and lag < n]
        self.differences = {lag: np.zeros(n, np.int64) for lag in self.lags}
        self.places = np.zeros((n, n) if n <= 128 else (0, 0), np.int64)
        self.ranked = np.zeros(factorial(n) if n <= 8 else 0, np.int64)
        self.sums = dict.fromkeys(("parity", "fixed", "cycles", "inversions", "descents", "equal", "next"), 0.0)

    def add(self, orders: Orders) -> None:
        """Count orders, shape (orders, n), of epochs that follow one another."""
        n, sums = self.n, self.sums
        self.orders += len(orders)
        for lag in self.lags:
            self.differences[lag] += np.bincount(((np.roll(orders, -lag, 1) - orders) % n).ravel(), minlength=n)
        steps = (np.roll(orders, -1, 1) - orders) % n + n * np.arange(len(orders))[:, None]
        counts = np.bincount(steps.ravel(), minlength=n * len(orders))
        sums["equal"] += float((counts * (counts - 1)).sum() / 2)
        sums["fixed"] += float((orders == np.arange(n)).sum())
        sums["descents"] += float((orders[:, 1:] < orders[:, :-1]).sum())
        sums["next"] += float((orders[1::2] == orders[: 2 * (len(orders) // 2) : 2]).sum())
        if n <= 128:
            np.add.at(self.places, (np.broadcast_to(np.arange(n), orders.shape), orders), 1)
            sums["inversions"] += float(sum((orders[:, :at] > orders[:, at : at + 1]).sum() for at in range(n)))
            cycles = _cycles(orders)
            sums["cycles"] += float(cycles.sum())
            # An order is even if n less its cycles is.
            sums["parity"] += float((1 - 2 * ((n - cycles) % 2)).sum())
        if n <= 8:
            self.ranked += np.bincount(_rank(orders), minlength=factorial(n))

    def statistics(self) -> Iterator[Statistic]:
        """All that these orders are enough for."""
        n, count, sums = self.n, self.orders, self.sums
        if len(self.ranked) and count >= _IN_A_CELL * len(self.ranked):
            yield "permutations", chi_square(self.ranked)
        if n > 4 and count >= _IN_A_CELL:
            for lag in self.lags:
                square = differences.chi_square(self.differences[lag][1:].tolist(), count)
                yield f"differences, lag {lag}", deviations(square, n - 2)
        yield "fixed points", (sums["fixed"] - count) / sqrt(count)
        yield "same place, next epoch", (sums["next"] - count / 2) / sqrt(count / 2)
        yield "descents", (sums["descents"] - count * (n - 1) / 2) / sqrt(count * (n + 1) / 12)
        if n >= 16:
            mean = count * differences.mean_of_equal_pairs(n)
            yield "equal differences", (sums["equal"] - mean) / sqrt(count * (n / 2 + 1.4))
        if n <= 128:
            expected = count / n
            square = float(((self.places - expected) ** 2).sum() / expected) * (n - 1) / n
            yield "sample by position", deviations(square, (n - 1) ** 2)
            yield "parity", sums["parity"] / sqrt(count)
            variance = n * (n - 1) * (2 * n + 5) / 72
            yield "inversions", (sums["inversions"] - count * n * (n - 1) / 4) / sqrt(count * variance)
            mean = sum(1 / k for k in range(1, n + 1))
            variance = mean - sum(1 / k**2 for k in range(1, n + 1))
            yield "cycles", (sums["cycles"] - count * mean) / sqrt(count * variance)


def _cycles(orders: Orders) -> npt.NDArray[np.int64]:
    """How many cycles each order has: its positions that are the least of their cycle."""
    n = orders.shape[1]
    least = np.broadcast_to(np.arange(n), orders.shape).copy()
    reached, length = orders, 1
    while length < n:  # doubled: after k rounds each knows the least of 2^k positions on its way
        least = np.minimum(least, np.take_along_axis(least, reached, 1))
        reached, length = np.take_along_axis(reached, reached, 1), 2 * length
    return np.asarray((least == np.arange(n)).sum(1))


def _rank(orders: Orders) -> npt.NDArray[np.int64]:
    """The number of each order, from 0 to n! - 1."""
    n = orders.shape[1]
    rank = np.zeros(len(orders), np.int64)
    for at in range(n):
        rank = rank * (n - at) + (orders[:, at + 1 :] < orders[:, at : at + 1]).sum(1)
    return rank


def of_window(n: int, first: int, samples: npt.NDArray[np.int64], later: npt.NDArray[np.int64]) -> Iterator[Statistic]:
    """The statistics of running positions from `first` on: of one epoch's samples, and of the next epoch's."""
    count, (columns, rows) = len(samples), table(n)
    yield "sample", _binned(samples, n)
    yield "next epoch", _binned((later - samples) % n, n)
    for name, size, part in (("column", columns, samples % columns), ("row", rows, samples // columns)):
        yield name, _binned(part, size)
    for lag in (1, 2, 3, 1024):
        yield f"difference, lag {lag}", _binned((samples[lag:] - samples[:-lag]) % n, n)
    steps = np.sort((samples[1:] - samples[:-1]) % n)
    yield "equal differences", _poisson(int((steps[1:] == steps[:-1]).sum()), count * count / 2 / n)
    positions = np.arange(first, first + count, dtype=np.int64)
    for name, size, turned in (
        ("columns turned", columns, samples % columns - positions % columns),
        ("rows turned", rows, samples // columns - positions // columns),
    ):
        # Scaling a hash of 32 bits to the size leaves a wave of this frequency and of its multiples, if it leaves any.
        for times in (1, 2, 3):
            turns = ((turned % size).astype(np.longdouble) * (times * 2**32 % size) / size).astype(float)
            wave = abs(np.exp(2j * np.pi * turns).mean()) ** 2 * count
            # An exponential variable of mean 1: passes z**2 / 2 as rarely as a normal one passes z, and a bit more.
            yield f"{name}, wave {times}", sqrt(2 * wave) - 0.5


def _binned(values: npt.NDArray[np.int64], size: int) -> float:
    """Whether values from 0 to `size` - 1 are spread evenly over bins."""
    edges = np.array([-(-size * at // _BINS) for at in range(1, _BINS)], dtype=np.int64)
    counts = np.bincount(np.searchsorted(edges, values, side="right"), minlength=_BINS)
    share = np.diff(np.array([0, *edges.tolist(), size], dtype=float)) / size
    expected = len(values) * share
    return deviations(float(((counts - expected) ** 2 / expected).sum()), _BINS - 1)


def _poisson(hits: int, mean: float) -> float:
    """A count of rare coincidences, as standard deviations of the same chance, by Chernoff's bound."""
    if hits <= mean:
        return 0.0
    # Below a hundred the first term of the tail is nearer to it than the bound.
    chance = hits * log(mean) - mean - lgamma(hits + 1) if mean < 100 else hits - mean - hits * log(hits / mean)
    return sqrt(max(0.0, -2 * chance))
