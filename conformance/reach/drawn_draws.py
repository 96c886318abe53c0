"""What is tried of samples that are drawn with replacement: small epochs, and draws enough for their counts."""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.asked import may_persist
from conformance.loader.scenario import Scenario, Variant, simpler
from conformance.trial.tiers import Tier


def _variants(claims: Claims) -> list[Variant]:
    """The runs in which the same must be drawn."""
    names: list[Variant] = ["none", "again", "after", "random-state"]
    return [*names, "jump"] if claims.epochs != "automatic" else names


@st.composite
def draws(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A dataset that is drawn from for an epoch or two, on a few ranks, and one circumstance that is changed."""
    return Scenario(
        draw(st.integers(1, 24)),
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)),
        drop_last=draw(st.booleans()),
        shuffle=True,
        epochs=draw(st.integers(1, 3)),
        seed=draw(st.integers(0, 2**31 - 2)),
        conduct=draw(st.sampled_from(_conducts(claims))),
        variant=draw(st.sampled_from(_variants(claims))),
    )


def _conducts(claims: Claims) -> list[str]:
    return ["", "weighted"] if "weights" in claims.hooks else [""]


def many_draws(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each variant; with workers and without; then many seeds and epochs, from few samples and from more."""
    for conduct in _conducts(claims):
        for variant in _variants(claims):
            yield Scenario(24, 2, 4, shuffle=True, epochs=3, seed=7, conduct=conduct, variant=variant)
        yield Scenario(101, 1, 8, shuffle=True, epochs=2, drop_last=True, conduct=conduct)
        yield Scenario(24, 2, 4, shuffle=True, epochs=3, seed=LARGEST_SEED, conduct=conduct)
        yield Scenario(64, 4, 4, shuffle=True, epochs=4, seeds=3, conduct=conduct)
        if claims.workers:
            workers: Variant = "workers"
            plain = Scenario(24, 2, 4, shuffle=True, epochs=2, num_workers=2, conduct=conduct, variant=workers)
            yield plain
            if may_persist(claims):
                yield simpler(plain, persistent_workers=True)
        # Twenty seeds, so that draws are judged over seeds as well as over epochs; ranks whose shards weigh unlike.
        # Steps of fewer samples than have a weight too: what is drawn for a step at a time may not come again in it.
        for samples, ranks, step, part in ((4, 1, 4, 20), (4, 1, 2, 20), (8, 4, 2, 40), (40, 1, 40, 200)):
            plain = Scenario(samples, ranks, step, shuffle=True, seeds=20, conduct=conduct)
            yield simpler(plain, epochs=max(12, tier.small_draws // (5 * part)))
        if tier.name != "quick":
            yield Scenario(1000, 3, 50, shuffle=True, epochs=12, conduct=conduct)
            # What is drawn in blocks, all alike, shows where there are many of them.
            yield Scenario(10_007, 1, 64, shuffle=True, conduct=conduct)
