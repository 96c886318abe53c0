"""Decides whether two lots of draws are alike by more than chance: of two ranks, two epochs, or two seeds."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations, pairwise, product
from operator import eq

from conformance.loader.judging import show, usable
from conformance.loader.scenario import Scenario
from conformance.reach.chances import agree_too_often, can_not_be_alike, shares
from conformance.reach.scenario import weights_of
from conformance.trace import Epoch, RankRun, Run, Trace
from conformance.trial.clause import Finding

Pair = tuple[Epoch, Epoch]


def of_seeds(trace: Trace) -> Iterator[Run]:
    """The main run, and those with other seeds."""
    yield from (run for run in trace.runs if usable(run) and (run is trace.main or run.name.startswith("seed ")))


def squares(scenario: Scenario) -> float:
    """The chance that two draws give one sample."""
    return sum(share * share for share in shares(scenario.samples, weights_of(scenario)))


def pairs_of(scenario: Scenario, runs: list[Run]) -> dict[str, list[Pair]]:
    """By what is other, the epochs that must differ: neighbours, so that each has a few partners.

    A rank must not draw what another one draws in another epoch either.
    """
    return {
        "ranks": [pair for run in runs for two in combinations(run.ranks, 2) for pair in _across(*two)],
        "epochs": [pair for run in runs for rank in run.ranks for pair in pairwise(rank.epochs)],
        "seeds": [
            (one.epochs[0], other.epochs[0])
            for run, later in pairwise(runs)
            for one, other in zip(run.ranks, later.ranks, strict=True)
        ],
    }


def _across(one: RankRun, other: RankRun) -> Iterator[Pair]:
    """Each epoch of a rank with each one of another rank."""
    return product(one.epochs, other.epochs)


def _common(pairs: list[Pair]) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """What both of each pair drew, as far as the shorter one goes."""
    for one, other in pairs:
        size = min(len(one.samples), len(other.samples))
        yield one.samples[:size], other.samples[:size]


def may_be_seen(pairs: list[Pair], in_one: float) -> bool:
    """Whether so many draws could be too alike at all."""
    sizes = [len(one) for one, _ in _common(pairs)]
    return agree_too_often(sum(sizes), sum(sizes), in_one) or any(can_not_be_alike(each, in_one) for each in sizes)


def alike(kind: str, pairs: list[Pair], in_one: float) -> Finding | None:
    """What is told of pairs that are more alike than chance makes them."""
    both = list(_common(pairs))
    for pair, (first, second) in zip(pairs, both, strict=True):
        # What is no more than shuffled is for DRAW-3 to say.
        shuffled = len({*first}) == len(first) and first != second
        if can_not_be_alike(len(first), in_one) and Counter(first) == Counter(second) and not shuffled:
            return _told_alike(kind, pair, "the same samples")
    places = sum(len(first) for first, _ in both)
    agreed = sum(sum(map(eq, first, second)) for first, second in both)
    if agree_too_often(agreed, places, in_one):
        told = f"{agreed} of {places} draws agree in their place, expected {places * in_one:.0f}"
        return _told_alike(kind, pairs[0], told)
    return None


def come_round(scenario: Scenario, trace: Trace) -> bool:
    """Whether something is drawn again that should be drawn anew; frequencies stray then by no fault of their own."""
    in_one = min(1.0, squares(scenario) * scenario.world_size)
    pairs = pairs_of(scenario, list(of_seeds(trace)))
    return any(alike(kind, each, in_one) is not None for kind, each in pairs.items())


def _told_alike(kind: str, pair: Pair, told: str) -> Finding:
    one, other = pair
    noun = {"ranks": "rank", "epochs": "epoch", "seeds": "seed"}[kind]
    lines = (*show((one,), label=f"one {noun}, as "), *show((other,), {0: told}, label=f"another {noun}, as "))
    why = f"what is drawn alike for two {kind} is trained on twice, and weighs so much more"
    return Finding(f"{kind}-alike", f"other samples for another {noun}", lines, why)
