"""What is tried of ranks whose steps are equal: datasets that no number of ranks divides, in files of unlike sizes."""

from collections.abc import Iterator

from hypothesis import strategies as st

from conformance.contract import LARGEST_SEED, Claims
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.trial.tiers import Tier

# Samples, ranks, micro-batch: one more than all ranks share, one less, and what workers share out unevenly.
_SIZES = ((3, 2, 1), (5, 2, 2), (7, 3, 2), (10, 4, 1), (18, 2, 1), (29, 3, 2), (101, 4, 8))


def _styles(claims: Claims) -> list[Style]:
    """The kinds of dataset that are shared out over ranks."""
    styles: tuple[Style, ...] = ("map", "iterable")
    return [each for each in styles if each in claims.datasets and (each == "map" or claims.iterable_workers)]


@st.composite
def equal(draw: st.DrawFn, claims: Claims) -> Scenario:
    """A dataset over two ranks or more, with workers where there are some, in files where they are what is dropped."""
    dataset = draw(st.sampled_from(_styles(claims)))
    samples = draw(st.integers(1, 30))
    return Scenario(
        samples,
        draw(st.integers(2, 4)),
        draw(st.integers(1, 3)),
        drop_last=draw(st.booleans()),
        shuffle=draw(st.booleans()) if claims.shuffle and dataset == "map" else False,
        num_workers=draw(st.sampled_from((0, 0, 1, 2))) if _may_have_workers(claims, dataset) else 0,
        epochs=draw(st.integers(1, 2)),
        dataset=dataset,
        conduct=f"sharded@{draw(st.integers(1, 8))}" if claims.drops is not None and draw(st.booleans()) else "",
    )


def _may_have_workers(claims: Claims, dataset: str) -> bool:
    return claims.workers if dataset == "map" else claims.streams_to_workers


def a_few_equals(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """Each kind of dataset, kept and dropped; then files of 3, 4, 5 and 6 samples."""
    for dataset in _styles(claims):
        for at, (samples, ranks, batch_size) in enumerate(_SIZES if tier.name != "quick" else _SIZES[::2]):
            if ranks > 2 and claims.ranks == "process_group" and tier.name == "quick":
                continue
            plain = Scenario(samples, ranks, batch_size, dataset=dataset, epochs=1 + at % 2)
            for drop_last in (False, True):
                yield simpler(plain, drop_last=drop_last)
            if _may_have_workers(claims, dataset) and at % 3 == 1:
                yield simpler(plain, num_workers=2)
        if claims.drops:
            yield from _in_files(dataset, shuffle=claims.shuffle is not None and dataset == "map")


def _in_files(dataset: Style, shuffle: bool) -> Iterator[Scenario]:
    for drop_last in (False, True):
        yield Scenario(18, 2, dataset=dataset, drop_last=drop_last, conduct="sharded@4")
        yield Scenario(40, 2, 3, dataset=dataset, drop_last=drop_last, conduct="sharded@9")
        yield Scenario(90, 3, 2, dataset=dataset, drop_last=drop_last, epochs=2, conduct="sharded@20")
        if shuffle:
            # Which files a rank has, and so its steps, is another matter in each epoch.
            for files, ranks in ((4, 2), (9, 2), (10, 3)):
                plain = Scenario(files * 9 // 2, ranks, 3, drop_last=drop_last, shuffle=True, epochs=6, seed=files)
                yield simpler(plain, conduct=f"sharded@{files}")
            yield simpler(plain, conduct="sharded@10", seed=LARGEST_SEED)
