"""Loaders whose ranks get the wrong samples (chapter 2)."""

from random import Random

from tests.known_bad.correct import ALL_DROP, PLAIN, SHUFFLING, UNEVEN, KnownBad, claim

# --- exclusive ------------------------------------------------------------------------------------------------------


class PadsWithoutSayingSo(KnownBad):
    """Every sample exactly once is claimed, and samples are repeated to make ranks equal."""

    claims = claim(UNEVEN, when_dropping="drop")
    clause, smallest = "PART-1", "n1,w2,b1,keep"
    report = "pytorch/pytorch#25162"

    def policy(self) -> str:
        return "drop" if self.request.drop_last else "pad"


class IgnoresItsRank(KnownBad):
    """Each rank reads the whole dataset."""

    claims = claim(UNEVEN, layout=None)
    clause, smallest, related = "PART-1", "n1,w2,b1,keep", ("COUNT-1", "COUNT-2")
    report = "Lightning-AI/pytorch-lightning#15734"

    def shard(self, order: list[int]) -> list[int]:
        return order


class ReadsIntoTheNextShard(KnownBad):
    """A reader fills its last step with the first samples of the next shard."""

    claims = claim(UNEVEN, layout=None, when_dropping="drop")
    clause, smallest, related = "PART-1", "n2,w2,b2,keep", ("PART-6",)
    report = "NVIDIA/DALI#2881"

    def shard(self, order: list[int]) -> list[int]:
        rank, ranks, size = self.request.rank, self.request.world_size, self.request.combined_batch
        if self.request.drop_last:
            return super().shard(order)
        start, end = rank * len(order) // ranks, (rank + 1) * len(order) // ranks
        return order[start : start + -(-(end - start) // size) * size]


# --- exhaustive -----------------------------------------------------------------------------------------------------


class HandsOutOneOfTheRest(KnownBad):
    """Of the samples that are left over, only the first is handed out. (No public report.)"""

    claims = claim(UNEVEN, when_dropping="drop")
    clause, smallest = "PART-2", "n2,w3,b1,keep"

    def shard(self, order: list[int]) -> list[int]:
        rest = len(order) % self.request.world_size
        return super().shard(order[: len(order) - max(0, rest - 1)])


class ShardsTwice(KnownBad):
    """The shard of a rank is sharded once more by the same rank."""

    claims = claim(UNEVEN, layout=None)
    clause, smallest, related = "PART-2", "n2,w2,b1,keep", ("COUNT-1", "COUNT-2", "PART-3")
    report = "pytorch/data#1082"

    def shard(self, order: list[int]) -> list[int]:
        return super().shard(super().shard(order))


class LaterEpochsLoseTheHead(KnownBad):
    """From the second epoch on the first sample of each shard is skipped, as by an offset that is not cleared."""

    claims = PLAIN
    clause, smallest, related = "PART-2", "n1,w1,b1,keep,e2", ("COUNT-1", "COUNT-2", "ORDER-1", "ORDER-2", "PART-3")
    report = "Lightning-AI/litData#316"

    def shard(self, order: list[int]) -> list[int]:
        return super().shard(order)[min(self.epoch, 1) :]


class CutsBlocksByAFraction(KnownBad):
    """A block's bounds are its rank times n / R, rounded down, and the last one may lie below n. (No public report.)"""

    claims = claim(UNEVEN, layout="contiguous")
    clause, smallest = "PART-2", "n15,w11,b1,keep"

    def shard(self, order: list[int]) -> list[int]:
        rank, each = self.request.rank, len(order) / self.request.world_size
        return order[int(rank * each) : int((rank + 1) * each)]


class DropsTheOddSample(KnownBad):
    """Samples are read in pairs, and a short last step loses the one that has no partner. (No public report.)"""

    claims = PLAIN
    clause, smallest = "PART-2", "n3,w1,b3,keep"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        if steps and len(steps[-1]) > 1 and not self.request.drop_last:
            steps[-1] = steps[-1][: len(steps[-1]) // 2 * 2]
        return steps


class DropsTheOddSampleToo(DropsTheOddSample):
    """The same, where less than one sample a rank may be dropped. (No public report.)"""

    claims = ALL_DROP
    clause, smallest = "PART-3", "n3,w1,b3,keep"


# --- padding --------------------------------------------------------------------------------------------------------


class PadsTheLastStepToEven(KnownBad):
    """A short last step of an odd number of samples is made even by repeating one. (No public report.)"""

    claims = PLAIN
    clause, smallest = "PART-4", "n1,w1,b3,keep"

    def cut(self, shard: list[int]) -> list[list[int]]:
        return [
            step + step[:1] if len(step) % 2 == 1 and len(step) < self.request.combined_batch else step
            for step in super().cut(shard)
        ]


class ZeroFilledPadding(KnownBad):
    """Padding is made of zeros, and not of samples."""

    claims = PLAIN
    clause, smallest = "PART-5", "n1,w2,b1,keep"
    report = "dmlc/dgl#3893"

    def shard(self, order: list[int]) -> list[int]:
        missing = [] if self.request.drop_last or not order else [-1] * (-len(order) % self.request.world_size)
        return super().shard(order + missing)

    def fetch(self, step: list[int]) -> list[int]:
        return [0 if index < 0 else self.request.dataset[index] for index in step]


class NarrowIndices(KnownBad):
    """Indices are kept in a byte, and what lies beyond 255 is read as something else. (No public report.)"""

    claims = PLAIN
    clause, smallest, related = "PART-1", "n257,w1,b1,keep", ("ORDER-2", "PART-2", "PART-3", "PART-4")

    def fetch(self, step: list[int]) -> list[int]:
        return super().fetch([index % 256 for index in step])


# --- balance --------------------------------------------------------------------------------------------------------


class EqualisesStepsNotSamples(KnownBad):
    """Padding is added only where a rank would lack a whole step. (No public report.)"""

    claims = PLAIN
    clause, smallest = "PART-6", "n3,w2,b2,keep"

    def policy(self) -> str:
        if self.request.drop_last:
            return "drop"
        floor, size = len(self.request.dataset) // self.request.world_size, self.request.combined_batch
        return "pad" if floor % size == 0 else "uneven"


class LastRanksStarve(KnownBad):
    """Blocks of ceil(n / R) samples are claimed to be balanced, and leave the last ranks short."""

    claims = claim(UNEVEN, layout="contiguous")
    clause, smallest = "PART-6", "n4,w3,b1,keep"
    report = "argonne-lcf/dlio_benchmark#339"

    def shard(self, order: list[int]) -> list[int]:
        if self.request.drop_last:
            return super().shard(order)
        size = -(-len(order) // self.request.world_size)
        return order[self.request.rank * size : (self.request.rank + 1) * size]


# --- nothing but the request ----------------------------------------------------------------------------------------


class TakesTurnsByItsOwnCount(KnownBad):
    """Which samples are left over depends on how many epochs this loader has read. (No public report.)"""

    claims = claim(ALL_DROP, layout=None, epochs="set_epoch")
    clause, smallest = "PART-7", "n3,w2,b1,keep,e2,jump"
    read = -1

    def set_epoch(self, epoch: int) -> None:
        super().set_epoch(epoch)
        self.read += 1

    def order(self) -> list[int]:
        order = super().order()
        return order[self.read % (len(order) % self.request.world_size + 1) :]


class CutsBeforeItShuffles(KnownBad):
    """The rest is cut off before the shuffle, so that the last samples never get their turn."""

    claims = claim(SHUFFLING, when_keeping="pad")
    clause, smallest = "PART-8", "n3,w1,b2,drop,shuffle,e64"
    report = "modelscope/ms-swift#9859"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        rest = len(order) % (self.request.world_size * self.request.combined_batch) if self.request.drop_last else 0
        return super().shuffled(order[: len(order) - rest], generator)
