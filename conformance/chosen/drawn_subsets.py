"""What is tried of subsets, and of two loaders in one process."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from conformance.chosen.scenario import BEHIND, ChosenScenario
from conformance.contract import LARGEST_SEED, Claims
from conformance.trial.tiers import Tier

_WAYS = ("", "backwards", "beside", "backwards+beside", "whole", "none", "none+beside", "half+beside")


@st.composite
def subsets(draw: st.DrawFn, claims: Claims) -> ChosenScenario:
    """Two samples of three, or every other one, alone or beside a loader of the others; or two loaders of all."""
    return ChosenScenario(
        draw(st.integers(2, 16)),
        "subset",
        draw(st.integers(1, 3)),
        draw(st.integers(1, 3)),
        draw(st.booleans()),
        draw(st.booleans()) if claims.shuffle else False,
        num_workers=draw(st.sampled_from((0, 0, 0, 0, 0, 2))) if claims.workers else 0,
        epochs=draw(st.integers(1, 3)),
        details=draw(st.sampled_from(_WAYS)),
    )


def a_few_subsets(claims: Claims, tier: Tier) -> Iterator[ChosenScenario]:
    """Each way with a rest, shuffled and not; more samples than are drawn; workers."""
    shuffles = (False, True) if claims.shuffle else (False,)
    for details in _WAYS:
        for shuffle in shuffles:
            small = ChosenScenario(10, "subset", 2, 2, shuffle=shuffle, epochs=3, details=details)
            yield small
            yield replace(small, world_size=1, drop_last=True)
            yield replace(small, samples=301, world_size=3, batch_size=7, epochs=2)
    for details in ("swapped", "swapped+beside"):
        # What looks like a range from its ends, and is none.
        yield ChosenScenario(8, "subset", 1, 2, epochs=2, details=details)
        yield ChosenScenario(30, "subset", 2, 3, epochs=2, details=details)
    for details in sorted(BEHIND):
        for shuffle in shuffles:
            yield ChosenScenario(10, "subset", 1, 2, shuffle=shuffle, epochs=2, details=details)
    if shuffles[-1]:
        yield ChosenScenario(10, "subset", 2, 2, shuffle=True, epochs=2, seed=LARGEST_SEED)
    if claims.workers:
        yield ChosenScenario(10, "subset", 1, 2, shuffle=shuffles[-1], num_workers=2, epochs=2, details="beside")
