"""Ranks that must have equal steps: correct loaders that drop or repeat for it, and what goes wrong (chapter 11)."""

from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from random import Random
from typing import Any, ClassVar

import torch

from tests.known_bad.correct import Correct, KnownBad, claim
from tests.known_bad.pool import Pool

ROUNDS = dict(datasets=("map", "iterable"), iterable_workers="split", workers=True, equal_steps=True)
FILES = dict(datasets=("map", "iterable"), iterable_workers="split", equal_steps=True, drops="per-shard")
EQUAL = ("equal",)


class InRounds(Pool):
    """Whole rounds of steps are dealt out, one to each rank, and what fills no round is dropped."""

    claims: ClassVar[dict[str, Any]] = ROUNDS
    families: ClassVar[tuple[str, ...]] = ("equal", "iterable")

    def steps(self) -> list[list[int]]:
        """The steps of this rank, of a map-style dataset."""
        if self.request.world_size == 1:
            return super().steps()
        return list(self.blocks(range(len(self.request.dataset))))

    def read_ahead(self, plan: list[list[int]], worker: int) -> Iterator[list[Any]]:
        """The samples of each of a worker's steps; of a stream, every so many rounds."""
        if not self.streams or self.request.world_size == 1:
            return super().read_ahead(plan, worker)
        rounds = self.blocks(map(self.own, self.request.dataset))
        return islice(rounds, worker, None, self.workers)

    def blocks(self, samples: Iterable[Any]) -> Iterator[list[Any]]:
        """This rank's step of each round."""
        rank, size = self.request.rank, self.request.combined_batch
        source = iter(samples)
        while block := self.whole(list(islice(source, size * self.request.world_size))):
            yield block[rank * size : (rank + 1) * size]

    def whole(self, block: list[Any]) -> list[Any]:
        """The samples of a round, or nothing where they are too few."""
        return block if len(block) == self.request.combined_batch * self.request.world_size else []


class FillsTheLastRound(InRounds):
    """A stream's last round is filled with its own samples again, so that all ranks have one."""

    claims: ClassVar[dict[str, Any]] = claim(ROUNDS, when_keeping="pad", when_dropping="drop")

    def steps(self) -> list[list[int]]:
        """The steps of a shard, by the policies."""
        return Pool.steps(self)

    def whole(self, block: list[Any]) -> list[Any]:
        """The samples of a round, again and again until there are enough."""
        if self.request.drop_last:
            return super().whole(block)
        return list(islice(cycle(block), self.request.combined_batch * self.request.world_size)) if block else []


class WholeFiles(Correct):
    """Files are dealt out whole, each loses its tail, and every rank is cut to the fewest steps of all."""

    claims: ClassVar[dict[str, Any]] = FILES
    families: ClassVar[tuple[str, ...]] = ("equal", "iterable", "map")

    @property
    def streams(self) -> bool:
        """Whether the dataset is iterable-style."""
        dataset = self.request.dataset
        return not hasattr(dataset, "__getitem__") or isinstance(dataset, torch.utils.data.IterableDataset)

    def __iter__(self) -> Iterator[Any]:
        if not self.streams:
            return super().__iter__()
        elements = list(map(self.own, self.request.dataset))
        return iter([[elements[index] for index in step] for step in self.equal(len(elements))])

    def steps(self) -> list[list[int]]:
        """The steps of this rank, of a map-style dataset."""
        return self.equal(len(self.request.dataset))

    def equal(self, samples: int) -> list[list[int]]:
        """The steps of this rank, as many as all have."""
        fewest = min(len(self.of_rank(rank, samples)) for rank in range(self.request.world_size))
        return self.of_rank(self.request.rank, samples)[:fewest]

    def of_rank(self, rank: int, samples: int) -> list[list[int]]:
        """The steps of a rank's files."""
        files = self.dealt(self.files(samples), rank)
        if self.request.drop_last:
            return [step for file in files for step in self.cut(file)]
        return self.cut([index for file in files for index in file])

    def dealt(self, files: list[list[int]], rank: int) -> list[list[int]]:
        """The files of a rank."""
        return files[rank :: self.request.world_size]

    def files(self, samples: int) -> list[list[int]]:
        """The samples of each file; as they come where nothing is said of files."""
        source = iter(range(samples))
        sizes = self.request.shards or (self.request.combined_batch,) * (samples // self.request.combined_batch + 1)
        return [list(islice(source, size)) for size in sizes]


class WholeFilesInBlocks(WholeFiles):
    """Files that follow each other go to one rank, as many to each as there can be."""

    def dealt(self, files: list[list[int]], rank: int) -> list[list[int]]:
        """The files of a rank."""
        size, rest = divmod(len(files), self.request.world_size)
        start = rank * size + min(rank, rest)
        return files[start : start + size + (rank < rest)]


class DealsWholeFilesOnly(WholeFiles, KnownBad):
    """Files are dealt out whole, and a rank with longer ones has more steps."""

    families, clause, smallest = EQUAL, "EQUAL-1", "n1,w2,b1,keep"
    report = "huggingface/datasets#6437"

    def equal(self, samples: int) -> list[list[int]]:
        return self.of_rank(self.request.rank, samples)


class CountsStepsOnce(WholeFiles, KnownBad):
    """Files are shuffled, and how many steps all ranks have is counted for the first epoch. (No public report.)"""

    claims, families = claim(FILES, shuffle="buffered", datasets=("map",), iterable_workers=None), EQUAL
    clause, smallest = "EQUAL-1", "n2,w2,b1,keep,shuffle,e2,sharded@4"
    fewest: int | None = None

    def equal(self, samples: int) -> list[list[int]]:
        if self.fewest is None:
            self.fewest = len(super().equal(samples))
        return self.of_rank(self.request.rank, samples)[: self.fewest]

    def files(self, samples: int) -> list[list[int]]:
        files = super().files(samples)
        return self.shuffled(files, Random(self.mixed_seed())) if self.request.shuffle else files


class SharesOutElements(KnownBad, Pool):
    """The elements of a stream go to the ranks in turn, and nobody sees to it that all have as many."""

    claims, families = claim(ROUNDS, datasets=("iterable",)), EQUAL
    clause, smallest = "EQUAL-1", "n1,w2,b1,keep,iterable"
    report = "webdataset/webdataset#225"


class DropsTwoRounds(InRounds, KnownBad):
    """The last round is dropped, whole or not, and the one before it too. (No public report.)"""

    claims, families = claim(ROUNDS, datasets=("iterable",)), EQUAL
    clause, smallest = "EQUAL-2", "n2,w2,b1,keep,iterable"

    def blocks(self, samples: Iterable[Any]) -> Iterator[list[Any]]:
        return iter(list(super().blocks(samples))[:-2])


class FillsTwoRounds(FillsTheLastRound, KnownBad):
    """After the last round comes another one, of samples that have come. (No public report.)"""

    claims, families = claim(FillsTheLastRound.claims, datasets=("iterable",), when_dropping=None), EQUAL
    clause, smallest = "EQUAL-2", "n2,w2,b1,keep,iterable"

    def blocks(self, samples: Iterable[Any]) -> Iterator[list[Any]]:
        rounds = list(super().blocks(samples))
        return iter(rounds if self.request.drop_last else [*rounds, *rounds[:2]])


class ReadsOneFileARank(WholeFiles, KnownBad):
    """Of a rank's files only the first is read. (No public report.)"""

    families, clause, smallest = EQUAL, "EQUAL-2", "n3,w2,b1,keep,sharded@4"

    def dealt(self, files: list[list[int]], rank: int) -> list[list[int]]:
        return super().dealt(files, rank)[:1]


CORRECT_EQUAL: tuple[type[Correct], ...] = (InRounds, WholeFiles)
UNUSUAL_EQUAL: tuple[type[Correct], ...] = (FillsTheLastRound, WholeFilesInBlocks)
