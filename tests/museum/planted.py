"""Faults planted in torch's own DistributedSampler, as small changes of the real class at run time.

Each is a fault of the museum in the sampler that most training scripts use, each with the clause that names it and its
smallest case. `python -m tests.museum.planted` judges all of them whole.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import torch
from torch.utils.data.distributed import DistributedSampler

from conformance.peers import torch_map
from tests.museum.judged import judged, violated


class Planted(DistributedSampler[Any]):
    """torch's sampler with one fault."""

    clause = ""
    smallest = ""

    def permuted_with(self, seed: int) -> Iterator[int]:
        """The epoch of torch's own sampler with another seed."""
        before, self.seed = self.seed, seed
        try:
            return DistributedSampler.__iter__(self)
        finally:
            self.seed = before


class IgnoresTheEpoch(Planted):
    """`set_epoch` does nothing."""

    clause, smallest = "ORDER-6", "n8,w1,b1,keep,shuffle,e3"

    def set_epoch(self, epoch: int) -> None:
        """Leave the epoch at 0."""


class IgnoresTheSeed(Planted):
    """The permutation is that of the epoch alone."""

    clause, smallest = "ORDER-7", "n8,w1,b1,keep,shuffle,e2,seed+1"

    def __iter__(self) -> Iterator[int]:
        return self.permuted_with(0)


class SeedsEachRank(Planted):
    """Each rank permutes with a seed of its own, and takes its share of that."""

    clause, smallest = "ORDER-4", "n2,w2,b1,keep,shuffle"

    def __iter__(self) -> Iterator[int]:
        return self.permuted_with(self.seed + self.rank)


class ShufflesItsShard(Planted):
    """The dataset is dealt out first, and each rank permutes what it has."""

    clause, smallest = "ORDER-13", "n6,w3,b1,keep,shuffle,e200,x2"

    def __iter__(self) -> Iterator[int]:
        shuffles, self.shuffle = self.shuffle, False
        mine = list(super().__iter__())
        self.shuffle = shuffles
        order = torch.randperm(len(mine), generator=torch.Generator().manual_seed(self.seed + self.epoch))
        return iter([mine[at] for at in order] if shuffles else mine)


class DropsTheTail(Planted):
    """Without drop_last the tail is dropped as with it."""

    clause, smallest = "PART-2", "n1,w2,b1,keep"

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.num_samples = len(self.dataset) // self.num_replicas  # type: ignore[arg-type]
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[int]:
        keeps, self.drop_last = self.drop_last, True
        try:
            return super().__iter__()
        finally:
            self.drop_last = keeps


PLANTED = (IgnoresTheEpoch, IgnoresTheSeed, SeedsEachRank, ShufflesItsShard, DropsTheTail)


class Adapter:
    """`--impl=torch` for map-style datasets, with whatever sampler stands in its module."""

    claims: ClassVar[dict[str, Any]] = {
        **torch_map.claims,
        **dict(datasets="map", iterable_workers=None, workers=None, hooks=None),
    }
    families = ("map", "refusals", "statistics")

    @staticmethod
    def load(request: Any) -> Any:
        """One rank's loader."""
        return torch_map.load(request)


@contextmanager
def planted(sampler: type[DistributedSampler[Any]]) -> Iterator[None]:
    """Let the adapter of torch use this sampler."""
    before = torch_map.DistributedSampler
    torch_map.DistributedSampler = sampler  # type: ignore[misc]
    try:
        yield
    finally:
        torch_map.DistributedSampler = before  # type: ignore[misc]


if __name__ == "__main__":
    for each in (DistributedSampler, *PLANTED):
        with planted(each):
            print(each.__name__, violated(judged(Adapter, tier="gate")), flush=True)
