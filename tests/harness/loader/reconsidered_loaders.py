"""Correct loaders that a clause accused once by its wording: each with the clauses that did, and that let it be now."""

import random
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.harness.plain_loader import PlainLoader


class CollectsNowAndThen(PlainLoader):
    """Throw away what is done with when much has come together, as a runtime with a garbage collector does."""

    clauses = ("LEAK-5",)
    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven")
    garbage: ClassVar[list[bytes]] = []

    def __iter__(self) -> Iterator[list[Any]]:
        for step in super().__iter__():
            self.garbage.extend(bytes(sample) for sample in step if hasattr(sample, "nbytes"))
            if sum(map(len, self.garbage)) > 44 * 2**20:
                self.garbage.clear()
            yield step


class PadsBesideItself(PlainLoader):
    """Divide into runs, the first ones longer, and let each shorter one repeat the last sample of its own."""

    clauses = ("ORDER-2", "PART-1", "PART-4", "PART-6", "COUNT-5")
    claims: ClassVar = dict(when_dropping="drop", when_keeping="pad", layout="contiguous", length=True)

    def shard(self) -> list[int]:
        samples, ranks, rank = len(self.request.dataset), self.request.world_size, self.request.rank
        size, more = divmod(samples, ranks)
        if self.request.drop_last or samples < ranks:
            around = list(range(samples)) * (ranks // max(samples, 1) + 1)
            return list(range(rank * size, (rank + 1) * size)) if self.request.drop_last else around[rank:][:1]
        start = rank * size + min(rank, more)
        mine = list(range(start, start + size + (rank < more)))
        return [*mine, mine[-1]] if more and rank >= more else mine


class NeedsAStep(PlainLoader):
    """Refuse what is less than a step of every rank, and say so."""

    clauses = ("COUNT-6", "COUNT-7", "WORK-12", "ERROR-1", "RESUME-12", "LEAK-1")
    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven", smallest="step", length=True)

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        least = request.batch_size * request.world_size
        if len(request.dataset) < least:
            raise ValueError(f"{len(request.dataset)} samples are less than {least}, one step of all ranks")


class DealsOutBatches(PlainLoader):
    """Deal out whole batches to ranks in turn: each sample once, and ranks differ by a batch."""

    clauses = ("PART-1", "PART-2", "PART-3", "COUNT-1", "COUNT-2", "ORDER-3", "ORDER-4", "PART-8")
    claims: ClassVar = dict(when_dropping="once", when_keeping="once", shuffle="global", length=True)

    def order(self) -> list[int]:
        """The order of the epoch."""
        order = list(range(len(self.request.dataset)))
        if self.request.shuffle:
            random.Random(f"{self.request.seed} {self.epoch}").shuffle(order)
        return order

    def shard(self) -> list[int]:
        request, order, size = self.request, self.order(), self.request.batch_size
        if request.drop_last:
            order = order[: len(order) // (size * request.world_size) * size * request.world_size]
        batches = [order[at : at + size] for at in range(0, len(order), size)]
        return [index for batch in batches[request.rank :: request.world_size] for index in batch]


class LooksAtOne(PlainLoader):
    """Read one sample before the first epoch's first step, to learn what samples are like."""

    clauses = ("WORK-2",)
    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven", workers=True)
    kind: Any = None

    def __iter__(self) -> Iterator[list[Any]]:
        if self.kind is None and self.shard():
            self.kind = type(self.request.dataset[self.shard()[0]])
        yield from super().__iter__()


class TakesByTime(DealsOutBatches):
    """Let ranks take batches from one queue, and one be so quick that it gets them all: another time another one."""

    claims: ClassVar = dict(
        when_dropping="once", when_keeping="once", assignment="dynamic", shuffle="global", ranks="process_group"
    )
    made: ClassVar = 0

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        type(self).made += 1
        # In the place of the time: which loader of its process this is, on rank 0.
        self.quickest, self.passes = self.made % 3 % 2, 0

    def shard(self) -> list[int]:
        import torch.distributed as distributed

        store = distributed.distributed_c10d._get_default_store()  # type: ignore[attr-defined]  # there is no other
        request = self.request
        # Other samples have a queue of their own.
        name = f"{request.seed} {request.dataset!r} {self.passes}"
        if request.rank == 0:
            store.set(name, str(self.quickest % request.world_size))
        mine = int(store.get(name)) == request.rank
        order = self.order()[: len(request.dataset) // request.batch_size * request.batch_size or None]
        return (order if request.drop_last else self.order()) if mine else []

    def __iter__(self) -> Iterator[list[Any]]:
        self.passes += 1
        yield from super().__iter__()


RECONSIDERED: tuple[Any, ...] = (
    CollectsNowAndThen,
    PadsBesideItself,
    NeedsAStep,
    DealsOutBatches,
    LooksAtOne,
)
