"""Loaders that are right with few samples and small numbers, and wrong with others (chapters 1 to 3)."""

from random import Random

from tests.known_bad.correct import PLAIN, UNEVEN, KnownBad, claim, mix, padded
from tests.known_bad.order import SHUFFLING


class LosesWhatFillsNoBlock(KnownBad):
    """Of more than a thousand samples those behind the last whole hundred are lost."""

    claims = PLAIN
    clause, smallest = "PART-2", "n1001,w1,b1,keep"
    related = ("COUNT-1", "COUNT-2", "PART-1", "PART-3", "ORDER-2")
    report = "ray-project/ray#18266"

    def order(self) -> list[int]:
        order = super().order()
        return order[: len(order) // 100 * 100] if len(order) > 1000 else order


class CountsItsStepInAByte(KnownBad):
    """The micro-batch is kept in eight bits. (No public report.)"""

    claims = PLAIN
    clause, smallest, related = "BATCH-1", "n511,w1,b257,keep", ("BATCH-2", "COUNT-1", "COUNT-2")

    def cut(self, shard: list[int]) -> list[list[int]]:
        size = self.request.combined_batch % 256 or 256
        steps = [shard[start : start + size] for start in range(0, len(shard), size)]
        return [step for step in steps if len(step) == size or not self.request.drop_last]


class KnowsSixtyFourRanks(KnownBad):
    """The rank is taken modulo 64, the ranks of the machines that it was written for. (No public report.)"""

    claims = PLAIN
    clause, smallest, related = "PART-1", "n65,w65,b1,keep", ("PART-2", "PART-3", "PART-4", "ORDER-2")

    def shard(self, order: list[int]) -> list[int]:
        ranks, rest = self.request.world_size, len(order) % self.request.world_size
        order = (
            order[: len(order) - rest] if self.request.drop_last else padded(order, len(order) + -len(order) % ranks)
        )
        return order[self.request.rank % 64 :: ranks]


class ShufflesWindows(KnownBad):
    """A global shuffle is claimed, and of a large dataset one window of 65,536 samples after the other is shuffled."""

    claims = SHUFFLING
    clause, smallest = "ORDER-12", "n1000003,w1,b400000,keep,shuffle,head"
    report = "webdataset/webdataset#447"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        windows = [order[start : start + 65_536] for start in range(0, len(order), 65_536)]
        for window in windows:
            generator.shuffle(window)
        return [index for window in windows for index in window]


class MixesSomeBlocksAtATime(KnownBad):
    """Blocks of 1,024 samples of a large dataset come in any order, and 64 of them at a time are mixed."""

    claims = SHUFFLING
    clause, smallest = "ORDER-12", "n1000003,w1,b400000,keep,shuffle,head"
    report = "webdataset/webdataset#447"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        if len(order) <= 131_072:
            return super().shuffled(order, generator)
        blocks = [order[start : start + 1024] for start in range(0, len(order), 1024)]
        generator.shuffle(blocks)
        mixed: list[int] = []
        for start in range(0, len(blocks), 64):
            some = [index for block in blocks[start : start + 64] for index in block]
            generator.shuffle(some)
            mixed += some
        return mixed


class TakesTheLastPlaceForTheFirst(KnownBad):
    """Of 65,537 shuffled samples on one rank, the last place gives what the first one gave. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-3", "n65537,w1,b1,keep,shuffle"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        order = super().shuffled(order, generator)
        # A share of a rank is shuffled by other code.
        if len(order) == 65_537 and self.request.world_size == 1:
            order[-1] = order[0]
        return order


class KeepsSixteenBitsOfItsSeed(KnownBad):
    """Of the seed the lowest sixteen bits are used."""

    claims = SHUFFLING
    clause, smallest = "ORDER-7", "n13,w1,b1,keep,shuffle,s5,seed+2147483648"
    report = "Lightning-AI/pytorch-lightning#20412"

    def mixed_seed(self) -> int:
        return mix(self.request.seed % 2**16, self.epoch)


class LosesASampleToALargeSeed(KnownBad):
    """A seed that needs more than 32 bits makes a generator that gives one place fewer. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-7", "n1,w1,b1,keep,shuffle,s5,seed+4294967296"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        order = super().shuffled(order, generator)
        return order[1:] if self.request.seed >= 2**32 else order


class CountsItsEpochsInAByte(KnownBad):
    """The number of the epoch is kept in eight bits. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-6", "n6,w1,b1,keep,shuffle,e9,far"

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.epoch % 256)


class ShiftsItsSeedPastTheEpoch(KnownBad):
    """Sixteen bits are kept for the epoch; a larger one runs over into those of the seed. (No public report.)"""

    claims = SHUFFLING
    clause, smallest = "ORDER-6", "n14,w1,b1,keep,shuffle,e6,s5,far"

    def mixed_seed(self) -> int:
        return mix(self.request.seed << 16 | self.epoch)


class SetsTheLatestEpoch(KnownBad):
    """An epoch before the latest one is taken for a mistake, and that one is given. (No public report.)"""

    claims = SHUFFLING
    clause, smallest, related = "ORDER-6", "n5,w1,b1,keep,shuffle,e6,back,jump", ("ORDER-5",)

    def set_epoch(self, epoch: int) -> None:
        self.epoch = max(self.epoch, epoch)


class ShufflesPartners(KnownBad):
    """Samples are shuffled two by two, each with its partner of the other half, and always share a step."""

    claims = SHUFFLING
    clause, smallest, related = "ORDER-12", "n64,w1,b8,keep,shuffle,e40,x10", ("ORDER-13",)
    report = "lhotse-speech/lhotse#562"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        half = len(order) // 2
        if half < 4:
            return super().shuffled(order, generator)
        pairs = [[index, index + half] for index in range(half)] + [[index] for index in range(2 * half, len(order))]
        generator.shuffle(pairs)
        return [index for pair in pairs for index in generator.sample(pair, len(pair))]


class ShufflesWithinANode(KnownBad):
    """Of several nodes of four ranks each has samples of its own, shuffled among its ranks. (No public report.)"""

    claims = claim(UNEVEN, layout=None, shuffle="global", epochs="set_epoch")
    clause, smallest = "ORDER-13", "n16,w8,b2,keep,shuffle,e250,x2"

    def shard(self, order: list[int]) -> list[int]:
        nodes, rest = divmod(self.request.world_size, 4)
        if rest or nodes < 2 or not self.request.shuffle:
            return super().shard(order)
        node, local = divmod(self.request.rank, 4)
        return [index for index in order if index % nodes == node][local::4]
