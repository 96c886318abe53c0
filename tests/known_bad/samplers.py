"""Loaders that are given a sampler, or a generator, and take from it what they like (chapter 4, WORK-19, WORK-20)."""

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from tests.known_bad.correct import mix
from tests.known_bad.life import LIFE
from tests.known_bad.pool import HOOKS, BadPool, Pool

SAMPLED = dict(workers=True, hooks=(*HOOKS, "sampler", "batch_sampler"))


class Sampled(Pool):
    """A loader that follows the user's sampler: correct."""

    claims: ClassVar[dict[str, Any]] = {**Pool.claims, **SAMPLED}

    def taken(self) -> list[int]:
        """The indices of the sampler's next pass."""
        return [*self.request.sampler]

    def batched(self) -> list[list[int]]:
        """The batches of the batch sampler's next pass."""
        return [[*batch] for batch in self.request.batch_sampler]

    def steps(self) -> list[list[int]]:
        """As the user says, where there is one who says it."""
        if self.request.batch_sampler is not None:
            return self.batched()
        return super().steps() if self.request.sampler is None else self.cut(self.taken())


class BadSampled(Sampled, BadPool):
    """Such a loader with one fault."""

    claims, families = SAMPLED, LIFE


class KeepsTheFirstPass(BadSampled):
    """The sampler is asked once, and each later epoch is the first one again. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,e2,hooked,with=sampler"

    def taken(self) -> list[int]:
        self.first = getattr(self, "first", None) or super().taken()
        return self.first


class LeavesOutRepeats(BadSampled):
    """What a sampler gives twice comes once: it is taken for a permutation. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,hooked,with=sampler"

    def taken(self) -> list[int]:
        return list(dict.fromkeys(super().taken()))


class CutsAPassToTheDataset(BadSampled):
    """Of a pass that is longer than the dataset, as many indices are taken as there are samples. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,hooked,with=sampler"

    def taken(self) -> list[int]:
        return super().taken()[: len(self.request.dataset)]


class SortsWhatItIsGiven(BadSampled):
    """Indices are sorted, since a disk likes that. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,hooked,with=sampler"

    def taken(self) -> list[int]:
        return sorted(super().taken())


class CutsTheBatchesAgain(BadSampled):
    """The lists of a batch sampler are joined, and cut by batch_size. (No public report.)"""

    clause, smallest = "WORK-19", "n2,w1,b1,keep,hooked,with=batches"

    def batched(self) -> list[list[int]]:
        return self.cut([index for batch in super().batched() for index in batch])


class DropsTheSmallBatch(BadSampled):
    """drop_last drops the batch sampler's small batches as well. (No public report.)"""

    clause, smallest = "WORK-19", "n1,w1,b2,keep,hooked,with=batches"

    def batched(self) -> list[list[int]]:
        return [batch for batch in super().batched() if len(batch) >= self.request.batch_size]


class SharesItsPass(BadSampled):
    """Two iterators go on in one pass, which is given up when either is left or fails. (No public report.)"""

    clause, smallest = "WORK-19", "n1,w1,b1,keep,e2,hooked,with=sampler+held"
    under_way: Iterator[list[int]] | None = None
    ends: tuple[type[BaseException], ...] = (BaseException,)  # what the pass is given up for

    def __iter__(self) -> Iterator[Any]:
        return self.going_on() if self.request.sampler is not None else super().__iter__()

    def going_on(self) -> Iterator[Any]:
        """The steps of the pass that is under way, or of a new one."""
        self.under_way = self.under_way or iter(self.steps())
        try:
            for step in self.under_way:
                yield self.collate(self.fetch(step))
        except self.ends:
            self.under_way = None
            raise
        self.under_way = None


class KeepsThePassOfABreak(SharesItsPass):
    """One iterator at a time, and after a break the next one goes on in the pass that was left. (No public report.)"""

    smallest, ends = "n1,w1,b1,keep,e2,hooked,with=sampler+left", (Exception,)
    busy = False

    def going_on(self) -> Iterator[Any]:
        if self.busy:
            raise RuntimeError("one iterator at a time")
        self.busy = True
        try:
            yield from super().going_on()
        finally:
            self.busy = False


class KeepsThePassOfAnError(KeepsThePassOfABreak):
    """The same, but the pass is given up after a break, and kept when an error ended it. (No public report.)"""

    smallest, ends = "n7,w1,b1,keep,e2,raise@6,hooked,with=sampler+failed", (GeneratorExit,)


GENERATED = dict(shuffle="global", epochs="set_epoch", hooks=("generator",))


class Generated(Pool):
    """A loader whose shuffle follows from a number that the user's generator gives: correct."""

    claims: ClassVar[dict[str, Any]] = {**Pool.claims, **GENERATED}

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.base = self.request.seed if self.request.generator is None else self.drawn()

    def drawn(self) -> int:
        """The number from which all orders follow."""
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.request.generator).item())

    def mixed_seed(self) -> int:
        """One number for that and the epoch."""
        return mix(self.base, self.epoch)


class BadGenerated(Generated, BadPool):
    """Such a loader with one fault."""

    claims, families = GENERATED, LIFE


class TakesTheSeedOfItsGenerator(BadGenerated):
    """The seed of the generator is asked for, and not its state, which draws have moved. (No public report.)"""

    clause, smallest = "WORK-20", "n17,w1,b1,keep,shuffle,hooked,with=generator"

    def drawn(self) -> int:
        return int(self.request.generator.initial_seed())


class AsksItsGeneratorOnce(BadGenerated):
    """The first epoch follows the generator, and each later one the global one. (No public report.)"""

    clause, smallest = "WORK-20", "n17,w1,b1,keep,shuffle,e2,hooked,with=generator"

    def mixed_seed(self) -> int:
        if self.epoch and self.request.generator is not None:
            self.base = int(torch.empty((), dtype=torch.int64).random_().item())
        return super().mixed_seed()


class DrawsFromBothGenerators(BadGenerated):
    """A number that nobody needs comes from the global generator in each epoch. (No public report.)"""

    clause, smallest = "WORK-20", "n17,w1,b1,keep,shuffle,hooked,with=generator"

    def mixed_seed(self) -> int:
        torch.rand(())
        return super().mixed_seed()
