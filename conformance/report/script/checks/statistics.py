"""The statistical checks of chapter 3. A uniform shuffle fails them less than once in 10^9 runs."""

from collections import Counter
from itertools import pairwise, permutations
from math import factorial, log, sqrt
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, samples_of


def uniform(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-12, a small dataset: every permutation comes equally often (chi-square, 6 or 7 standard deviations)."""
    orders = Counter(tuple(samples_of(epoch)) for ranks in runs.values() for epoch in ranks[0].epochs)
    expected = orders.total() / factorial(case.samples)
    square = sum((orders[each] - expected) ** 2 / expected for each in permutations(range(case.samples)))
    if square <= chi_square_limit(factorial(case.samples) - 1, 6 if case.samples <= 4 else 7):
        return ""
    rarest = min(permutations(range(case.samples)), key=orders.__getitem__)
    commonest = max(orders, key=orders.__getitem__)
    return (
        f"{commonest} comes {orders[commonest]} times and {rarest} {orders[rarest]} times, "
        f"each is expected {expected:.0f} times"
    )


def uniform_or_mixed(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-12, 5 or 6 samples: both, and how far neighbours are from each other."""
    found = uniform(case, runs) if sum(len(ranks[0].epochs) for ranks in runs.values()) >= 1000 else ""
    return found or mixed_from_end_to_end(case, runs)


def mixed_from_end_to_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-12, a large dataset: neighbours part, and each quarter goes to every quarter."""
    orders = [samples_of(epoch) for ranks in runs.values() for epoch in ranks[0].epochs]
    followed = sum(other == one + 1 for order in orders for one, other in pairwise(order))
    # About one sample an epoch is followed by its neighbour: Chernoff's bound for a Poisson count.
    if followed > len(orders) and followed - len(orders) - followed * log(followed / len(orders)) < log(1e-12):
        return f"a sample is followed by its neighbour {followed} times in {len(orders)} epochs"
    block = case.samples // 4
    moves = Counter((order[at] // block, at // block) for order in orders for at in range(min(4 * block, len(order))))
    for origin in range(4):
        for target in range(4):
            if improbable(moves[origin, target], block * len(orders), block / case.samples):
                moved = f"{moves[origin, target]} samples of {block * len(orders)} go"
                return f"{moved} from quarter {origin + 1} of the dataset into quarter {target + 1} of the epoch"
    return uneven_differences(orders, case.samples)


def uneven_differences(orders: list[list[int]], size: int) -> str:
    """ORDER-12: modulo n, neighbours are all distances apart, equally often (chi-square, 7 standard deviations)."""
    steps = [Counter((order[at] - order[at - 1]) % size for at in range(size)) for order in orders]
    expected = len(orders) * size / (size - 1)
    if size <= 100 <= expected:
        off = [sum(each[step] for each in steps) - expected for step in range(1, size)]
        pairs = list(zip(off, reversed(off), strict=True))
        square = sum((one + other) ** 2 for one, other in pairs) * (size - 1) / (4 * size * len(orders))
        odd = sum((one - other) ** 2 for one, other in pairs) * (size - 1) * (size - 2)
        if square + odd / (4 * size**2 * len(orders)) > chi_square_limit(size - 2, 7):
            at = max(range(size - 1), key=lambda at: abs(off[at]))
            times = f"{off[at] + expected:.0f} times, expected {expected:.0f}"
            return f"modulo {size}, a sample is {at + 1} after the one before it {times}"
    equal = sum(times * (times - 1) // 2 for each in steps for times in each.values())
    mean = len(orders) * (size + size / (size - 1) if size % 2 == 0 else size * (size - 1) / (size - 2)) / 2
    # 8 standard deviations: the variance of an order is half the number of samples, and a little more.
    if size >= 16 and equal - mean > 8 * sqrt(len(orders) * (size / 2 + 2)):
        return f"modulo {size}, {equal} pairs of neighbours are equally far apart in one order, expected {mean:.0f}"
    return ""


def chi_square_limit(freedom: int, standard_deviations: int) -> float:
    """What a chi-square value passes as rarely as a normal one passes this many standard deviations."""
    spread = 2 / (9 * freedom)
    return float(freedom * (1 - spread + standard_deviations * sqrt(spread)) ** 3)


def mixes_across_ranks(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-13: a sample lands on any rank, and its neighbour independently of it."""
    places = [
        {index: rank for rank, epoch in enumerate(epochs) for index in samples_of(epoch)}
        for ranks in runs.values()
        for epochs in epochs_of(ranks)
    ]
    for index in range(case.samples):
        for rank in range(case.world_size):
            there = sum(place.get(index) == rank for place in places)
            if improbable(there, len(places), 1 / case.world_size):
                return f"sample {index} is on rank {rank} in {there} of {len(places)} epochs"
    share = (case.samples // case.world_size - 1) / (case.samples - 1)
    for index in range(case.samples - 1):
        both = sum(place.get(index) == place.get(index + 1) for place in places)
        if improbable(both, len(places), share):
            return f"samples {index} and {index + 1} are on one rank in {both} of {len(places)} epochs"
    return ""


def improbable(hits: int, trials: int, share: float) -> bool:
    """Whether chance gives this many hits, or so few, less than once in 10^12 times (Chernoff's bound)."""
    rates = [(hits / trials, share), (1 - hits / trials, 1 - share)]
    if any(rate > 0 and expected <= 0 for rate, expected in rates):
        return True
    return -trials * sum(rate * log(rate / expected) for rate, expected in rates if rate > 0) < log(1e-12)
