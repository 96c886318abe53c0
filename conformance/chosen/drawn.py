"""What is tried of loaders that choose: the batches of chapter 11."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from conformance.chosen.scenario import MORE_THAN_A_BYTE, ChosenScenario
from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.asked import may_persist
from conformance.trial.tiers import Tier


@st.composite
def batches(draw: st.DrawFn, claims: Claims) -> ChosenScenario:
    """Samples of a few groups, or of a few sizes, over a few ranks; now and then with workers."""
    about = draw(st.sampled_from(claims.batches))
    grouped = about == "grouped"
    words = (("", "lone"), ("", "", "large", "larger", "large+larger"), ("",))
    details = draw(st.sampled_from(words[("grouped", "budget", "at_least").index(about)]))
    shuffle = draw(st.booleans()) if claims.shuffle else False
    return ChosenScenario(
        draw(st.integers(1, 16)),
        about,
        draw(st.integers(1, 3)),
        draw(st.integers(1, 4)) if grouped else 1,
        # No step has a size that it must have under a budget.
        draw(st.booleans()) if about != "budget" else False,
        shuffle,
        parts=draw(st.integers(1, 4)) if grouped else 1,
        budget=0 if grouped else draw(st.integers(1, 9)),
        num_workers=draw(st.sampled_from((0, 0, 0, 0, 0, 2))) if claims.workers else 0,
        epochs=draw(st.integers(1, 2)),
        details=details,
        variant=draw(st.sampled_from(("none", "again"))) if shuffle else "none",
    )


def a_few_batches(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    """Each kind of batch with a rest; more samples than are drawn; shuffles that chance can't make equal."""
    for about in claims.batches:
        small = ChosenScenario(7, about, 2, 2, parts=2, epochs=2)
        large = ChosenScenario(211, about, 3, 4, parts=5)
        if about != "grouped":
            small, large = (replace(each, batch_size=1, parts=1, budget=6) for each in (small, large))
        # The remainder dropped and kept; a budget has none.
        for drop_last in (False,) if about == "budget" else (False, True):
            yield replace(small, drop_last=drop_last)
            yield replace(large, drop_last=drop_last)
            yield replace(large, world_size=1, drop_last=drop_last, epochs=2)
            if about == "grouped" and tier.name != "quick":
                yield replace(large, samples=2 * MORE_THAN_A_BYTE, parts=MORE_THAN_A_BYTE, drop_last=drop_last)
        if about == "budget":
            for details in ("large", "larger", "large+larger"):
                yield replace(small, details=details)
                yield replace(small, world_size=1, samples=2, details=details)
        if claims.shuffle:
            yield from _shuffled(replace(large, samples=120, shuffle=True))
            yield replace(small, shuffle=True, seed=LARGEST_SEED)
            if about != "grouped":
                # So many epochs that they are packed into other numbers of steps.
                yield ChosenScenario(40, about, budget=9, shuffle=True, epochs=12)
        # Workers fetch what is named, however it was chosen.
        if claims.workers and about == claims.batches[0]:
            yield replace(small, num_workers=2)
            if may_persist(claims):
                yield replace(small, num_workers=2, persistent_workers=True, shuffle=claims.shuffle is not None)


def _shuffled(large: ChosenScenario) -> Iterator[ChosenScenario]:
    for world_size in (1, 2):
        yield replace(large, world_size=world_size, epochs=3, variant="again")
        for seed in (0, 5):
            yield replace(large, world_size=world_size, seed=seed, variant="seed+1")
