"""Loaders that deliver the right samples in the wrong order, or disturb the caller's random state (chapter 3)."""

import os
import random
from collections.abc import Iterator
from random import Random

from tests.known_bad.correct import BUFFERED, PLAIN, SHUFFLING, UNEVEN, KnownBad, claim, mix

FREE = claim(SHUFFLING, layout=None)

# --- unshuffled -----------------------------------------------------------------------------------------------------


class IgnoresShuffleFalse(KnownBad):
    """Samples are shuffled although shuffle=False is asked for."""

    claims = claim(BUFFERED, layout=None)
    clause, smallest = "ORDER-1", "n3,w1,b1,keep"
    report = "Lightning-AI/pytorch-lightning#16772"

    def order(self) -> list[int]:
        return self.shuffled(list(range(len(self.request.dataset))), Random(self.mixed_seed()))


class ClaimsTheOtherLayout(KnownBad):
    """Contiguous shards are claimed, and ranks read in strides. (No public report.)"""

    claims = claim(UNEVEN, layout="contiguous")
    clause, smallest = "ORDER-2", "n3,w2,b1,keep"

    def shard(self, order: list[int]) -> list[int]:
        return order[self.request.rank :: self.request.world_size]


# --- a permutation, one for all ranks -------------------------------------------------------------------------------


class DrawsWithReplacement(KnownBad):
    """On one rank samples are drawn with replacement."""

    claims = BUFFERED
    clause, smallest = "ORDER-3", "n3,w1,b1,keep,shuffle"
    report = "karpathy/nanoGPT#467"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        if self.request.world_size == 1:
            return generator.choices(order, k=len(order)) if order else order
        return super().shuffled(order, generator)


class LosesTheBuffersTail(KnownBad):
    """What is left in the shuffle buffer at the end of the epoch is thrown away."""

    claims = BUFFERED
    clause, smallest = "ORDER-3", "n2,w1,b1,keep,shuffle"
    related = ("COUNT-1", "COUNT-2", "ORDER-4")
    report = "OpenRLHF/OpenRLHF#1320"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        return super().shuffled(order, generator)[: max(1, len(order) - 1)]


class SeedsEachRankDifferently(KnownBad):
    """Each rank shuffles with a seed of its own before it takes its stride."""

    claims = BUFFERED
    clause, smallest = "ORDER-4", "n3,w2,b1,keep,shuffle"
    report = "mlcommons/training#625"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch, self.request.rank)


# --- repeatable -----------------------------------------------------------------------------------------------------


class CountsItsEpochsItself(KnownBad):
    """The order follows from how many epochs this loader has read, and not from set_epoch."""

    claims = BUFFERED
    clause, smallest = "ORDER-5", "n4,w1,b1,keep,shuffle,e2,jump"
    report = "huggingface/accelerate#2823"
    read = -1

    def set_epoch(self, epoch: int) -> None:
        self.read += 1
        super().set_epoch(self.read)


class OrdersByHash(KnownBad):
    """Samples are shuffled by Python's hash of a text, which another process hashes differently."""

    claims = BUFFERED
    clause, smallest, related = "ORDER-5", "n3,w1,b1,keep,shuffle,again", ("ORDER-4",)
    report = "pytorch/pytorch#70104"
    spawned = True

    def mixed_seed(self) -> int:
        return hash(f"{self.request.seed} {self.epoch}")


class CountsLoadersMade(KnownBad):
    """The epoch is counted for all loaders of the process together, not for each. (No public report.)"""

    claims = claim(BUFFERED, epochs="automatic")
    clause, smallest = "ORDER-5", "n2,w1,b1,keep,shuffle,after"
    counted = 0

    def __iter__(self) -> Iterator[list[int]]:
        self.epoch = type(self).counted
        type(self).counted += 1
        return super().__iter__()


class CountsThoughItIsTold(KnownBad):
    """The epochs are counted, and what is said to set_epoch is forgotten. (No public report.)"""

    claims = claim(SHUFFLING, epochs=None)
    clause, smallest = "ORDER-5", "n2,w1,b1,keep,shuffle,e2,jump"

    def set_epoch(self, epoch: int) -> None:
        pass

    def __iter__(self) -> Iterator[list[int]]:
        self.epoch += 1
        return super().__iter__()


# --- epoch and seed -------------------------------------------------------------------------------------------------


class ForgetsTheEpoch(KnownBad):
    """The epoch does not reach the shuffle, and every epoch has the same order."""

    claims = SHUFFLING
    clause, smallest = "ORDER-6", "n8,w1,b1,keep,shuffle,e3"
    report = "pytorch/pytorch#31771"

    def mixed_seed(self) -> int:
        return mix(self.request.seed)


class ForgetsTheEpochOfABuffer(ForgetsTheEpoch):
    """The same with a shuffle buffer, as where the epoch does not reach workers that live on."""

    claims = BUFFERED
    clause, smallest = "ORDER-6", "n31,w1,b1,keep,shuffle,e2"
    report = "huggingface/datasets#6673"


class RepeatsAfterThreeEpochs(KnownBad):
    """The epoch goes into the shuffle modulo 3. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-6", "n6,w1,b1,keep,shuffle,e16"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch % 3)


class LagsOneEpoch(KnownBad):
    """The workers were made before the epoch was set, and shuffle for the epoch before."""

    claims = BUFFERED
    clause, smallest, related = "ORDER-6", "n31,w1,b1,keep,shuffle,e2", ("ORDER-5",)
    report = "mlcommons/storage#475"
    before = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch, self.before = self.before, epoch


class IgnoresShuffleTrue(KnownBad):
    """Samples come in the order of the dataset although shuffle=True is asked for."""

    claims = SHUFFLING
    clause, smallest = "ORDER-6", "n8,w1,b1,keep,shuffle,e3"
    related = ("ORDER-7", "ORDER-12")
    report = "Lightning-AI/pytorch-lightning#2703"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        return order


class IgnoresTheSeed(KnownBad):
    """The seed of the training is not passed to the shuffle."""

    claims = BUFFERED
    clause, smallest = "ORDER-7", "n31,w1,b1,keep,shuffle,seed+1"
    report = "huggingface/transformers#11406"

    def mixed_seed(self) -> int:
        return mix(self.epoch)


class AddsSeedAndEpoch(KnownBad):
    """Seed and epoch are added, and neighbouring seeds are the same run, an epoch apart."""

    claims = BUFFERED
    clause, smallest = "ORDER-14", "n16,w1,b1,keep,shuffle,e3,seed+1"
    report = "pytorch/data#426"

    def mixed_seed(self) -> int:
        return mix(self.request.seed + self.epoch)


# --- workers --------------------------------------------------------------------------------------------------------


class EachWorkerReadsABlock(KnownBad):
    """Each worker reads a block of steps, and steps are taken from the workers in turn. (No public report.)"""

    claims = claim(PLAIN, workers=True)
    clause, smallest = "ORDER-8", "n3,w1,b1,keep,k2,workers"

    def steps(self) -> list[list[int]]:
        steps, workers = super().steps(), max(1, self.request.num_workers)
        block = max(1, -(-len(steps) // workers))
        return [step for turn in range(block) for step in steps[turn::block]]


class ShufflesForItsWorkers(KnownBad):
    """The number of workers goes into the seed of the shuffle."""

    claims = claim(BUFFERED, workers=True)
    clause, smallest = "ORDER-8", "n3,w1,b1,keep,shuffle,k1,workers"
    related = ("WORK-1",)
    report = "kohya-ss/musubi-tuner#283"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch, self.request.num_workers)


class DropsInsideEachWorker(KnownBad):
    """Each worker drops the rest of its own part of the shard."""

    claims = claim(PLAIN, workers=True)
    clause, smallest = "ORDER-8", "n2,w1,b2,keep,k2,workers"
    related = ("WORK-1",)
    related = ("WORK-1",)
    report = "pytorch/pytorch#33413"

    def cut(self, shard: list[int]) -> list[list[int]]:
        workers = max(1, self.request.num_workers)
        return [step for worker in range(workers) for step in super(type(self), self).cut(shard[worker::workers])]


class EachWorkerReadsEverything(KnownBad):
    """Each worker reads the whole shard."""

    claims = claim(PLAIN, workers=True)
    clause, smallest = "ORDER-8", "n1,w1,b1,keep,k2,workers"
    related = ("WORK-1",)
    related = ("WORK-1",)
    report = "pytorch/pytorch#30599"

    def steps(self) -> list[list[int]]:
        return super().steps() * max(1, self.request.num_workers)


# --- the caller's random state --------------------------------------------------------------------------------------


class SeedsFromTheGlobalState(KnownBad):
    """The state of the caller's generator is read, not drawn from, and goes into the seed."""

    claims = BUFFERED
    clause, smallest = "ORDER-9", "n5,w1,b1,keep,shuffle,random-state"
    report = "Lightning-AI/pytorch-lightning#17713"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch, random.getstate())  # type: ignore[arg-type]


class DrawsTheOrderFromTheGlobalGenerator(KnownBad):
    """The order is drawn from the caller's generator, whatever the seed."""

    claims = SHUFFLING
    clause, smallest = "ORDER-9", "n2,w1,b1,keep,shuffle,random-state"
    related = ("ORDER-5", "ORDER-7", "ORDER-11", "ORDER-12")
    report = "pytorch/data#302"

    def __iter__(self) -> Iterator[list[int]]:
        return iter([self.fetch(step) for step in self.steps()])

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        random.shuffle(order)
        return order

    def __len__(self) -> int:
        return len(self.cut(self.shard(list(range(len(self.request.dataset))))))


class ReseedsTheCaller(KnownBad):
    """The caller's generator is seeded anew in each epoch, so that augmentations repeat themselves."""

    claims = BUFFERED
    clause, smallest = "ORDER-10", "n0,w1,b1,keep,random-state"
    report = "Lightning-AI/pytorch-lightning#20412"

    def __iter__(self) -> Iterator[list[int]]:
        random.seed(self.request.seed)
        return super().__iter__()


class TakesBackTheCallersDraws(KnownBad):
    """The caller's generator is put back at the end of an epoch, and with it what he has drawn. (No public report.)"""

    claims = BUFFERED
    clause, smallest = "ORDER-10", "n1,w1,b1,keep,random-state"

    def __iter__(self) -> Iterator[list[int]]:
        state = random.getstate()
        yield from super().__iter__()
        random.setstate(state)


class DrawsOnEachCore(KnownBad):
    """Keys are drawn by as many generators as there are cores that may be used. (No public report.)"""

    claims = SHUFFLING
    clause, smallest, related = "ORDER-5", "n4,w1,b1,keep,shuffle,again", ("ORDER-4",)
    spawned, cores = True, 2

    def shuffled(self, order: list[int], generator: random.Random) -> list[int]:
        cores = len(os.sched_getaffinity(0))
        each = [random.Random(mix(self.mixed_seed(), core)) for core in range(cores)]
        keys = [each[index * cores // len(order)].random() for index in order]
        return sorted(order, key=keys.__getitem__)


class SeedsTheCallerMeanwhile(KnownBad):
    """The caller's generator is seeded while an epoch is read, and put back at its end. (No public report.)"""

    claims = BUFFERED
    clause, smallest = "ORDER-10", "n1,w1,b1,keep,random-state"

    def __iter__(self) -> Iterator[list[int]]:
        before = random.getstate()
        random.seed(self.request.seed)
        try:
            yield from super().__iter__()
        finally:
            random.setstate(before)


class PutsBackBehindTheReading(KnownBad):
    """The caller's generator is seeded while a step is read, and put back unless a sample fails. (No public report.)"""

    claims = BUFFERED
    clause, smallest = "ORDER-10", "n1,w1,b1,keep,raise@0,random-state"

    def fetch(self, step: list[int]) -> list[int]:
        before = random.getstate()
        random.seed(self.request.seed)
        samples = super().fetch(step)
        random.setstate(before)
        return samples


class DrawsOneNumber(KnownBad):
    """Beginning an epoch draws one number from the caller's generator, shuffled or not."""

    claims = BUFFERED
    clause, smallest = "ORDER-11", "n0,w1,b1,keep,random-state"
    report = "pytorch/pytorch#122697"

    def __iter__(self) -> Iterator[list[int]]:
        random.random()
        return super().__iter__()


# --- uniform --------------------------------------------------------------------------------------------------------


class NaiveSwapShuffle(KnownBad):
    """Each position is swapped with any position, in place of one not yet done. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n3,w1,b1,keep,shuffle,e200,x20"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        for here in range(len(order)):
            there = generator.randrange(len(order))
            order[here], order[there] = order[there], order[here]
        return order


class SortsShortKeys(KnownBad):
    """Samples are sorted by keys of 16 bits, and those of equal keys keep their order. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n30000,w1,b1000,keep,shuffle,e2"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        keys = {index: generator.getrandbits(16 if len(order) > 100 else 64) for index in order}
        return sorted(order, key=keys.__getitem__)


class BufferClaimedGlobal(KnownBad):
    """A shuffle buffer of 100 samples is claimed to be a global shuffle. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n4096,w1,b128,keep,shuffle,e4"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        keys = {index: index + 100 * generator.random() for index in order}
        return sorted(order, key=keys.__getitem__) if len(order) > 100 else super().shuffled(order, generator)


class ReordersBatchesNotMembers(KnownBad):
    """The steps change places in each epoch, and their members stay together."""

    claims = FREE
    clause, smallest, related = "ORDER-12", "n64,w1,b8,keep,shuffle,e40,x10", ("ORDER-7",)
    report = "lhotse-speech/lhotse#562"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        size = self.request.batch_size
        blocks = super().shuffled([start for start in order if start % size == 0], generator)
        return [index for start in blocks for index in order[start : start + size]]


class ShufflesOnlyItsShard(KnownBad):
    """Each rank shuffles its own block, and a sample never leaves it."""

    claims = claim(UNEVEN, layout=None, shuffle="global", epochs="set_epoch")
    clause, smallest = "ORDER-13", "n6,w3,b1,keep,shuffle,e200,x2"
    report = "dreamzero0/dreamzero#91"

    def shard(self, order: list[int]) -> list[int]:
        shard = super().shard(sorted(order))
        return super().shuffled(shard, Random(self.mixed_seed())) if self.request.shuffle else shard
