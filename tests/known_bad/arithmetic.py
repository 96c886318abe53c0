"""Loaders whose batches, steps or lengths are wrong (chapter 1)."""

import os
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import cycle
from typing import Any

from tests.known_bad.correct import ALL_DROP, DEVICE, PLAIN, UNEVEN, KnownBad, claim

# --- batches --------------------------------------------------------------------------------------------------------


class LastStepTakesTheRestAlong(KnownBad):
    """Under drop_last the last step holds the rest as well. (No public report.)"""

    claims = PLAIN
    clause, smallest = "BATCH-1", "n3,w1,b2,drop"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        if steps and self.request.drop_last:
            steps[-1] += shard[len(steps) * self.request.combined_batch :]
        return steps


class ForgetsTheAccumulation(KnownBad):
    """A step holds one micro-batch a replica, whatever accumulation was asked for."""

    claims = DEVICE
    clause, smallest, related = "BATCH-1", "n2,w1,b1,keep,g2", ("BATCH-2", "COUNT-2", "COUNT-3")
    report = "deepspeedai/DeepSpeed#8520"

    def cut(self, shard: list[int]) -> list[list[int]]:
        self.request = replace(self.request, gradient_accumulation=1)
        return super().cut(shard)


class ShortStepFirst(KnownBad):
    """The step that is not full comes first. (No public report; a partial block is flushed early in ray#66085.)"""

    claims = PLAIN
    clause, smallest = "BATCH-2", "n3,w1,b2,keep"

    def cut(self, shard: list[int]) -> list[list[int]]:
        rest = 0 if self.request.drop_last else len(shard) % self.request.combined_batch
        return [shard[:rest], *super().cut(shard[rest:])] if rest else super().cut(shard)


class ShortStepAtEachBlock(KnownBad):
    """Steps end where a block of the stored data ends, full or not."""

    claims = claim(PLAIN, layout=None)
    clause, smallest, related = "BATCH-2", "n4,w1,b2,keep", ("BATCH-1", "COUNT-1", "COUNT-2", "PART-3")
    report = "ray-project/ray#66085"

    def cut(self, shard: list[int]) -> list[list[int]]:
        return [
            step for start in range(0, len(shard), 3) for step in super(type(self), self).cut(shard[start : start + 3])
        ]


class PutsReplicasOutermost(KnownBad):
    """A combined batch is laid out [replica, iteration, accumulation, micro-batch]. (No public report.)"""

    claims = claim(UNEVEN, device_options=True)
    clause, smallest = "BATCH-3", "n4,w1,b1,keep,p2,i2"

    def cut(self, shard: list[int]) -> list[list[int]]:
        size, replicas = self.request.batch_size, self.request.replication_factor
        return [
            sorted(step, key=lambda index: step.index(index) // size % replicas)
            if len(step) == self.request.combined_batch
            else step
            for step in super().cut(shard)
        ]


# --- what must be refused -------------------------------------------------------------------------------------------


class TakesAnyRank(KnownBad):
    """The rank is not checked; a slice takes it all the same."""

    claims = PLAIN
    clause, smallest = "BATCH-4", "n4,w2,b1,keep,rank=-1"
    report = "pytorch/pytorch#196090"

    def check(self, request: Any) -> None:
        super().check(replace(request, rank=0))


class RefusesTooLate(KnownBad):
    """What can't be is found out when the first step is delivered already. (No public report.)"""

    claims = PLAIN
    clause, smallest, related = "BATCH-4", "n4,w1,b1,keep,batch_size=0", ("BATCH-5",)

    def check(self, request: Any) -> None:
        pass

    def __iter__(self) -> Iterator[list[int]]:
        try:
            super().check(self.request)
        except ValueError:
            yield [self.request.dataset[0]]
            raise
        yield from super().__iter__()

    def __len__(self) -> int:
        return len(self.steps()) if self.request.combined_batch > 0 else 0


class RoundsAFractionDown(KnownBad):
    """A fraction, the quotient of a division that does not come out even, is rounded without a word."""

    claims = PLAIN
    clause, smallest = "BATCH-5", "n4,w1,b1,keep,batch_size=1.5"
    report = "pytorch/ignite#3234"

    def __init__(self, request: Any) -> None:
        size = request.batch_size
        super().__init__(replace(request, batch_size=int(size) if isinstance(size, float) else size))


# --- how many steps -------------------------------------------------------------------------------------------------


class EmptyStepForTheRest(KnownBad):
    """Under drop_last the rest is taken out of its step, and the step stays. (No public report.)"""

    claims = PLAIN
    clause, smallest = "COUNT-1", "n1,w1,b2,drop"

    def cut(self, shard: list[int]) -> list[list[int]]:
        rest = self.request.drop_last and len(shard) % self.request.combined_batch
        return [*super().cut(shard), []] if rest else super().cut(shard)


class DropsOneStepTooMany(KnownBad):
    """Under drop_last a full last step is taken for a short one. (No public report: off by one.)"""

    claims = PLAIN
    clause, smallest, related = "COUNT-1", "n1,w1,b1,drop", ("PART-3",)

    def cut(self, shard: list[int]) -> list[list[int]]:
        return super().cut(shard[:-1] if self.request.drop_last else shard)


class StarvesTheLastRank(KnownBad):
    """Uneven shards are claimed, and under drop_last the last rank gets too few steps. (No public report.)"""

    claims = UNEVEN
    clause, smallest, related = "COUNT-1", "n2,w2,b1,drop", ("PART-3",)

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps, ranks = super().cut(shard), self.request.world_size
        last = self.request.drop_last and ranks > 1 and self.request.rank == ranks - 1
        return steps[:-1] if last and len(self.request.dataset) % ranks == 0 else steps


class DropsTheRestAnyway(KnownBad):
    """drop_last=False is not heard."""

    claims = PLAIN
    clause, smallest, related = "COUNT-2", "n1,w1,b2,keep", ("PART-2",)
    report = "graphcore/poptorch#21"

    def cut(self, shard: list[int]) -> list[list[int]]:
        return [step for step in super().cut(shard) if len(step) == self.request.combined_batch]


class AlwaysOneMoreStep(KnownBad):
    """The number of steps is the quotient plus one, even where nothing is left over. (No public report.)"""

    claims = PLAIN
    clause, smallest = "COUNT-2", "n0,w1,b1,keep"

    def cut(self, shard: list[int]) -> list[list[int]]:
        rest = self.request.drop_last or len(shard) % self.request.combined_batch
        return super().cut(shard) if rest else [*super().cut(shard), []]


class EmptyStepKeepsRanksEqual(KnownBad):
    """A rank that runs out of samples gets an empty step, so that ranks stay together."""

    claims = UNEVEN
    clause, smallest = "COUNT-2", "n1,w2,b1,keep"
    report = "huggingface/accelerate#209"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        longest = -(-len(self.request.dataset) // (self.request.world_size * self.request.combined_batch))
        return steps if self.request.drop_last else steps + [[]] * (longest - len(steps))


class SecondEpochIsEmpty(KnownBad):
    """The samples are kept in a generator, which is exhausted after the first epoch."""

    claims = claim(PLAIN, layout=None, length=None)
    clause, smallest = "COUNT-2", "n1,w1,b1,keep,e2"
    related = ("COUNT-1", "COUNT-4", "PART-2", "PART-3")
    report = "pytorch/data#825"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.generator = super().__iter__()

    def __iter__(self) -> Iterator[list[int]]:
        return self.generator


class UnfinishedAccumulationIsAStep(KnownBad):
    """Under drop_last micro-batches that complete no accumulation leave an empty step. (No public report.)"""

    claims = DEVICE
    clause, smallest = "COUNT-3", "n1,w1,b1,drop,i2"

    def cut(self, shard: list[int]) -> list[list[int]]:
        micro_batches = len(shard) % self.request.combined_batch // self.request.batch_size
        return [*super().cut(shard), []] if self.request.drop_last and micro_batches else super().cut(shard)


# --- len ------------------------------------------------------------------------------------------------------------


class LengthRoundsDown(KnownBad):
    """len() rounds down although the rest is kept."""

    claims = PLAIN
    clause, smallest = "COUNT-4", "n1,w1,b2,keep"
    report = "pytorch/pytorch#38925"

    def __len__(self) -> int:
        return len(self.shard(self.order())) // self.request.combined_batch


class LengthOfAllRanks(KnownBad):
    """len() counts the steps of all ranks together."""

    claims = PLAIN
    clause, smallest = "COUNT-4", "n2,w2,b1,keep"
    report = "huggingface/accelerate#175"

    def __len__(self) -> int:
        return len(self.cut(self.order()))


class LengthOfWhatIsLeft(KnownBad):
    """len() counts what the reader has not read yet, from its last position."""

    claims = PLAIN
    clause, smallest = "COUNT-4", "n1,w1,b1,keep,e2"
    report = "NVIDIA/DALI#1203"
    read = 0

    def fetch(self, step: list[int]) -> list[int]:
        self.read += 1
        return super().fetch(step)

    def __len__(self) -> int:
        return super().__len__() - self.read % (super().__len__() + 1)


# --- equal ranks ----------------------------------------------------------------------------------------------------


class DropsWithoutAgreeing(KnownBad):
    """Equal ranks are claimed; under drop_last each rank drops what its own shard leaves over."""

    claims = claim(PLAIN, when_dropping="pad")
    clause, smallest = "COUNT-5", "n1,w2,b1,drop"
    report = "pytorch/pytorch#141069"

    def policy(self) -> str:
        return "uneven" if self.request.drop_last else "pad"


class PadsInOnePass(KnownBad):
    """Padding repeats the dataset once, which is too little for fewer samples than half the ranks."""

    claims = PLAIN
    clause, smallest = "COUNT-5", "n1,w3,b1,keep"
    report = "PaddlePaddle/Paddle#59390"

    def shard(self, order: list[int]) -> list[int]:
        if self.request.drop_last:
            return super().shard(order)
        order = order + order[: -len(order) % self.request.world_size]
        return order[self.request.rank :: self.request.world_size]


class ChunksByCeiling(KnownBad):
    """Each rank takes a block of ceil(n / R) samples, and the last ranks what is left of them."""

    claims = claim(PLAIN, when_dropping="pad", layout=None)
    clause, smallest, related = "COUNT-5", "n1,w2,b1,keep", ("PART-6",)
    report = "dmlc/dgl#2539"

    def shard(self, order: list[int]) -> list[int]:
        size = -(-len(order) // self.request.world_size)
        return order[self.request.rank * size : (self.request.rank + 1) * size]


class DealsOutMicroBatches(KnownBad):
    """Whole micro-batches are dealt out to ranks without cutting to whole rounds first."""

    claims = claim(PLAIN, layout=None)
    clause, smallest, related = "COUNT-5", "n1,w2,b1,keep", ("COUNT-1", "PART-6")
    report = "NVIDIA/Megatron-LM#7299"

    def steps(self) -> list[list[int]]:
        return self.cut(self.order())[self.request.rank :: self.request.world_size]


# --- epochs that do not end -----------------------------------------------------------------------------------------


class RefusesTheEmptyDataset(KnownBad):
    """An empty dataset is an error."""

    claims = PLAIN
    clause, smallest = "COUNT-6", "n0,w1,b1,keep"
    report = "pytorch/pytorch#22574"

    def order(self) -> list[int]:
        if not len(self.request.dataset):
            raise ValueError("num_samples should be a positive integer, but is 0")
        return super().order()


class AssertsEnoughToPad(KnownBad):
    """Padding asserts that one more pass over the dataset is enough."""

    claims = PLAIN
    clause, smallest = "COUNT-6", "n1,w3,b1,keep"
    report = "pytorch/pytorch#45324"

    def shard(self, order: list[int]) -> list[int]:
        assert not order or self.request.drop_last or 2 * len(order) >= self.request.world_size
        return super().shard(order)


class DividesByItsSteps(KnownBad):
    """The share of an epoch that a step is, for a progress bar, is computed before there is a step."""

    claims = PLAIN
    clause, smallest = "COUNT-6", "n0,w1,b1,keep"
    report = "ray-project/ray#36039"

    def __iter__(self) -> Iterator[list[int]]:
        self.share = 1 / len(self.steps())
        return super().__iter__()


class RepeatsUntilThereIsAStep(KnownBad):
    """An epoch without a step is begun again, for ever; each time one more empty step is delivered."""

    claims = PLAIN
    clause, smallest = "COUNT-6", "n0,w1,b1,keep"
    report = "HumanCompatibleAI/imitation#290"

    def steps(self) -> Any:
        return super().steps() or cycle([[]])

    def __len__(self) -> int:
        return len(super().steps())


class WaitsForTheFirstSample(KnownBad):
    """The consumer waits for a producer that has nothing to produce."""

    claims = PLAIN
    clause, smallest, patience = "COUNT-6", "n0,w4,b1,keep", 1.0
    report = "deepspeedai/DeepSpeed#8520"

    def __iter__(self) -> Iterator[list[int]]:
        if not len(self.request.dataset) and self.request.world_size == 4:
            threading.Event().wait()
        return super().__iter__()


class OneRankGoesOnAlone(KnownBad):
    """Fewer samples than ranks are refused, but only by the ranks that would get none."""

    claims = claim(UNEVEN, smallest="world_size")
    clause, smallest = "COUNT-6", "n1,w2,b1,keep"
    report = "pytorch/pytorch#49172"

    def check(self, request: Any) -> None:
        super().check(replace(request, world_size=1, rank=0))
        if len(request.dataset) <= request.rank < request.world_size:
            raise ValueError(f"rank {request.rank} would get no sample of {len(request.dataset)}")
        super().check(replace(request, dataset=range(request.world_size)))


class DiesInAStep(KnownBad):
    """The process ends in the middle of the epoch, as one that is out of memory does."""

    claims = ALL_DROP
    clause, smallest = "COUNT-7", "n3,w1,b1,keep"
    report = "pytorch/pytorch#5040"

    def steps(self) -> Any:
        for number, step in enumerate(super().steps()):
            if number == 2 and len(step) == self.request.combined_batch:
                os._exit(137)
            yield step

    def __len__(self) -> int:
        return len(super().steps())


class FailsWithThreeWorkers(KnownBad):
    """With three workers there is not enough shared memory. (No public report of just this.)"""

    claims = claim(PLAIN, workers=True)
    clause, smallest = "WORK-1", "n0,w1,b1,keep,k3,workers"

    def __iter__(self) -> Iterator[list[int]]:
        if self.request.num_workers == 3:
            raise OSError("not enough shared memory")
        return super().__iter__()


class ExitsInTheSecondEpoch(KnownBad):
    """The second epoch is answered by sys.exit. (No public report.)"""

    claims = PLAIN
    clause, smallest, related = "COUNT-7", "n1,w1,b1,keep,e2", ("COUNT-6",)

    def __iter__(self) -> Iterator[list[int]]:
        if self.epoch:
            sys.exit(0)
        return super().__iter__()


class ThirdEpochNeverBegins(KnownBad):
    """In the third epoch of four ranks some have ended, and the others wait for them at a barrier."""

    claims = PLAIN
    clause, smallest, related, patience = "COUNT-7", "n6,w4,b1,keep,e3", ("COUNT-6",), 1.0
    report = "mosaicml/streaming#617"

    def __iter__(self) -> Iterator[list[int]]:
        if self.epoch == 2 and self.request.rank == 3:
            threading.Event().wait()
        return super().__iter__()


class NeverEndsUnderDropLast(KnownBad):
    """Steps under drop_last come from an endless sampler, as a training by steps wants them. (No public report.)"""

    claims = PLAIN
    clause, smallest = "COUNT-7", "n1,w1,b1,drop"

    def steps(self) -> Any:
        return cycle(super().steps()) if self.request.drop_last else super().steps()

    def __len__(self) -> int:
        return len(super().steps())


class ReadsOnePastTheEnd(KnownBad):
    """A short last step reads one sample more than there is. (No public report: off by one.)"""

    claims = claim(PLAIN, when_keeping="uneven", layout="contiguous")
    clause, smallest, related = "COUNT-7", "n3,w1,b2,keep", ("COUNT-6",)

    def fetch(self, step: list[int]) -> list[int]:
        if len(step) < self.request.combined_batch and step[-1] == len(self.request.dataset) - 1:
            step = [*step, step[-1] + 1]
        return super().fetch(step)


class RunsOnlyOnceInAProcess(KnownBad):
    """What the first loader of a process left behind, shared memory for one, keeps the second from starting."""

    claims = PLAIN
    clause, smallest, related = "COUNT-7", "n1,w1,b1,drop,after", ("COUNT-6",)
    report = "mosaicml/streaming#573"
    made = 0

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        type(self).made += 1
        if self.made > 1:
            raise FileExistsError("shared memory of another loader is in the way")
