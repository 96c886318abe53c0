"""What is tried of map-style datasets, of what must be refused, and of many shuffles: chapters 1 to 3.

Every value shrinks towards the simplest: 0 samples, 1 rank, micro-batch 1, nothing dropped or shuffled, one epoch.
"""

from collections.abc import Iterator
from itertools import combinations

from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.loader.scenario import VARIANTS, Scenario, Variant, simpler
from conformance.trial.tiers import TIERS, Tier

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


def variants(claims: Claims) -> tuple[Variant, ...]:
    """The variants that this implementation can be asked for in a family without workers."""
    names: list[Variant] = ["none", "again", "after", "random-state"]
    if claims.shuffle:
        names.append("seed+1")
    # Unless something else is claimed, `set_epoch` says which epoch comes, where the loader has it.
    if claims.epochs != "automatic":
        names.append("jump")
    return tuple(names)


# Samples, ranks and micro-batch of cases that are not small: around powers of two, round, prime, and on many ranks.
_UNSMALL = (
    *((samples, 1, 32) for samples in (1023, 1024, 1025)),
    *((samples, 1, 256) for samples in (255, 256, 257)),
    *((samples, 2, 16) for samples in (127, 128, 129)),
    *((samples, 8, 16) for samples in (2047, 2048, 2049)),
    *((513, 4, 64), (511, 1, 511), (300, 1, 1), (1000, 1, 100), (997, 3, 10), (9973, 1, 97), (10_007, 3, 100)),
    *((4096, 1, 128), (4099, 1, 128), (30_000, 1, 1000), (65_601, 2, 1000), (65_536, 1, 4096)),
    *((432, 61, 2), (1000, 128, 3), (129, 130, 1), (1, 70, 1)),
)


def always_tried(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """What is tried of map-style datasets before anything is drawn."""
    yield from many_ranks(claims, tier)
    yield from _unsmall(claims, tier)
    if claims.shuffle:
        # What ORDER-14 compares, which may not be drawn.
        yield Scenario(13, shuffle=True, epochs=2, variant="seed+1")


def _unsmall(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Cases that are not small, kept and dropped, shuffled and not: what breaks at size breaks here."""
    for at, (samples, ranks, batch_size) in enumerate(_UNSMALL if tier.name != "quick" else _UNSMALL[::5]):
        if ranks > 8 and claims.ranks == "process_group":
            continue
        plain = Scenario(samples, ranks, batch_size, drop_last=at % 2 == 1, epochs=1 + at % 2)
        yield plain
        shuffle = claims.shuffle is not None
        yield simpler(plain, drop_last=not plain.drop_last, shuffle=shuffle, seed=at * shuffle)
    if claims.device_options and tier.name != "quick":
        for drop_last in (False, True):
            yield Scenario(5000, 2, 16, 2, 2, 3, drop_last=drop_last)
    if claims.shuffle and tier.name != "quick":
        # A cipher may be no permutation where its blocks are widened: a released one isn't of 4^8 + 1.
        yield Scenario(65_537, batch_size=4096, shuffle=True)
        for variant in variants(claims):
            yield Scenario(4099, 2, 64, shuffle=True, epochs=2, seed=11, variant=variant)


def many_ranks(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """More ranks and more epochs than are drawn: a loader may treat the ninth as the first."""
    if claims.shuffle:
        # So many epochs that orders which come round again are seen to.
        yield Scenario(16, shuffle=True, epochs=24)
        if tier.name != "quick":
            yield from _at_the_edges(claims)
    if tier.name != "quick":
        for shuffle in {False, claims.shuffle is not None}:
            yield Scenario(6, batch_size=2, shuffle=shuffle, fault="slow@3")
    if claims.ranks == "process_group":  # a process group of sixteen costs seconds
        return
    # Some divide evenly, where a share that is computed in fractions may fall below its whole number.
    sizes = (
        (40, 9, 1),
        (100, 16, 2),
        (1, 3, 1),
        (2, 5, 1),
        (18, 6, 1),
        (49, 7, 2),
        (99, 9, 4),
        (110, 10, 1),
        (72, 24, 1),
        # Where n/R, r/R or 1/R is rounded so that r times it falls below its whole number, or above it.
        (61, 7, 1),
        (29, 7, 1),
        (15, 11, 1),
        (55, 11, 1),
        (77, 11, 1),
        (90, 10, 1),
        # Where N times R is a number whose reciprocal is rounded down, so that n times it falls below a whole number.
        (49, 7, 7),
        (98, 2, 49),
        (103, 1, 103),
        (187, 11, 17),
    )
    for samples, ranks, batch_size in sizes[:4] if tier.name == "quick" else sizes:
        for drop_last in (False, True):
            yield Scenario(samples, ranks, batch_size, drop_last=drop_last)
            if claims.shuffle:
                yield Scenario(samples, ranks, batch_size, drop_last=drop_last, shuffle=True)


def _at_the_edges(claims: Claims) -> Iterator[Scenario]:
    """Seeds that differ in a high bit alone; many epochs, and epochs far apart and backwards."""
    yield Scenario(24, shuffle=True, epochs=300)
    for variant in VARIANTS:
        if variant.startswith("seed+"):
            yield Scenario(24, batch_size=2, shuffle=True, seed=5, variant=variant)
    if claims.goes_by_set_epoch:
        for seed in (0, 5):
            # What can't reach the last of them in time is judged by the first.
            yield Scenario(24, shuffle=True, epochs=7, seed=seed, conduct="far")
            yield Scenario(24, shuffle=True, epochs=10, seed=seed, conduct="far")
        for conduct in ("far", "back"):
            yield Scenario(24, batch_size=2, shuffle=True, epochs=6, conduct=conduct, variant="jump")


def cut_short(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """What a loader may set for as long as it reads, where the reading ends by an error or is left."""
    # The smallest first: none of these is made smaller.
    yield Scenario(1, fault="raise@0", variant="random-state")
    yield Scenario(2, conduct="leave@1", variant="random-state")
    if claims.shuffle:
        # An epoch that is left is over as well, where epochs are counted.
        yield Scenario(24, batch_size=12, shuffle=True, epochs=6, conduct="head")
    plain = Scenario(5, batch_size=2, epochs=2, variant="random-state", shuffle=claims.shuffle is not None)
    ends = (simpler(plain, fault="raise@3"), simpler(plain, conduct="leave@1"))
    yield from ends
    if claims.workers:
        yield from (simpler(each, num_workers=1) for each in ends)
    if tier.name != "quick":
        # In the last step, and what is no Exception.
        yield from (simpler(plain, fault="raise@4"), simpler(plain, fault="raise@3", details="stops"))
        yield from (simpler(plain, conduct=each) for each in ("leave@2", "two@1", "closed@1", "dropped"))
        if claims.shuffle:
            # Large orders may be made in another way than small ones.
            yield Scenario(1_000_003, shuffle=True, conduct="head", variant="random-state")


def refusals(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each number that is asked for, with values that must be refused."""
    names = ["batch_size"]
    if claims.ranks == "explicit":
        names.append("world_size")
    if claims.device_options:
        names += ["replication_factor", "device_iterations", "gradient_accumulation"]
    for name in names:
        for value in ("0", "-1", "-3", "True", "1.5", "2.0"):
            yield Scenario(4, refusal=f"{name}={value}")
    yield from (Scenario(4, refusal=f"{one}=-1+{other}=-1") for one, other in combinations(names, 2))
    if claims.ranks == "explicit":
        for rank in ("-1", "2"):
            yield Scenario(4, world_size=2, refusal=f"rank={rank}")
            # Where nothing is dealt out, nobody needs to know the rank.
            yield Scenario(4, refusal=f"rank={rank}")


def statistics(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Shuffles over many seeds and epochs, small ones and large ones."""
    if claims.shuffle != "global":
        return
    # Twenty seeds, so that a shuffle is judged over seeds as well as over epochs. What the deep tier adds are seeds: a
    # loader may take longer for an epoch the later it is.
    more = max(1, tier.small_draws // TIERS["gate"].small_draws)
    seeds, draws = 20 * more, tier.small_draws // more
    for samples in (2, 3, 4):
        yield Scenario(samples, shuffle=True, epochs=draws // 20, seeds=seeds)
    # In one step, which is the fastest: what is counted is the order. 8 are two powers of two, where networks of few
    # rounds are weakest; multiplying and adding shows with 16.
    for samples, part in ((5, 80), (6, 40), (8, 80), (16, 40)):
        yield Scenario(samples, batch_size=samples, shuffle=True, epochs=draws // part, seeds=seeds)
    yield Scenario(64, batch_size=8, shuffle=True, epochs=draws // 100, seeds=10 * more)
    yield Scenario(4096, batch_size=128, shuffle=True, epochs=4)
    if tier.name != "quick":
        yield Scenario(30_000, batch_size=1000, shuffle=True, epochs=2)
        # As many as in practice: only the first step is read, which is so large that equal keys show.
        yield Scenario(1_000_003, batch_size=400_000, shuffle=True, conduct="head")
    for samples, ranks in ((2, 2), (6, 3), (32, 4)):
        yield Scenario(samples, ranks, shuffle=True, epochs=draws // 20, seeds=2 * more)
    if tier.name != "quick" and claims.ranks == "explicit":
        # Two nodes of four: a shuffle that stays within a node is none.
        yield Scenario(16, 8, 2, shuffle=True, epochs=draws // 16, seeds=2 * more)
    if claims.when_dropping:
        for samples, ranks, batch_size in ((3, 1, 2), (5, 2, 2), (7, 3, 2), (29, 2, 3)):
            yield Scenario(samples, ranks, batch_size, drop_last=True, shuffle=True, epochs=64)
