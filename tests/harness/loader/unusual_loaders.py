"""Correct loaders of unusual but allowed kinds: each with claims under which nothing may be said against it."""

import random
from collections.abc import Iterator
from typing import Any, ClassVar

from tests.harness.plain_loader import PlainLoader


class PadsFullSteps(PlainLoader):
    """Complete the last step of every rank, as accelerate does: batches go to ranks in turn, samples start again."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="pad", length=True)

    def __iter__(self) -> Iterator[list[int]]:
        request, size = self.request, self.request.batch_size
        samples, round_ = len(request.dataset), self.request.batch_size * self.request.world_size
        rounds = samples // round_ if request.drop_last else -(-samples // round_)
        for number in range(rounds):
            start = number * round_ + request.rank * size
            yield [request.dataset[index % samples] for index in range(start, start + size)]

    def __len__(self) -> int:
        round_ = self.request.batch_size * self.request.world_size
        samples = len(self.request.dataset)
        return samples // round_ if self.request.drop_last else -(-samples // round_)


class PadsRuns(PlainLoader):
    """Hold one run of samples a rank; the last ones start again from the beginning, several times if need be."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="pad", layout="contiguous", length=True)

    def shard(self) -> list[int]:
        samples, ranks = len(self.request.dataset), self.request.world_size
        size = samples // ranks if self.request.drop_last else -(-samples // ranks)
        start = self.request.rank * size
        return [index % samples for index in range(start, start + size)]


class UnevenRuns(PlainLoader):
    """Hold one run of samples a rank, the first ones a sample longer."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven", layout="contiguous", length=True)

    def shard(self) -> list[int]:
        samples, ranks, rank = len(self.request.dataset), self.request.world_size, self.request.rank
        size, more = divmod(samples, ranks)
        if self.request.drop_last:
            return list(range(rank * size, (rank + 1) * size))
        start = rank * size + min(rank, more)
        return list(range(start, start + size + (rank < more)))


class LosesTheOrder(PlainLoader):
    """Hand over steps as they are ready."""

    claims: ClassVar = dict(
        when_dropping="drop", when_keeping="uneven", layout="strided", shuffle="global", in_order=False
    )

    def __iter__(self) -> Iterator[list[int]]:
        steps = list(super().__iter__())
        full = [step for step in steps if len(step) == self.request.batch_size]
        # A process's own whim, and no global generator's.
        random.Random(id(self)).shuffle(full)
        return iter([*full, *steps[len(full) :]])


class Buffers(PlainLoader):
    """Shuffle within a small buffer, each rank its own shard."""

    claims: ClassVar = dict(
        when_dropping="drop", when_keeping="uneven", shuffle="buffered", epochs="set_epoch", length=True
    )

    def shard(self) -> list[int]:
        request = self.request
        samples, ranks = len(request.dataset), request.world_size
        shard = list(range(request.rank, samples // ranks * ranks if request.drop_last else samples, ranks))
        if not request.shuffle:
            return shard
        generator, buffer, out = random.Random(f"{request.seed} {self.epoch} {request.rank}"), [], []
        for index in shard:
            buffer.append(index)
            if len(buffer) == 4:
                out.append(buffer.pop(generator.randrange(4)))
        generator.shuffle(buffer)
        return out + buffer


class NeedsASampleEach(PlainLoader):
    """Refuse a dataset with fewer samples than ranks."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven", smallest="world_size", length=True)

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        if len(request.dataset) < request.world_size:
            raise ValueError(f"{len(request.dataset)} samples are too few for {request.world_size} ranks")


class DropsOnly(PlainLoader):
    """Drop what is left over in either case."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="drop", layout="strided")

    def shard(self) -> list[int]:
        samples, ranks = len(self.request.dataset), self.request.world_size
        return list(range(samples // ranks * ranks))[self.request.rank :: ranks]

    def __len__(self) -> int:
        whole, rest = divmod(len(self.shard()), self.request.batch_size)
        return whole + (rest > 0 and not self.request.drop_last)


class HasNoLength:
    """Promise as little as can be, and know no length."""

    claims: ClassVar[dict[str, Any]] = {}

    def __init__(self, request: Any) -> None:
        self.loader = PlainLoader(request)

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.loader)


class CountsItself(PlainLoader):
    """Go on to the next epoch by itself."""

    claims: ClassVar = dict(when_dropping="drop", when_keeping="uneven", shuffle="global", epochs="automatic")

    def __iter__(self) -> Iterator[list[int]]:
        steps = list(super().__iter__())
        self.epoch += 1
        return iter(steps)


UNUSUAL: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        PadsFullSteps,
        PadsRuns,
        UnevenRuns,
        LosesTheOrder,
        Buffers,
        NeedsASampleEach,
        DropsOnly,
        HasNoLength,
        CountsItself,
    )
}
