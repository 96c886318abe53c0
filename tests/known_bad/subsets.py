"""Loaders of subsets, and of one dataset beside each other (chapter 11, SUBSET), with one fault each."""

from random import Random
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

from tests.known_bad.correct import Correct, KnownBad, mix

OF_SUBSETS = dict(
    when_dropping="drop",
    when_keeping="uneven",
    shuffle="global",
    epochs="set_epoch",
    length=True,
    subsets=True,
)


class OfSubsets(Correct):
    """A loader that reads the samples that it is given the indices of."""

    claims: ClassVar[dict[str, Any]] = OF_SUBSETS
    families: ClassVar[tuple[str, ...]] = ("subsets", "left")

    def indices(self) -> list[int]:
        """The samples that are asked for."""
        indices = self.request.indices
        return list(range(len(self.request.dataset))) if indices is None else list(indices)

    def order(self) -> list[int]:
        """The samples of the epoch, in the order that all ranks share."""
        order = self.indices()
        return self.shuffled(order, Random(self.mixed_seed())) if self.request.shuffle else order


# --- correct, in ways that are easy to mistake for faults -------------------------------------------------------------


class ReadsTheSubsetFirst(OfSubsets):
    """It reads the whole subset when it is made, and gives its samples from memory ever after."""

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.kept = {index: request.dataset[index] for index in self.indices()}

    def fetch(self, step: list[int]) -> Any:
        """The samples of a step."""
        return [self.kept[index] for index in step]


class PadsTheSubset(OfSubsets):
    """Its ranks are made equal with samples of the subset, in blocks."""

    claims: ClassVar[dict[str, Any]] = {**OF_SUBSETS, "when_keeping": "pad", "layout": "contiguous"}


CORRECT_OF_SUBSETS: tuple[type[Correct], ...] = (OfSubsets, ReadsTheSubsetFirst, PadsTheSubset)


# --- known bad --------------------------------------------------------------------------------------------------------


class KnownBadOfSubsets(OfSubsets, KnownBad):
    """What the bad ones share."""

    families = ("subsets",)


class ReadsTheParent(KnownBadOfSubsets):
    """As many samples as the subset has are read, from the beginning of the whole dataset."""

    clause, smallest = "SUBSET-1", "n2,w1,b1,keep,subset"
    related = ("SUBSET-2", "SUBSET-3")
    report = "pyg-team/pytorch_geometric#10674"

    def indices(self) -> list[int]:
        return list(range(len(super().indices())))


class TakesNoneForAll(KnownBadOfSubsets):
    """A subset of no samples is taken for none being asked for, and the whole dataset is read. (No public report.)"""

    clause, smallest = "SUBSET-1", "n1,w1,b1,keep,subset,with=none"

    def indices(self) -> list[int]:
        """The samples that are asked for."""
        return list(self.request.indices or range(len(self.request.dataset)))


class ReadsAhead(KnownBadOfSubsets):
    """The sample behind each one is read as well, whether it is in the subset or not. (No public report.)"""

    clause, smallest = "SUBSET-1", "n7,w1,b1,keep,subset"

    def fetch(self, step: list[int]) -> Any:
        for index in step:
            if self.request.indices is not None and index + 1 < len(self.request.dataset):
                self.request.dataset[index + 1]
        return super().fetch(step)


class KnowsASubsetByItsSize(KnownBadOfSubsets):
    """Shuffled subsets are kept by their size, seed and epoch, and two halves are taken for one. (No public report.)"""

    clause, smallest = "SUBSET-4", "n2,w1,b1,keep,subset,shuffle,with=half+beside"
    related = ("SUBSET-1", "SUBSET-2")
    kept: ClassVar[WeakKeyDictionary[Any, dict[Any, list[int]]]] = WeakKeyDictionary()

    def order(self) -> list[int]:
        kept = self.kept.setdefault(self.request.dataset, {})
        key = (len(self.indices()), self.request.seed, self.epoch)
        return kept.setdefault(key, super().order()) if self.request.shuffle else super().order()


class LooksAtAListOnce(KnownBadOfSubsets):
    """What a list of indices says is kept with the class, and the list is never looked at again. (No public report.)"""

    clause, smallest = "SUBSET-1", "n2,w1,b1,keep,subset,with=reused"
    related = ("SUBSET-2",)
    kept: ClassVar[list[tuple[list[int], list[int]]]] = []

    def indices(self) -> list[int]:
        asked = self.request.indices
        if asked is None:
            return super().indices()
        found = next((said for known, said in self.kept if known is asked), None)
        if found is None:
            self.kept.append((asked, found := list(asked)))
        return found


class TakesTheIndexForItsPlace(KnownBadOfSubsets):
    """Indices that are no place in the subset are left out. (No public report.)"""

    clause, smallest = "SUBSET-2", "n2,w1,b1,keep,subset"

    def indices(self) -> list[int]:
        indices = super().indices()
        return [index for index in indices if index < len(indices) or self.request.indices is None]


class SortsTheSubset(KnownBadOfSubsets):
    """The indices are kept as a set, and come in the order of the dataset. (No public report.)"""

    clause, smallest = "SUBSET-3", "n3,w1,b1,keep,subset,with=backwards"

    def indices(self) -> list[int]:
        return sorted(super().indices())


class SharesItsOrder(KnownBadOfSubsets):
    """The shuffled indices are kept with the class, so that loaders of one dataset share an order."""

    clause, smallest = "SUBSET-4", "n2,w1,b1,keep,subset,shuffle,with=whole"
    report = "FluxML/Flux.jl#1227"
    kept: ClassVar[WeakKeyDictionary[Any, dict[Any, list[int]]]] = WeakKeyDictionary()

    def order(self) -> list[int]:
        kept = self.kept.setdefault(self.request.dataset, {})
        key = (tuple(self.indices()), self.epoch)
        return kept.setdefault(key, super().order()) if self.request.shuffle else super().order()


class CountsEpochsForAll(KnownBadOfSubsets):
    """All loaders of a process count their epochs together. (No public report.)"""

    clause, smallest = "SUBSET-4", "n7,w1,b1,keep,subset,shuffle,with=beside"
    claims: ClassVar[dict[str, Any]] = {**OF_SUBSETS, "epochs": "automatic"}
    begun: ClassVar[WeakKeyDictionary[Any, int]] = WeakKeyDictionary()
    set_epoch = None  # type: ignore[assignment]

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.begun.get(self.request.dataset, 0))

    def __iter__(self) -> Any:
        steps = self.steps()
        self.begun[self.request.dataset] = self.begun.get(self.request.dataset, 0) + 1
        return (self.fetch(step) for step in steps)


class ShufflesInPlace(KnownBadOfSubsets):
    """The caller's own list is shuffled, which is then in another order for everybody. (No public report.)"""

    clause, smallest = "SUBSET-5", "n3,w1,b1,keep,subset,shuffle,with=backwards"

    def order(self) -> list[int]:
        order = super().order()
        if self.request.shuffle and self.request.indices is not None:
            self.request.indices.sort()
        return order


class MarksTheDataset(KnownBadOfSubsets):
    """The epoch is written down in the dataset. (No public report.)"""

    clause, smallest = "SUBSET-5", "n1,w1,b1,keep,subset"

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.request.dataset.epoch = epoch


class CountsTheParent(KnownBadOfSubsets):
    """The length is that of the whole dataset. (No public report.)"""

    clause, smallest = "SUBSET-6", "n1,w1,b1,keep,subset"

    def __len__(self) -> int:
        return len(self.cut(self.shard(list(range(len(self.request.dataset))))))


class TakesARunForARange(KnownBadOfSubsets):
    """A list whose ends are as far apart as it is long is read as the range between them. (No public report.)"""

    clause, smallest = "SUBSET-3", "n6,w1,b1,keep,subset,with=swapped"

    def indices(self) -> list[int]:
        indices = super().indices()
        is_a_range = bool(indices) and indices[-1] - indices[0] + 1 == len(indices)
        return list(range(indices[0], indices[-1] + 1)) if is_a_range else indices
