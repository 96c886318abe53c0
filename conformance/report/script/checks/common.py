"""What the checks of all chapters count."""

from collections import Counter
from collections.abc import Iterable
from types import SimpleNamespace


def epochs_of(ranks: list[SimpleNamespace]) -> list[tuple[SimpleNamespace, ...]]:
    """Epoch by epoch, what each rank delivered."""
    return list(zip(*(rank.epochs for rank in ranks), strict=True))


def first_sentence(sentences: Iterable[str]) -> str:
    """The first one that says something, or ""."""
    return next(filter(None, sentences), "")


def samples_of(epoch: SimpleNamespace) -> list[int]:
    """The samples of one rank's epoch, in the order of delivery."""
    return [index for step in epoch.steps for index in step]


def times_of(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> Counter[int]:
    """How often each sample of the dataset came, over all ranks."""
    return Counter(index for epoch in epochs for index in samples_of(epoch) if 0 <= index < case.samples)


def missing_from(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> list[int]:
    """The samples that came on no rank."""
    times = times_of(case, epochs)
    return [index for index in range(case.samples) if not times[index]]


def failure_in(ranks: list[SimpleNamespace]) -> str:
    """How a rank ended before its time, in words, or ""."""
    found = [rank.failure for rank in ranks if rank.failure]
    return f"{found[0].kind} ({found[0].message})" if found else ""


def first_failure(rank: SimpleNamespace) -> SimpleNamespace | None:
    """How a rank ended before its time, or else its first epoch: the one in which a fault happens."""
    found = [rank.failure, *(epoch.failure for epoch in rank.epochs[:1])]
    return next((failure for failure in found if failure), None)
