"""What is tried of workers and of iterable-style datasets: the families of chapter 4.

A scenario with worker processes costs a tenth of a second and more, so these families are small, and one run of a
scenario serves all their clauses.
"""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.asked import may_persist
from conformance.loader.scenario import Scenario
from conformance.trial.tiers import Tier


@st.composite
def with_workers(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A map-style dataset read by worker processes, compared with none, or with the same again."""
    samples = draw(st.integers(0, 16))
    world_size = draw(st.integers(1, 2))
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.sampled_from((2, 1, 3)))
    return Scenario(
        samples,
        world_size,
        batch_size,
        drop_last=draw(st.booleans()),
        shuffle=draw(st.booleans()) if claims.shuffle else False,
        num_workers=num_workers,
        epochs=draw(st.integers(1, 2)),
        variant=draw(st.sampled_from(("workers", "again", "workers", "again", "random-state"))),
        persistent_workers=draw(st.booleans()) if may_persist(claims) else False,
    )


@st.composite
def iterable_style(draw: st.DrawFn, claims: Claims) -> Scenario:
    """An iterable-style dataset, over ranks and workers where the loader says what happens."""
    samples = draw(st.integers(0, 12))
    world_size = draw(st.integers(1, 3)) if claims.iterable_workers else 1
    batch_size = draw(st.integers(1, 3))
    num_workers = draw(st.integers(0, 3)) if claims.streams_to_workers else 0
    drop_last = draw(st.booleans())
    epochs = draw(st.integers(1, 2))
    return Scenario(
        samples, world_size, batch_size, drop_last=drop_last, num_workers=num_workers, epochs=epochs, dataset="iterable"
    )


def a_few_workers(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Two ranks with two workers each, over two epochs, compared with none and with the same again."""
    for drop_last in (False, True):
        yield Scenario(9, 2, 2, drop_last=drop_last, num_workers=2, epochs=2, variant="workers")
    yield Scenario(9, 2, 2, num_workers=2, epochs=2, variant="again")
    yield Scenario(5, num_workers=1, epochs=2, variant="again")
    if "worker_init_fn" in claims.hooks:
        # What a hook does is done beside what the loader does by itself.
        yield Scenario(9, 2, 2, num_workers=2, epochs=2, details="initialised", variant="workers")
    shuffle = claims.shuffle is not None
    yield Scenario(9, 2, 2, shuffle=shuffle, num_workers=2, epochs=2, variant="random-state")
    if tier.name != "quick":
        # Workers of unequal speed; one sample that takes long, for which nobody may give up.
        for fault in ("slow@0", "slow@5", "long@2"):
            yield Scenario(9, num_workers=2, fault=fault, variant="workers")
        # One of several in its step: who has the step read once more reads what was not slow twice.
        yield Scenario(9, batch_size=2, num_workers=2, fault="slow@4", variant="workers")
        if "timeout" in claims.hooks:
            # A time-out is for each step, and no step takes as long.
            yield Scenario(9, num_workers=1, fault="crawl@0", variant="workers")
            # Nor is the time for which a consumer holds one any worker's.
            yield Scenario(4, num_workers=1, conduct="dawdle", variant="workers")
        if shuffle:
            # Seeds of workers are counted on from the loader's.
            yield Scenario(9, 2, 2, shuffle=True, num_workers=2, epochs=2, seed=LARGEST_SEED, variant="workers")
        if claims.goes_by_set_epoch:
            # Seeds of workers that keep some bits of the epoch alone.
            for epochs in (6, 10):
                yield Scenario(2, num_workers=1, epochs=epochs, conduct="far", variant="again")
        if claims.ranks and "ranks" not in claims.without:
            yield Scenario(21, 3, 2, num_workers=3, details="fewer", variant="again")
        if claims.ranks == "explicit" and "ranks" not in claims.without:
            # So many that seeds which leave room for ten or sixteen of a rank meet those of the next one.
            yield Scenario(36, 2, num_workers=17, variant="again")
        # More workers and more steps than are drawn.
        yield Scenario(211, batch_size=4, shuffle=shuffle, num_workers=5, epochs=2, variant="workers")
        yield Scenario(67, batch_size=1, drop_last=True, num_workers=7, variant="workers")
    if may_persist(claims):
        yield Scenario(9, 2, 2, shuffle=shuffle, num_workers=2, epochs=2, variant="workers", persistent_workers=True)


def a_few_iterables(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """An iterable dataset with a rest for each worker, kept and dropped."""
    for drop_last in (False, True):
        num_workers = 2 if claims.streams_to_workers else 0
        yield Scenario(9, batch_size=2, drop_last=drop_last, num_workers=num_workers, dataset="iterable")
        if tier.name != "quick":
            workers = 5 if claims.streams_to_workers else 0
            yield Scenario(1031, batch_size=16, drop_last=drop_last, num_workers=workers, dataset="iterable")
