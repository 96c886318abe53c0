"""What is tried of samples that are no numbers, and of what stays in memory of large ones (chapters 4 and 10)."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.faults.drawn import styles
from conformance.loader.asked import may_persist
from conformance.loader.conducts import KINDS
from conformance.loader.kinds import ORDERED
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.trial.tiers import Tier

# Samples that are made of others.
_PUT_TOGETHER = ("dict", "tuple", "named", "nested")


def kinds_of_sample(claims: Claims, tier: Tier) -> Iterator[Scenario]:
    """One step of each kind of sample, in the main process and in a worker; then many epochs of large samples."""
    for dataset in styles(claims):
        for kind in KINDS:
            for num_workers in _workers_of_kinds(claims, dataset, kind, tier):
                if kind == "large":
                    yield Scenario(16, batch_size=4, num_workers=num_workers, kind=kind, dataset=dataset)
                    if num_workers == 0 or dataset == "map":
                        yield from _growing(claims, num_workers, dataset) if tier.name != "quick" else ()
                elif kind != "buffer":
                    yield Scenario(3, batch_size=3, num_workers=num_workers, kind=kind, dataset=dataset)
                    if not num_workers:
                        # A step of one sample may be made in another way.
                        yield Scenario(1, kind=kind, dataset=dataset)
    if claims.shuffle == "global" and "map" in claims.datasets and tier.name != "quick":
        many = Scenario(ORDERED, batch_size=100, shuffle=True, conduct="orders")
        yield many
        if claims.resume is True:
            # A state that was given away is nothing that the loader must keep.
            yield simpler(many, details="saved")


def _workers_of_kinds(claims: Claims, style: Style, kind: str, tier: Tier) -> tuple[int, ...]:
    """With a worker as well: what is sent is taken apart, and put together again."""
    if not claims.workers or style == "map":
        return (0, 1) if claims.workers else (0,)
    # A stream may be sent by other means.
    sends = bool(claims.iterable_workers) and kind in _PUT_TOGETHER and tier.name != "quick"
    return (0, 1) if sends else (0,)


def _growing(claims: Claims, num_workers: int, style: Style) -> Iterator[Scenario]:
    """What may keep more with each epoch: one that is left, a rest that is dropped, an error; workers that live on."""
    large = Scenario(16, batch_size=4, num_workers=num_workers, kind="large", dataset=style)
    persists = num_workers > 0 and may_persist(claims)
    if style == styles(claims)[0]:
        yield simpler(large, conduct="leave@3", persistent_workers=persists)
    if not num_workers and style == styles(claims)[0]:
        if claims.asynchronous:
            # What is left has been read ahead.
            size = 2 if "buffer_size" in claims.hooks else 0
            yield simpler(large, samples=32, batch_size=8, conduct="leave@1", asynchronous=True, buffer_size=size)
        yield simpler(large, samples=31, batch_size=16, drop_last=True)
    if not num_workers and claims.errors == "raise":
        yield simpler(large, batch_size=16, fault="raise@15", details="always")
