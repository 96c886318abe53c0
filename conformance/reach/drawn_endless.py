"""What is tried of loaders without an end: a few passes, over a few ranks, with a state at any step of them."""

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import strategies as st

from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.runs import Circumstances, run, runs, usual
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.processes.lane import Lane
from conformance.processes.random_state import ANOTHER_STATE
from conformance.reach.scenario import AGAIN, steps_to_read
from conformance.trace import Run
from conformance.trial.tiers import Tier

# Samples, ranks, micro-batch: what divides, what leaves a rest for ranks, for steps, and for both.
_SIZES = ((1, 1, 1), (4, 1, 1), (12, 2, 3), (7, 1, 2), (9, 2, 1), (20, 3, 2), (101, 4, 4), (64, 1, 5))


def endless_runs(lane: Lane, scenario: Scenario) -> Iterator[Run]:
    """The main run, and one in which something is changed; or what another process makes of the main run's states."""
    if not _saves(scenario):
        yield from runs(lane, scenario)
        return
    main = run(lane, "main", usual(scenario))
    yield main
    if main.saved:
        epochs = usual(scenario).epochs
        again = Circumstances(scenario, epochs, random_seed=ANOTHER_STATE, other_process=1, saved=main.saved)
        resumed = run(lane, "resumed", again)
        yield resumed
        if scenario.details and resumed.saved:
            plain = simpler(scenario, details="")
            yield run(lane, "resumed again", replace(again, scenario=plain, other_process=0, saved=resumed.saved))


def _saves(scenario: Scenario) -> bool:
    return scenario.conduct.startswith("stopped")


@st.composite
def passes(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A dataset for a few passes; where states are promised, one at any step."""
    dataset: Style = draw(st.sampled_from([each for each in ("map", "iterable") if each in claims.datasets]))
    ranks = draw(st.integers(1, 3)) if _may_have_ranks(claims, dataset) else 1
    # Elements of a stream are dealt out one by one, and no rank is to have one more.
    samples = draw(st.integers(1, 10)) * ranks if dataset == "iterable" else draw(st.integers(1, 24))
    plain = Scenario(
        samples,
        ranks,
        draw(st.integers(1, 4)),
        drop_last=draw(st.booleans()),
        shuffle=draw(st.booleans()) if claims.shuffle and dataset == "map" else False,
        epochs=draw(st.integers(2, 4)),
        dataset=dataset,
    )
    return _with_state(draw, claims, plain)


def _with_state(draw: st.DrawFn, claims: Claims, plain: Scenario) -> Scenario:
    may = claims.resume is True or (bool(claims.resume) and not plain.shuffle)
    if may and draw(st.booleans()):
        return simpler(plain, conduct=f"stopped@{draw(st.integers(0, steps_to_read(plain) - 1))}")
    return simpler(plain, conduct="endless", variant=draw(st.sampled_from(("none", "again"))))


def _may_have_ranks(claims: Claims, dataset: str) -> bool:
    return dataset == "map" or claims.iterable_workers == "split"


def a_few_passes(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each size, kept and dropped, shuffled and not; then states at the beginning, within passes and between them."""
    for dataset in (each for each in ("map", "iterable") if each in claims.datasets):
        style: Style = "map" if dataset == "map" else "iterable"
        for samples, ranks, batch_size in _SIZES:
            if dataset == "iterable" and (samples % ranks or (ranks > 1 and not _may_have_ranks(claims, dataset))):
                continue
            for drop_last in (False, True):
                yield Scenario(
                    samples, ranks, batch_size, drop_last=drop_last, epochs=3, dataset=style, conduct="endless"
                )
    if claims.shuffle and "map" in claims.datasets:
        for samples, ranks, batch_size in ((24, 1, 1), (24, 2, 3), (30, 3, 2)):
            yield Scenario(samples, ranks, batch_size, shuffle=True, epochs=4, conduct="endless", variant="again")
        yield Scenario(24, 2, 3, shuffle=True, epochs=4, seed=LARGEST_SEED, conduct="endless")
    if claims.workers and "map" in claims.datasets:
        yield Scenario(12, 2, 2, num_workers=2, epochs=3, conduct="endless", variant="again")
    if claims.resume and "map" in claims.datasets:
        shuffle = claims.resume is True and claims.shuffle is not None
        for place in (0, 1, 3, 4, 5, 8, 11):
            yield Scenario(8, 1, 2, shuffle=shuffle, epochs=3, conduct=f"stopped@{place}")
            yield Scenario(9, 2, 1, epochs=3, conduct=f"stopped@{place}")
        for word in AGAIN:
            for place in (1, 5):
                yield Scenario(8, 1, 2, shuffle=shuffle, epochs=3, conduct=f"stopped@{place}", details=word)
