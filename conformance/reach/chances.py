"""What chance could explain of samples that are drawn with replacement. Every threshold of DRAW-3 and DRAW-4 is here.

A loader that draws each sample by itself, with the chance that its weight gives it, is accused in a whole run with a
chance below 1e-9. A gate run holds below 200 scenarios of at most 1000 samples and 12 streams, and two of 10,007:

    how often a sample comes    binomial, by Chernoff's bound: below 40,000 counts of 1e-14 each               4e-10
    how often those of one weight, or of one eighth of the dataset, come together
                                likewise: 200 scenarios with 12 counts of 1e-14 each                       3e-11
    no sample comes again       in an epoch of m draws from n samples with a chance of at most
                                exp(-m (m - 1) / 2n), least likely where all weights are alike; the exponents
                                of all epochs and ranks are added: 200 of 1e-13                                2e-11
    two streams are alike       k draws that come in the same order with a chance of s^k, where s is the sum of
                                the squares of all samples' chances; as the same samples in any order with one
                                of at most k! s^k; below 20,000 pairs of 1e-15                                 2e-11
    draws that agree in place   binomial, with s: 600 of 1e-14                                                 1e-11

Where ranks draw from shards of their own a count is a sum of draws with unlike chances: it strays less than a binomial
count of the same mean.
"""

from math import lgamma, log

_COUNT, _REPEAT, _ALIKE = log(1e-14), log(1e-13), log(1e-15)


def shares(samples: int, weights: tuple[float, ...] | None) -> list[float]:
    """The chance of each sample at each draw."""
    given = weights or (1.0,) * samples
    return [each / sum(given) for each in given]


def improbable(hits: int, trials: int, share: float) -> bool:
    """Whether a sample came too often, or too seldom: Chernoff's bound on both tails of a binomial."""
    if trials == 0 or not 0 < share < 1:
        return False
    rate = hits / trials
    parts = ((rate, share), (1 - rate, 1 - share))
    return -trials * sum(seen * log(seen / due) for seen, due in parts if seen > 0) < _COUNT


def agree_too_often(hits: int, trials: int, squares: float) -> bool:
    """Whether two streams hold the same sample in the same place more often than by chance."""
    return trials > 0 and hits / trials > squares and improbable(hits, trials, squares)


def must_repeat(draws: list[int], samples: int) -> bool:
    """Whether epochs of so many draws each can't all be without a sample that comes again."""
    return -sum(each * (each - 1) / (2 * samples) for each in draws) < _REPEAT


def can_not_be_alike(draws: int, squares: float) -> bool:
    """Whether two streams of so many draws can't hold the same samples, in any order, by chance."""
    return draws > 0 and lgamma(draws + 1) + draws * log(squares) < _ALIKE if 0 < squares < 1 else False
