"""What is tried: decides which scenarios each family draws, small ones first, and how many at each tier.

Every value shrinks towards the simplest: 0 samples, 1 rank, micro-batch 1, nothing dropped or shuffled, one epoch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from hypothesis import strategies as st

from conformance.ahead.drawn import each_way_ahead, reading_ahead
from conformance.contract import Claims
from conformance.device.drawn import a_few_models, models
from conformance.launch.drawn import launches
from conformance.loader.runs import variants
from conformance.loader.scenario import Scenario
from conformance.pipelines.drawn import a_few_pipelines, pipelines
from conformance.restarts.drawn import each_restart, restarts
from conformance.workers.drawn import (
    a_few_iterables,
    a_few_workers,
    each_trouble,
    iterable_style,
    kinds_of_sample,
    troubled,
    with_workers,
)


@dataclass(frozen=True)
class Tier:
    """How much a run tries: examples of each drawn family, draws of the statistics, share of a clause's floor."""

    name: str
    examples: dict[str, int]
    small_draws: int
    floor_share: float


TIERS = {
    tier.name: tier
    for tier in (
        Tier(
            "quick",
            {
                "map": 200,
                "workers": 4,
                "iterable": 8,
                "life": 16,
                "async": 8,
                "device": 40,
                "pipeline": 3,
                "resume": 12,
            },
            small_draws=480,
            floor_share=0.05,
        ),
        Tier(
            "gate",
            {
                "map": 1000,
                "workers": 24,
                "iterable": 40,
                "life": 90,
                "async": 50,
                "device": 220,
                "pipeline": 24,
                "resume": 150,
            },
            small_draws=4000,
            floor_share=1.0,
        ),
        Tier(
            "deep",
            {
                "map": 40_000,
                "workers": 400,
                "iterable": 800,
                "life": 2400,
                "async": 1000,
                "device": 10_000,
                "pipeline": 600,
                "resume": 4000,
            },
            40_000,
            floor_share=10.0,
        ),
    )
}

# Mostly none: large datasets cost time, and few faults need them.
_MORE_SAMPLES = (*[0] * 24, 30, 100, 400)
# That a buffer shuffles shows beyond chance only in longer shards.
_MORE_IF_BUFFERED = (*[0] * 5, 30, 100)


@st.composite
def map_style(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A map-style dataset read for a few epochs by a few ranks, and one circumstance that is changed."""
    more = _MORE_IF_BUFFERED if claims.shuffle == "buffered" else _MORE_SAMPLES
    samples = draw(st.integers(0, 24)) + draw(st.sampled_from(more))
    world_size = draw(st.integers(1, 4))
    batch_size = draw(st.integers(1, 5))
    factors = [draw(st.sampled_from((1, 1, 2, 3))) if claims.device_options else 1 for _ in range(3)]
    drop_last = draw(st.booleans())
    # More clauses speak of shuffled epochs than of unshuffled ones.
    shuffle = draw(st.sampled_from((False, True, True))) if claims.shuffle else False
    epochs = draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**31 - 2)) if shuffle else 0
    variant = draw(st.sampled_from(variants(claims)))
    if variant == "seed+1" and not shuffle:
        variant = "none"
    return Scenario(
        samples,
        world_size,
        batch_size,
        factors[0],
        factors[1],
        factors[2],
        drop_last,
        shuffle,
        0,
        epochs,
        seed,
        variant,
    )


def drawn(family: str, claims: Claims) -> st.SearchStrategy[Scenario]:
    """The strategy of a drawn family."""
    strategies = {
        "map": map_style,
        "workers": with_workers,
        "iterable": iterable_style,
        "life": troubled,
        "async": reading_ahead,
        "device": models,
        "pipeline": pipelines,
        "resume": restarts,
    }
    return strategies[family](claims)


def always_tried(family: str, claims: Claims) -> list[Scenario]:
    """The scenarios of a drawn family that are tried before any is drawn."""
    tried = {
        "map": _many_ranks,
        "workers": a_few_workers,
        "iterable": a_few_iterables,
        "life": each_trouble,
        "async": each_way_ahead,
        "device": a_few_models,
        "pipeline": a_few_pipelines,
        "resume": each_restart,
    }
    return list(tried[family](claims))


def _many_ranks(claims: Claims) -> Iterator[Scenario]:
    """More ranks than are drawn: a loader may treat the ninth as the first."""
    if claims.ranks == "process_group":  # a process group of sixteen costs seconds
        return
    for samples, ranks, batch_size in ((40, 9, 1), (100, 16, 2)):
        for drop_last in (False, True):
            yield Scenario(samples, ranks, batch_size, drop_last=drop_last)
            if claims.shuffle:
                yield Scenario(samples, ranks, batch_size, drop_last=drop_last, shuffle=True)


def listed(family: str, claims: Claims, tier: Tier) -> list[Scenario]:
    """The scenarios of a family that is not drawn, smallest first."""
    scenarios = {"refusals": _refusals, "statistics": _statistics, "samples": kinds_of_sample, "launch": _launches}
    return list(scenarios[family](claims, tier))


def _launches(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    return launches(quick=tier.name == "quick")


def _refusals(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    names = ["batch_size"]
    if claims.ranks == "explicit":
        names.append("world_size")
    if claims.device_options:
        names += ["replication_factor", "device_iterations", "gradient_accumulation"]
    for name in names:
        for value in ("0", "-1", "-3", "True", "1.5", "2.0"):
            yield Scenario(4, refusal=f"{name}={value}")
    if claims.ranks == "explicit":
        for rank in ("-1", "2"):
            yield Scenario(4, world_size=2, refusal=f"rank={rank}")


def _statistics(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    if claims.shuffle != "global":
        return
    # Twenty seeds, so that a shuffle is judged over seeds as well as over epochs.
    seeds, epochs = 20, tier.small_draws // 20
    for samples in (2, 3, 4):
        yield Scenario(samples, shuffle=True, epochs=epochs, seeds=seeds)
    yield Scenario(64, batch_size=8, shuffle=True, epochs=tier.small_draws // 100, seeds=10)
    yield Scenario(4096, batch_size=128, shuffle=True, epochs=4)
    if tier.name != "quick":
        yield Scenario(30_000, batch_size=1000, shuffle=True, epochs=2)
    for samples, ranks in ((2, 2), (6, 3), (32, 4)):
        yield Scenario(samples, ranks, shuffle=True, epochs=tier.small_draws // 20, seeds=2)
    if claims.when_dropping:
        for samples, ranks, batch_size in ((3, 1, 2), (5, 2, 2), (7, 3, 2), (29, 2, 3)):
            yield Scenario(samples, ranks, batch_size, drop_last=True, shuffle=True, epochs=64)
