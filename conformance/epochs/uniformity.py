"""Chapter 3, statistics: the judges of ORDER-12 and ORDER-13.

All draws are made with fixed seeds, so a verdict never changes from run to run. `chances.py` says when a count is
further off than chance could explain, and derives how rarely that accuses a uniform shuffle.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise, permutations
from math import exp, factorial, log, log1p

import numpy as np

from conformance.contract import Claims
from conformance.epochs.chances import (
    FEW_CELLS,
    LEAST_CHANCE,
    MANY_CELLS,
    chi_square_limit,
    improbable,
    improbable_ascents,
    more_than_chance,
)
from conformance.epochs.differences import uneven_differences
from conformance.loader.judging import show
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause

# All pairs of samples are looked at, some thousands.
_LEAST_CHANCE_OF_PAIRS, _MOST_PAIRED = log(1e-15), 100
_COUNTED = 6  # datasets up to this size: every permutation is counted, if there are enough orders
_FEW = 4  # up to this size, nothing but that
_LEAST_IN_A_CELL = 2.0
_BLOCKS = 4
_LARGE = 1000  # from this size on, ascents are counted; of a larger step, so many samples are looked at closely
_APART = (1, 2)  # epochs whose orders are held against each other
_PARTS = 16  # of a large dataset whose first steps are read
_CELLS = (64, 1024, 16_384)  # the same in smaller parts, of which some are reached


def _global(claims: Claims) -> bool:
    return claims.shuffle == "global"


@clause("ORDER-12", family="statistics", applies=lambda claims: _global(claims) and claims.in_order, floor=3)
def uniform(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """On one rank every permutation comes equally often; large datasets are mixed from end to end."""
    orders = [epochs[0].samples for epochs in _epochs(trace)]
    if scenario.world_size > 1 or scenario.drop_last or not orders or repeats_itself(trace):
        return None
    if scenario.conduct == "head":
        return _judged_by_its_head(scenario, trace, orders)
    # Not a permutation at all: ORDER-3 judges that.
    if any(len(set(order)) != scenario.samples or len(order) != scenario.samples for order in orders):
        return None
    found = _uneven(orders) or _always_together(scenario, trace) or _follows_another_epoch(trace)
    if found is None:
        return []
    kind, line = found
    shown = show(next(_epochs(trace)), label="for example, ")
    why = 'shuffle="global" is claimed; a uniform shuffle looks like this less than once in 10^9 runs'
    return [Finding(kind, "every permutation equally often", (*shown, line), why)]


def _follows_another_epoch(trace: Trace) -> tuple[str, str] | None:
    """An order that tells something of the next one: the places that its samples had are as uniform as any order."""
    runs = [[np.array(epoch.samples) for epoch in run.ranks[0].epochs] for run in trace.runs if not run.failed]
    for apart in _APART:
        pairs = (pair for orders in runs for pair in zip(orders, orders[apart:], strict=False))
        places = [tuple(np.argsort(one)[other].tolist()) for one, other in pairs]
        found = _uneven_in_part(places) if places else None
        if found:
            after = "after the one before" if apart == 1 else f"{apart} epochs later"
            return f"{found[0]}-{apart}", f"of the places that samples have {after}: {found[1]}"
    return None


def _uneven_in_part(orders: list[tuple[int, ...]]) -> tuple[str, str] | None:
    """What adds next to nothing to the chance of a false alarm."""
    if len(orders[0]) > _FEW:
        return uneven_differences(orders)
    return _uneven_permutations(orders, MANY_CELLS)


def _uneven(orders: list[tuple[int, ...]]) -> tuple[str, str] | None:
    size = len(orders[0])
    found = _uneven_permutations(orders, FEW_CELLS if size <= _FEW else MANY_CELLS) if size <= _COUNTED else None
    return found or (_badly_mixed(orders) or uneven_differences(orders) if size > _FEW else None)


def _judged_by_its_head(scenario: Scenario, trace: Trace, orders: list[tuple[int, ...]]) -> Verdict:
    """The first step of a large dataset has samples from everywhere, and few that follow each other."""
    line = _ascending(orders, min(map(len, orders)))
    orders = [order[:_LARGE] for order in orders]
    head = [index for order in orders for index in order]
    followed = sum(1 for order in orders for one, other in pairwise(order) if other == one + 1)
    if not line and followed and more_than_chance(followed, len(head) / scenario.samples):
        line = f"a sample is followed by its neighbour {followed} times in {len(head)}"
    parts = Counter(index * _PARTS // scenario.samples for index in head)
    for part in range(_PARTS):
        if not line and improbable(parts[part], len(head), 1 / _PARTS):
            expected = len(head) // _PARTS
            line = f"{parts[part]} of {len(head)} first samples are of part {part + 1} of {_PARTS}, expected {expected}"
    line = line or next(filter(None, (clustered(order, scenario.samples) for order in orders)), "")
    if not line:
        return []
    shown = show(next(_epochs(trace)), label="for example, ")
    why = 'shuffle="global" is claimed: the first step is drawn from the whole dataset'
    return [Finding("local-head", "a first step with samples from everywhere", (*shown, line), why)]


def clustered(head: tuple[int, ...], samples: int) -> str:
    """How few parts of a dataset its first samples come from, if that is no chance: blocks that stay together do so.

    Which parts have none are negatively associated, so that Chernoff's bound holds for their number.
    """
    for cells in _CELLS:
        size = samples / cells
        missed = exp(sum(log1p(-size / (samples - drawn)) for drawn in range(len(head))))
        reached = len({index * cells // samples for index in head})
        if improbable(reached, cells, 1 - missed):
            expected = cells * (1 - missed)
            return f"{len(head)} first samples are of {reached} parts of {cells:,}, expected {expected:.0f}"
    return ""


def repeats_itself(trace: Trace) -> bool:
    """Whether the epochs of some seed come round repeatedly after a few of them: ORDER-6 names that."""
    for run in trace.runs:
        if not run.failed:
            orders = [tuple(epoch.samples for epoch in run.epoch(at)) for at in range(len(run.ranks[0].epochs))]
            if any(orders[after:] == orders[:-after] for after in range(1, len(orders) // 2 + 1)):
                return True
    return False


def _uneven_permutations(orders: list[tuple[int, ...]], deviations: float) -> tuple[str, str] | None:
    size = len(orders[0])
    cells = factorial(size)
    expected = len(orders) / cells
    if size > _FEW and expected < _LEAST_IN_A_CELL:
        return None
    counts = Counter(orders)
    square = sum((counts[order] - expected) ** 2 / expected for order in permutations(range(size)))
    if square <= chi_square_limit(cells - 1, deviations):
        return None
    order = max(permutations(range(size)), key=lambda order: abs(counts[order] - expected))
    return (
        "uneven-permutations",
        f"{' '.join(map(str, order))} came {counts[order]} times of {len(orders)}, expected {expected:.0f}",
    )


def _badly_mixed(orders: list[tuple[int, ...]]) -> tuple[str, str] | None:
    size = len(orders[0])
    followed = sum(1 for order in orders for one, other in pairwise(order) if other == one + 1)
    # In a uniform order about one sample is followed by its neighbour, as rarely more as by Poisson's law.
    if more_than_chance(followed, len(orders)):
        return "neighbours-stay-together", f"a sample is followed by its neighbour {followed} times, not {len(orders)}"
    if line := _ascending(orders, size):
        return "orders-stay", line
    block = size // _BLOCKS
    moves = Counter((order[at] // block, at // block) for order in orders for at in range(block * _BLOCKS))
    for came_from in range(_BLOCKS):
        for went_to in range(_BLOCKS):
            moved = moves[came_from, went_to]
            if improbable(moved, block * len(orders), block / size):
                place = f"quarter {came_from + 1} of the dataset into quarter {went_to + 1} of the epoch"
                expected = len(orders) * block * block / size
                return "local-shuffle", f"{moved} samples went from {place}, expected {expected:.0f}"
    return None


def _ascending(orders: list[tuple[int, ...]], size: int) -> str:
    """How often a sample is followed by a later one, if that is no chance: equal keys keep the order of the dataset."""
    ascents = sum(int(np.count_nonzero(np.diff(order[:size]) > 0)) for order in orders)
    if size < _LARGE or not improbable_ascents(ascents, len(orders), size):
        return ""
    mean = f"expected {len(orders) * (size - 1) // 2:,}"
    return f"a sample is followed by a later one of the dataset {ascents:,} times, {mean}"


def _always_together(scenario: Scenario, trace: Trace) -> tuple[str, str] | None:
    """Two samples that share a step more often than chance, or more seldom; all pairs of no large dataset."""
    step = scenario.combined_batch
    if scenario.samples > _MOST_PAIRED or step < 2 or scenario.samples % step:
        return None
    epochs = [epochs[0] for epochs in _epochs(trace)]
    met = Counter(pair for epoch in epochs for each in epoch.steps for pair in combinations(sorted(each), 2))
    share = (step - 1) / (scenario.samples - 1)
    for one, other in combinations(range(scenario.samples), 2):
        if improbable(met[one, other], len(epochs), share, _LEAST_CHANCE_OF_PAIRS):
            expected = f"expected {len(epochs) * share:.0f}"
            return "pairs-stay", f"samples {one} and {other} share a step in {met[one, other]} epochs, {expected}"
    return None


@clause(
    "ORDER-13",
    family="statistics",
    applies=lambda claims: _global(claims) and not claims.deals_out_dynamically,
    floor=2,
    needs=("ranks",),
)
def mixes_across_ranks(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Over several ranks a sample lands on any rank, and its neighbour independently of it."""
    if scenario.world_size == 1 or scenario.drop_last:
        return None
    places = [_rank_of_each(epochs) for epochs in _epochs(trace)]
    if not places or any(len(place) != scenario.samples for place in places):
        return None
    # Of one sample a rank nothing tells a shard that is shuffled by itself from an order that stays.
    if claims.in_order and repeats_itself(trace):
        return None
    line = _stuck_sample(places, scenario) or _inseparable_pair(places, scenario)
    if line is None:
        return []
    why = 'shuffle="global" is claimed: one permutation of the whole dataset, then sharded'
    return [
        Finding(
            "stays-in-its-shard",
            "a sample on any rank",
            (*show(next(_epochs(trace)), label="for example, "), line),
            why,
        )
    ]


def _stuck_sample(places: list[dict[int, int]], scenario: Scenario) -> str | None:
    counts = Counter((index, rank) for place in places for index, rank in place.items())
    for index in range(scenario.samples):
        for rank in range(scenario.world_size):
            if improbable(counts[index, rank], len(places), 1 / scenario.world_size):
                expected = len(places) / scenario.world_size
                times = f"{counts[index, rank]} of {len(places)} epochs, expected {expected:.0f}"
                return f"sample {index} was on rank {rank} in {times}"
    return None


def _inseparable_pair(places: list[dict[int, int]], scenario: Scenario) -> str | None:
    shard = scenario.samples // scenario.world_size
    share = (shard - 1) / (scenario.samples - 1)
    for one, other in combinations(range(scenario.samples), 2):
        together = sum(1 for place in places if place[one] == place[other])
        least = LEAST_CHANCE if other == one + 1 else _LEAST_CHANCE_OF_PAIRS
        if improbable(together, len(places), share, least):
            times = f"{together} of {len(places)} epochs, expected {len(places) * share:.0f}"
            return f"samples {one} and {other} were on one rank in {times}"
    return None


def _rank_of_each(epochs: tuple[Epoch, ...]) -> dict[int, int]:
    return {index: rank for rank, epoch in enumerate(epochs) for index in epoch.samples}


def _epochs(trace: Trace) -> Iterator[tuple[Epoch, ...]]:
    for run in trace.runs:
        if not run.failed:
            for position in range(len(run.ranks[0].epochs)):
                yield run.epoch(position)
