"""Loaders that draw with replacement where a shuffle is asked for: correct ones, and what goes wrong (chapter 11)."""

import random
from bisect import bisect_right
from itertools import accumulate
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad, claim, mix

DRAWING = dict(sampling="replacement", hooks="weights", when_keeping="uneven", epochs="set_epoch", length=True)
DRAWS = ("draws",)


class Drawing(Correct):
    """Where a shuffle is asked for, all ranks draw one list by weight, and each takes its share."""

    claims: ClassVar[dict[str, Any]] = claim(DRAWING, when_dropping="drop")
    families: ClassVar[tuple[str, ...]] = ("map", "draws")

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """As many samples as there are, each drawn by itself."""
        return generator.choices(order, self.weights(order), k=len(order)) if order else order

    def weights(self, order: list[int]) -> list[float] | None:
        """The weights of the samples."""
        return [self.request.weights[index] for index in order] if self.request.weights else None


class DrawsItsOwn(Drawing):
    """Each rank draws as many as its share by itself, from the whole dataset, by a seed of its own."""

    def shard(self, order: list[int]) -> list[int]:
        """This rank's part of the order, in its place another draw from all."""
        shard = super().shard(order)
        if not self.request.shuffle or not shard:
            return shard
        everything = list(range(len(self.request.dataset)))
        return Random(self.own_seed()).choices(everything, self.weights(everything), k=len(shard))

    def own_seed(self) -> int:
        """A number for seed, epoch and rank."""
        return mix(self.request.seed, self.epoch, self.request.rank)


class DrawsFromItsShard(Drawing):
    """Without weights each rank draws from its own shard, so that no two ranks ever share a sample."""

    claims: ClassVar[dict[str, Any]] = claim(DRAWING, hooks=None, when_dropping="drop")

    def order(self) -> list[int]:
        """The samples in the order of the dataset."""
        return list(range(len(self.request.dataset)))

    def shard(self, order: list[int]) -> list[int]:
        """This rank's part, drawn from."""
        shard = super().shard(order)
        generator = Random(mix(self.request.seed, self.epoch, self.request.rank))
        return generator.choices(shard, k=len(shard)) if self.request.shuffle and shard else shard


class DrawsByARuler(Drawing):
    """Chances are laid end to end on a line, and a place on it is drawn by a bisection."""

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """As many places as there are samples."""
        marks = list(accumulate(self.weights(order) or [1.0] * len(order)))
        return [order[bisect_right(marks, generator.random() * marks[-1])] for _ in order]


class BadDrawing(Drawing, KnownBad):
    """A loader that draws, with one fault."""

    families = DRAWS


class DrawsTwiceAsMany(BadDrawing):
    """A list is drawn for each rank, and all of them are one that is shared out."""

    clause, smallest = "DRAW-1", "n2,w2,b1,keep,shuffle"
    report = "Lightning-AI/pytorch-lightning#3716"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        return super().shuffled(order * self.request.world_size, generator)


class DrawsFullStepsOnly(BadDrawing):
    """As many are drawn as whole steps hold, though the rest is to be kept. (No public report.)"""

    clause, smallest = "DRAW-1", "n1,w1,b2,keep,shuffle"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        return [step for step in steps if len(step) == self.request.combined_batch or not self.request.shuffle]


class CountsWeightsThatAreNot(BadDrawing):
    """len() counts the weights, and there are none where all samples are drawn alike. (No public report.)"""

    clause, smallest = "DRAW-1", "n1,w1,b1,keep,shuffle"

    def __len__(self) -> int:
        weights: Any = self.request.weights
        return super().__len__() if len(weights) else 0


class RoundsWeightsUp(BadDrawing):
    """A small number is added to each weight, lest a sum be zero. (No public report.)"""

    clause, smallest = "DRAW-2", "n5,w1,b1,keep,shuffle,weighted"

    def weights(self, order: list[int]) -> list[float] | None:
        weights = super().weights(order)
        return [each + 0.2 for each in weights] if weights else None


class ForgetsItsWeights(BadDrawing):
    """Weights are read as yes or no. (No public report.)"""

    clause, smallest = "DRAW-3", "n3,w1,b1,keep,shuffle,e8,x20,weighted"

    def weights(self, order: list[int]) -> list[float] | None:
        weights = super().weights(order)
        return [float(each > 0) for each in weights] if weights else None


class WeighsItsShardAlone(BadDrawing):
    """Each rank draws from its own shard by weight, so that a sample's chance hangs on its neighbours."""

    clause, smallest = "DRAW-3", "n4,w4,b1,keep,shuffle,e8,x20,weighted"
    report = "Project-MONAI/MONAI#1742"

    def order(self) -> list[int]:
        return list(range(len(self.request.dataset)))

    def shard(self, order: list[int]) -> list[int]:
        shard = super().shard(order)
        if not self.request.shuffle or not shard:
            return shard
        generator, weights = Random(mix(self.request.seed, self.epoch, self.request.rank)), self.weights(shard)
        # Of a shard without any weight nothing can be drawn.
        source = shard if weights is None or any(weights) else order
        return generator.choices(source, self.weights(source), k=len(shard))


class ShufflesThoughItDraws(BadDrawing):
    """Without weights the samples are shuffled, so that none comes again. (No public report.)"""

    claims = claim(Drawing.claims, hooks=None)
    clause, smallest = "DRAW-3", "n2,w1,b1,keep,shuffle,e30,x2"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        generator.shuffle(order)
        return order


class DrawsInBlocks(BadDrawing):
    """Draws are made in blocks of 256, each by a generator of the same seed. (No public report.)"""

    clause, smallest = "DRAW-3", "n1419,w1,b1,keep,shuffle"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        """As many samples as there are, in blocks."""
        block = super().shuffled(order, generator)[:256]
        return (block * (len(order) // 256 + 1))[: len(order)] if block else order


class DrawsAlikeOnEachRank(BadDrawing):
    """Each rank draws by the same seed."""

    clause, smallest = "DRAW-4", "n5,w3,b1,keep,shuffle,e3,x2"
    report = "EPFL-VILAB/omnidata-paper-code-dump#5"

    def shard(self, order: list[int]) -> list[int]:
        return order[: len(super().shard(order))] if self.request.shuffle else super().shard(order)


class DrawsAlikeInEachEpoch(BadDrawing):
    """The epoch does not go into the seed."""

    clause, smallest = "DRAW-4", "n6,w1,b1,keep,shuffle,e3,x2"
    report = "Lightning-AI/pytorch-lightning#21454"

    def mixed_seed(self) -> int:
        return mix(self.request.seed)


class DrawsFromTheCallersGenerator(BadDrawing):
    """What is drawn follows from the caller's global generator, seeded or not."""

    clause, smallest = "DRAW-5", "n2,w1,b1,keep,shuffle,random-state"
    report = "huggingface/transformers#15961"

    def mixed_seed(self) -> int:
        return mix(super().mixed_seed(), random.getstate()[1][:4])


class DrawsNoneTwiceInAStep(BadDrawing):
    """No sample comes twice in a step of all ranks, so that heavy ones come too seldom. (No public report.)"""

    clause, smallest = "DRAW-3", "n4,w1,b2,keep,shuffle,e11,x20,weighted"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        size = self.request.combined_batch * self.request.world_size
        return [index for start in range(0, len(order), size) for index in self.unlike(order, start, size, generator)]

    def unlike(self, order: list[int], start: int, size: int, generator: Random) -> list[int]:
        """Those of one step."""
        weights, due = self.weights(order), min(size, len(order) - start)
        if due >= (sum(map(bool, weights)) if weights else len(order)):
            return generator.choices(order, weights, k=due)
        found: dict[int, None] = {}
        while len(found) < due:
            found[generator.choices(order, weights)[0]] = None
        return [*found]


class FillsUpInSilence(KnownBad):
    """Ranks are made equal by samples that come again, and no policy says so."""

    claims: ClassVar[dict[str, Any]] = dict(layout="strided")
    clause, smallest = "DRAW-6", "n1,w2,b1,keep"
    report = "pytorch/pytorch#25162"

    def policy(self) -> str:
        return "drop" if self.request.drop_last else "pad"


class DrawsInSilence(KnownBad):
    """A shuffled epoch is drawn with replacement, and nothing is claimed of that."""

    claims: ClassVar[dict[str, Any]] = dict(shuffle="global", epochs="set_epoch")
    clause, smallest = "DRAW-6", "n3,w1,b1,keep,shuffle"
    report = "fchollet/deep-learning-with-python-notebooks#68"

    def policy(self) -> str:
        return "uneven"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        return generator.choices(order, k=len(order)) if order else order


CORRECT_DRAWING: tuple[type[Correct], ...] = (Drawing,)
UNUSUAL_DRAWING: tuple[type[Correct], ...] = (DrawsItsOwn, DrawsFromItsShard, DrawsByARuler)
