"""Chapter 3, statistics: decides what chance could explain. Every threshold of ORDER-12 and ORDER-13 is here.

A uniform shuffle is accused in a whole run with a chance of about 1e-9. What adds up to that, at the gate:

    counts by Chernoff's bound, which holds for binomial and hypergeometric counts: some 100 of 1e-12 each        1e-10
    chi-square over the permutations of 2, 3 and 4 samples, 6 standard deviations: the Wilson-Hilferty point of
    1, 5 and 23 degrees of freedom is passed with 7e-12, 2e-10 and 5e-10                                          7e-10
    chi-square over more cells, 7 standard deviations: 1.3e-12 each, times less than 10 for counts that are no
    normal variables (few orders, or few in a cell)                                                               1e-10
    differences that come again within an order, 8 standard deviations: 6e-16 each, times less than 100 for a
    distribution that leans to the right                                                                          1e-12
    ascents of two large datasets                                                                                 2e-12
    the places that samples have one and two epochs later: permutations of 2, 3 and 4 samples, 7 standard deviations,
    which are passed with less than 5e-13 each; and the differences of neighbours of more, as over more cells     1e-10

The differences of neighbours. In an order of n samples, read round its end, let X(d) be how often a sample comes d
after the one before it, modulo n, d from 1 to n - 1. Over all n! orders

    mean      n / (n - 1)
    covariance of X(d) + X(-d) with itself: as that of counts in n - 1 equal cells whose sum is n, of X(d) - X(-d):
              larger by n / (n - 2)

so that over K orders, with D(d) the count less its mean, S(d) = (D(d) + D(-d)) / 2 and A(d) = (D(d) - D(-d)) / 2,

    sum of S(d)^2 (n - 1) / (n K)  +  sum of A(d)^2 (n - 1) (n - 2) / (n^2 K)

is chi-square with n - 2 degrees of freedom. The mean of the pairs of equal differences within one order is half of
n (n - 1) / (n - 2) if n is odd, of n + n / (n - 1) if it is even. Their variance is n / 2 if they were counts in equal
cells whose sum is n, and was found to be up to 1.4 more in 60,000 orders each of 16 to 101 samples; n / 2 + 2 is taken.
Ascents. A sample with a larger one right after it is an ascent. Over all orders of n samples their number is that of
the whole part of a sum of n numbers between 0 and 1, each as likely, whose chance to be off its mean by t is at most
2 exp(-6 t^2 / n), since such a number is sub-Gaussian with its own variance, 1/12. The whole part adds less than 1.
"""

from math import log, sqrt

LEAST_CHANCE = log(1e-12)
FEW_CELLS, MANY_CELLS = 6.0, 7.0
"""Standard deviations at which a chi-square value is too large."""
REPEATED = 8.0
"""Standard deviations at which equal differences are too many."""


def chi_square_limit(freedom: int, standard_deviations: float) -> float:
    """The value that lies this many standard deviations out, by the Wilson-Hilferty approximation."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + standard_deviations * sqrt(spread)) ** 3)


def more_than_chance(hits: int, mean: float) -> bool:
    """Whether a Poisson count is too large: Chernoff's bound on its upper tail."""
    return hits > mean and hits - mean - hits * log(hits / mean) < LEAST_CHANCE


def improbable_ascents(ascents: int, orders: int, size: int) -> bool:
    """Whether orders of so many samples have too many ascents together, or too few."""
    off = abs(ascents - orders * (size - 1) / 2) - orders
    return off > 0 and log(2) - 6 * off * off / (orders * size) < LEAST_CHANCE


def improbable(hits: int, trials: int, share: float, least: float = LEAST_CHANCE) -> bool:
    """Whether this many hits, or so few, are too improbable: Chernoff's bound on both tails of a binomial."""
    rate = hits / trials
    parts = ((rate, share), (1 - rate, 1 - share))
    divergence = sum(
        observed * log(observed / expected) for observed, expected in parts if observed > 0 and expected > 0
    )
    impossible = any(observed > 0 and expected <= 0 for observed, expected in parts)
    return impossible or -trials * divergence < least
