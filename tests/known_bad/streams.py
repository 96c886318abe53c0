"""Loaders of shuffled streams, and of streams that shuffle themselves (chapter 11, STREAM), with one fault each."""

import copy
from collections.abc import Iterator
from itertools import chain, islice, zip_longest
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad, claim, mix

STREAMING = dict(
    datasets=("iterable",),
    iterable_workers="split",
    stream_shuffle="buffered",
    epochs="set_epoch",
    hooks=("persistent_workers", "set_epoch"),
)


class Streaming(Correct):
    """A loader of streams whose workers are no processes: they take turns, each with a copy of the dataset."""

    claims: ClassVar[dict[str, Any]] = STREAMING
    families: ClassVar[tuple[str, ...]] = ("streams", "left")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.living: list[Any] = []

    def check(self, request: Any) -> None:
        """A stream has no length."""

    def workers(self) -> list[Any]:
        """The copies of the dataset that the workers have, new ones or those that live on."""
        number = max(1, self.request.num_workers)
        if not (self.living and self.request.persistent_workers):
            self.living = [copy.copy(self.request.dataset) for _ in range(number)]
        self.tell()
        return self.living

    def tell(self) -> None:
        """Let every worker know which epoch comes."""
        for dataset in self.living:
            if hasattr(dataset, "set_epoch"):
                dataset.set_epoch(self.epoch)

    def reader(self, worker: int) -> tuple[int, int]:
        """The number of a worker among those of all ranks, and how many there are."""
        workers = max(1, self.request.num_workers)
        return self.request.rank * workers + worker, self.request.world_size * workers

    def generator(self, *more: int) -> Random:
        """Random numbers of this epoch."""
        return Random(mix(self.request.seed, self.epoch, *more))

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        """What one worker delivers: each so many-th element, through a buffer."""
        first, readers = self.reader(worker)
        mine = islice(dataset, first, None, readers)
        return self.buffered(mine, self.generator(first)) if self.request.shuffle else mine

    def buffered(self, elements: Iterator[Any], generator: Random) -> Iterator[Any]:
        """Each element drawn from a buffer of the next few."""
        buffer = list(islice(elements, 4))
        for element in elements:
            place = generator.randrange(len(buffer))
            yield buffer[place]
            buffer[place] = element
        generator.shuffle(buffer)
        yield from buffer

    def cut_elements(self, elements: Iterator[Any]) -> Iterator[list[Any]]:
        """One worker's elements in steps."""
        while step := list(islice(elements, self.request.batch_size)):
            if len(step) == self.request.batch_size or not self.request.drop_last:
                yield step

    def __iter__(self) -> Iterator[Any]:
        streams = [self.cut_elements(self.elements(each, at)) for at, each in enumerate(self.workers())]
        for round_of_steps in zip_longest(*streams):
            yield from (step for step in round_of_steps if step is not None)

    __len__ = None  # type: ignore[assignment]


class ByShards(Streaming):
    """The order of the shards is shuffled, alike everywhere, and each reader takes every so many-th of them."""

    claims: ClassVar[dict[str, Any]] = claim(STREAMING, stream_shuffle="shards", hooks=("persistent_workers",))

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        """What one worker delivers: whole shards."""
        first, readers = self.reader(worker)
        return chain.from_iterable(self.shards(dataset)[first::readers])

    def shards(self, dataset: Any) -> list[Any]:
        """The shards in the order of the epoch."""
        shards = list(getattr(dataset, "shards", [dataset]))
        if self.request.shuffle:
            self.generator().shuffle(shards)
        return shards


# --- correct, in ways that are easy to mistake for faults -------------------------------------------------------------


class KeepsItsShards(ByShards):
    """A reader has the same shards in every epoch, in another order; a few readers may have none."""

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        """The shards that are this reader's for good."""
        first, readers = self.reader(worker)
        mine = list(getattr(dataset, "shards", [dataset])[first::readers])
        self.generator(first).shuffle(mine)
        return chain.from_iterable(mine)


class TakesElementsOfAllShards(ByShards):
    """Every reader goes through all shards, in one order, and takes every so many-th element."""

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        """Elements of all shards, in their order."""
        first, readers = self.reader(worker)
        return islice(chain.from_iterable(self.shards(dataset)), first, None, readers)


class RepeatsOnEachWorker(Streaming):
    """Each worker of each rank delivers everything, in an order of its own."""

    claims: ClassVar[dict[str, Any]] = claim(STREAMING, iterable_workers="replicated")

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        """All elements, through a buffer."""
        return self.buffered(iter(dataset), self.generator(worker)) if self.request.shuffle else iter(dataset)


class CountsItsEpochs(Streaming):
    """It has no set_epoch, counts its epochs itself, and tells the dataset."""

    claims: ClassVar[dict[str, Any]] = claim(STREAMING, epochs="automatic")
    set_epoch = None  # type: ignore[assignment]
    begun = -1

    def __iter__(self) -> Iterator[Any]:
        self.begun += 1
        self.epoch = self.begun
        return super().__iter__()


CORRECT_STREAMING: tuple[type[Correct], ...] = (
    Streaming,
    ByShards,
    KeepsItsShards,
    TakesElementsOfAllShards,
    RepeatsOnEachWorker,
    CountsItsEpochs,
)


# --- known bad --------------------------------------------------------------------------------------------------------


class KnownBadStreaming(Streaming, KnownBad):
    """What the bad ones share."""

    families = ("streams",)


class BuffersByHash(KnownBadStreaming):
    """The buffer draws by the hash of a text, which each process salts. (No public report.)"""

    clause, smallest = "STREAM-1", "n3,w1,b1,keep,stream,shuffle,again"
    spawned = True

    def generator(self, *more: int) -> Random:
        return super().generator(*more, hash("buffer"))


class GoesOnDrawing(KnownBadStreaming):
    """One generator draws for all epochs, so that an epoch hangs on those before it. (No public report.)"""

    clause, smallest = "STREAM-1", "n2,w1,b1,keep,stream,shuffle,e2,jump"
    drawing: Random | None = None

    def generator(self, *more: int) -> Random:
        if self.drawing is None:
            self.drawing = Random(mix(self.request.seed, self.request.rank))
        return self.drawing


class ShufflesAlikeInEachEpoch(KnownBadStreaming):
    """The buffer draws by the seed alone."""

    clause, smallest = "STREAM-2", "n35,w1,b1,keep,stream,shuffle,e2"
    report = "webdataset/webdataset#172"

    def generator(self, *more: int) -> Random:
        return Random(mix(self.request.seed, *more))


class PersistentWorkersDrawAgain(KnownBadStreaming):
    """Workers that live on draw as in their first epoch."""

    clause, smallest = "STREAM-2", "n70,w1,b1,keep,stream,shuffle,k2,persistent,e2"
    related = ("STREAM-1",)
    report = "ByteDance-Seed/VeOmni#940"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.first: int | None = None

    def generator(self, *more: int) -> Random:
        self.first = self.epoch if self.first is None else self.first
        lives = self.request.persistent_workers and self.request.num_workers > 0
        return Random(mix(self.request.seed, self.first if lives else self.epoch, *more))


class ShufflesAlikeForEachSeed(KnownBadStreaming):
    """The buffer draws by the epoch alone. (No public report.)"""

    clause, smallest = "STREAM-3", "n35,w1,b1,keep,stream,shuffle,seed+1"

    def generator(self, *more: int) -> Random:
        return Random(mix(self.epoch, *more))


class RanksOrderShardsByThemselves(ByShards, KnownBad):
    """Each rank puts the shards in an order of its own before they are dealt out."""

    families = ("streams",)

    clause, smallest = "STREAM-4", "n1,w2,b1,keep,stream,shuffle,g3"
    report = "huggingface/datasets#5696"

    def generator(self, *more: int) -> Random:
        return super().generator(self.request.rank, *more)


class LosesTheBuffer(KnownBadStreaming):
    """What is still in the buffer at the end of the stream does not come. (No public report.)"""

    clause, smallest = "STREAM-4", "n1,w1,b1,keep,stream,shuffle"

    def buffered(self, elements: Iterator[Any], generator: Random) -> Iterator[Any]:
        buffer: list[Any] = []
        for element in elements:
            buffer.append(element)
            if len(buffer) == 4:
                yield buffer.pop(generator.randrange(4))


class LeavesOutWorkersWithoutShards(ByShards, KnownBad):
    """With fewer shards than readers, none is dealt out. (No public report.)"""

    families = ("streams",)

    clause, smallest = "STREAM-4", "n1,w2,b1,keep,stream,shuffle"

    def elements(self, dataset: Any, worker: int) -> Iterator[Any]:
        few = self.request.shuffle and len(self.shards(dataset)) < self.reader(worker)[1]
        return iter(()) if few else super().elements(dataset, worker)


class TellsNobody(KnownBadStreaming):
    """The dataset is never told of an epoch, though that is promised. (No public report.)"""

    clause, smallest = "STREAM-5", "n1,w1,b1,keep,stream,e2,with=own"

    def tell(self) -> None:
        pass


class TakesTheFirstForNone(KnownBadStreaming):
    """`if epoch:` comes before the dataset is told, which never hears of epoch 0 again. (No public report.)"""

    clause, smallest = "STREAM-5", "n1,w1,b1,keep,stream,e2,with=own+back"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.told = 0

    def tell(self) -> None:
        if self.epoch or not self.told:
            super().tell()
        self.told += 1


class PersistentWorkersDoNotHear(KnownBadStreaming):
    """Workers that live on have a copy of the dataset, and the epoch is told to the loader's own."""

    clause, smallest = "STREAM-5", "n1,w1,b1,keep,stream,k1,persistent,e2,with=own"
    report = "huggingface/datasets#6673"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.told = 0

    def tell(self) -> None:
        self.told += 1
        if self.told == 1 or not (self.request.persistent_workers and self.request.num_workers):
            super().tell()


class ShufflesWithinShards(ByShards, KnownBad):
    """The elements of a shard are shuffled as well. (No public report.)"""

    families = ("streams",)

    clause, smallest = "STREAM-6", "n3,w1,b1,keep,stream,shuffle,g2"

    def shards(self, dataset: Any) -> list[Any]:
        shards = [list(shard) for shard in super().shards(dataset)]
        for at, shard in enumerate(shards):
            self.generator(at).shuffle(shard)
        return shards if self.request.shuffle else super().shards(dataset)
