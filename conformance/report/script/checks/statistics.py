"""The statistical checks of chapter 3. A uniform shuffle fails them less than once in 10^9 runs."""

from collections import Counter
from itertools import pairwise, permutations
from math import factorial, sqrt
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, samples_of

SMALL = 4  # datasets up to this size: every permutation is counted


def uniform(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-12, a small dataset: every permutation comes equally often (chi-square, 6 standard deviations)."""
    orders = Counter(tuple(samples_of(epoch)) for ranks in runs.values() for epoch in ranks[0].epochs)
    expected = orders.total() / factorial(case.samples)
    square = sum((orders[each] - expected) ** 2 / expected for each in permutations(range(case.samples)))
    freedom = factorial(case.samples) - 1
    spread = 2 / (9 * freedom)
    limit = freedom * (1 - spread + 6 * sqrt(spread)) ** 3
    if square <= limit:
        return ""
    rarest = min(permutations(range(case.samples)), key=orders.__getitem__)
    commonest = max(orders, key=orders.__getitem__)
    return (
        f"{commonest} comes {orders[commonest]} times and {rarest} {orders[rarest]} times, "
        f"each is expected {expected:.0f} times"
    )


def mixed_from_end_to_end(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-12, a large dataset: neighbours part, and each quarter goes to every quarter (7 standard deviations)."""
    orders = [samples_of(epoch) for ranks in runs.values() for epoch in ranks[0].epochs]
    size, block = case.samples, case.samples // 4
    followed = sum(other == one + 1 for order in orders for one, other in pairwise(order))
    expected = len(orders) * (size - 1) / size
    if abs(followed - expected) > 7 * sqrt(expected) + 1:
        return f"a sample is followed by its neighbour {followed} times, {expected:.0f} times are expected"
    moves = Counter((order[at] // block, at // block) for order in orders for at in range(min(4 * block, len(order))))
    mean = block * block / size
    deviation = sqrt(len(orders) * mean * (1 - block / size) ** 2 * size / (size - 1))
    for origin in range(4):
        for target in range(4):
            if abs(moves[origin, target] - len(orders) * mean) > 7 * deviation + 1:
                expected_moves = f"{moves[origin, target]} samples, {len(orders) * mean:.0f} are expected"
                return (
                    f"from quarter {origin + 1} of the dataset into quarter {target + 1} of the epoch: {expected_moves}"
                )
    return ""


def mixes_across_ranks(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-13: a sample lands on any rank, and its neighbour independently of it (7 standard deviations)."""
    places = [
        {index: rank for rank, epoch in enumerate(epochs) for index in samples_of(epoch)}
        for ranks in runs.values()
        for epochs in epochs_of(ranks)
    ]
    share = 1 / case.world_size
    together = (case.samples // case.world_size - 1) / (case.samples - 1)
    mean, spread = len(places) * share, 7 * sqrt(len(places) * share * (1 - share))
    pair_mean, pair_spread = len(places) * together, 7 * sqrt(len(places) * together * (1 - together))
    for index in range(case.samples):
        for rank in range(case.world_size):
            there = sum(place.get(index) == rank for place in places)
            if abs(there - mean) > spread:
                return f"sample {index} is on rank {rank} in {there} of {len(places)} epochs, {mean:.0f} are expected"
        both = sum(place.get(index) == place.get(index + 1) for place in places)
        if index + 1 < case.samples and abs(both - pair_mean) > pair_spread:
            pair = f"samples {index} and {index + 1} are on one rank"
            return f"{pair} in {both} of {len(places)} epochs, {pair_mean:.0f} are expected"
    return ""
