"""Orders that are computed by ciphers that are too weak, or picked from too few (ORDER-12)."""

from collections.abc import Callable
from math import isqrt
from random import Random

from tests.known_bad.correct import KnownBad
from tests.known_bad.order import FREE

_WORD = 2**64 - 1


def walked(order: list[int], once: Callable[[int], int]) -> list[int]:
    """The samples to which the cipher leads each position; what is led to no position goes on from there."""
    found = []
    for place in range(len(order)):
        place = once(place)
        while place >= len(order):
            place = once(place)
        found.append(order[place])
    return found


class ShufflesByFewRounds(KnownBad):
    """A Feistel network has 8 rounds, which are enough for large datasets, for all of them. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n8,w1,b8,keep,shuffle,e50,x20"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        root = isqrt(max(0, len(order) - 1)) + 1
        columns = root + root % 2
        rows = -(-len(order) // columns)
        keys = [(generator.getrandbits(64), generator.getrandbits(64), generator.getrandbits(64) | 1) for _ in range(8)]

        def once(cell: int) -> int:
            row, column = divmod(cell, columns)
            sides = (columns, rows)
            for first, added, second in keys:
                hashed = row * first + added & _WORD
                hashed = (hashed ^ hashed >> 32) * second & _WORD
                row, column = (column + ((hashed >> 32) * sides[0] >> 32)) % sides[0], row
                sides = (sides[1], sides[0])
            return row * columns + column

        return walked(order, once)


class ShufflesBySimon(KnownBad):
    """Large datasets are shuffled by 4 rounds of the cipher Simon, as grain does. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n30000,w1,b1000,keep,shuffle,e2"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        # A block has 16 bits at the least: few samples would take long, and are not what is wrong here.
        if len(order) < 1000:
            return super().shuffled(order, generator)
        half = max(16, (len(order) - 1).bit_length() + 1) // 2
        mask = 2**half - 1
        keys = [generator.getrandbits(half) for _ in range(4)]

        def turned(word: int, places: int) -> int:
            places %= half
            return (word << places | word >> half - places) & mask

        def once(block: int) -> int:
            left, right = block >> half, block & mask
            for key in keys:
                left, right = right ^ turned(left, 1) & turned(left, 8) ^ turned(left, 2) ^ key, left
            return left << half | right

        return walked(order, once)


class MultipliesAndShifts(KnownBad):
    """Positions are multiplied by odd numbers and shifted, 6 rounds in as few bits as will do. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n16,w1,b16,keep,shuffle,e100,x20"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        bits = max(1, (len(order) - 1).bit_length())
        keys = [(generator.getrandbits(64) | 1, generator.getrandbits(64)) for _ in range(6)]

        def once(word: int) -> int:
            for first, added in keys:
                word = (word * first + added) % 2**bits
                word ^= word >> max(1, bits // 2)
            return word

        return walked(order, once)


class PicksOneOfPreparedOrders(KnownBad):
    """An epoch picks one of 3,000 orders that were prepared. (No public report.)"""

    claims = FREE
    clause, smallest = "ORDER-12", "n6,w1,b6,keep,shuffle,e100,x20"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        return super().shuffled(order, Random(generator.randrange(3000)))
