"""What is tried of shuffled streams, and of streams that shuffle themselves."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from conformance.chosen.judges_streams import shuffles_streams, tells_epochs
from conformance.chosen.scenario import MORE_THAN_A_BYTE, ChosenScenario
from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.asked import may_persist
from conformance.trial.tiers import Tier

# So many elements, two in each shard, that four readers can't come to the same order twice by chance.
_LARGE = ChosenScenario(192, "stream", batch_size=8, shuffle=True, parts=96, epochs=3)


@st.composite
def streams(draw: st.DrawFn, claims: Claims) -> ChosenScenario:
    """A stream in a few shards, shuffled or with an epoch of its own, over ranks and workers where that is promised."""
    ways = [way for way, promised in ((True, shuffles_streams), (False, tells_epochs)) if promised(claims)]
    shuffle = draw(st.sampled_from(ways))
    num_workers = draw(st.sampled_from((0, 0, 1, 2))) if claims.streams_to_workers else 0
    epochs = draw(st.integers(1, 3))
    variants = ("none", "again", *(("jump",) if claims.epochs == "set_epoch" and epochs > 1 else ()))
    return ChosenScenario(
        draw(st.integers(1, 20)),
        "stream",
        draw(st.integers(1, 3)) if claims.iterable_workers else 1,
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        shuffle,
        parts=draw(st.integers(1, 6)),
        num_workers=num_workers,
        persistent_workers=draw(st.booleans()) if num_workers and may_persist(claims) else False,
        epochs=epochs,
        details="" if shuffle else "own",
        variant=draw(st.sampled_from(variants)) if shuffle else "none",
    )


def a_few_streams(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    """Small ones, in which each element can be seen; and large ones, which chance can't make equal."""
    staffs = [(1, 0), *([(2, 0)] if claims.iterable_workers else [])]
    staffs += [(1, 2), (2, 2)] if claims.streams_to_workers else []
    for world_size, num_workers in staffs:
        lives = (False, True) if num_workers and may_persist(claims) else (False,)
        for persistent in lives:
            of = dict(world_size=world_size, num_workers=num_workers, persistent_workers=persistent)
            if shuffles_streams(claims):
                yield from _shuffled(replace(_LARGE, **of), claims)  # type: ignore[arg-type]
            if tells_epochs(claims):
                small = ChosenScenario(7, "stream", batch_size=2, parts=3, epochs=3, details="own")
                yield replace(small, **of)  # type: ignore[arg-type]
                yield replace(small, drop_last=True, epochs=2, **of)  # type: ignore[arg-type]
                if claims.goes_by_set_epoch:
                    yield replace(small, details="own+back", **of)  # type: ignore[arg-type]


def _shuffled(large: ChosenScenario, claims: Claims) -> Iterator[ChosenScenario]:
    small = replace(large, samples=9, parts=3, batch_size=2, epochs=2)
    for drop_last in (False, True):
        yield replace(small, drop_last=drop_last)
    if not large.num_workers:
        yield replace(small, seed=LARGEST_SEED)
        yield replace(small, samples=MORE_THAN_A_BYTE, parts=MORE_THAN_A_BYTE)
    for variant in ("again", "seed+1", *(("jump",) if claims.epochs == "set_epoch" else ())):
        yield replace(large, variant=variant)
