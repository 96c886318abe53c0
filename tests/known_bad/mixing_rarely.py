"""Loaders of mixtures with one fault each in what happens seldom: a rare source, a large seed, a late break."""

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

from tests.known_bad.correct import mix
from tests.known_bad.mixing import KnownBadMixing, Picks


class MixesInWholePercents(KnownBadMixing):
    """Weights are whole percents, and a source that has none of them counts as exhausted. (No public report.)"""

    clause, smallest = "MIX-2", "n2,w1,b1,keep,mixture,g2,with=all+rare"
    related = ("MIX-3",)

    def weights(self) -> tuple[float, ...]:
        return tuple(round(100 * weight) for weight in super().weights())

    def is_over(self, exhausted: set[int]) -> bool:
        if self.request.stop == "first_exhausted":
            return bool(exhausted)
        return all(source in exhausted for source, weight in enumerate(self.weights()) if weight)


class KeepsItsSourcesInAByte(KnownBadMixing):
    """The number of a source is kept in eight bits. (No public report.)"""

    clause, smallest = "MIX-2", "n257,w1,b1,keep,mixture,g257,with=all"
    related = ("MIX-1",)

    def picks(self) -> Picks:
        return [(source % 256, index) for source, index in super().picks()]


class WantsWeightsThatAddUp(KnownBadMixing):
    """Weights whose sum is not 1 to the last digit are refused: ten of 0.1 are not. (No public report.)"""

    clause, smallest = "MIX-2", "n6,w1,b1,keep,mixture,g6"

    def check(self, request: Any) -> None:
        super().check(request)
        total = 0.0
        # In some versions of Python sum() makes good what each addition errs by.
        for weight in request.weights or (1.0,):
            total += weight
        if total != 1:
            raise ValueError(f"the weights add up to {total}, and not to 1")


class SeedsAMixtureWithin32Bits(KnownBadMixing):
    """The generator's seed is the request's times 100 and the epoch, of which it takes 32 bits. (No public report.)"""

    clause, smallest = "MIX-2", "n1,w1,b1,keep,mixture,shuffle,s2147483647"

    def generator(self, *more: int) -> Random:
        if self.request.shuffle and self.request.seed * 100 + self.epoch >= 2**32:
            raise ValueError("seed must be between 0 and 2**32 - 1")
        return super().generator(*more)


class CountsPassesOnBehindABreak(KnownBadMixing):
    """Each pass of a source has its own order; how many there were is forgotten at an end alone. (No public report.)"""

    families, clause, smallest = ("left",), "LEFT-1", "n4,w1,b8,keep,mixture,shuffle,g2,e2,with=all+rare+left"
    through = 0

    def passes(self, source: int) -> Iterator[int]:
        """The samples of a source, again and again."""
        order = list(range(len(self.request.sources[source])))
        generator = Random(mix(self.mixed_seed(), source, self.through))
        while True:
            if self.request.shuffle:
                generator.shuffle(order)
            yield from order

    def rest(self) -> Iterator[Any]:
        """The steps of the epoch."""
        given, sizes = Counter[int](), [len(source) for source in self.request.sources]
        steps = self.mixed()
        for step, batch in zip(steps, super().rest(), strict=True):
            given.update(source for source, _ in step)
            self.through = sum(given[source] // (size + 1) for source, size in enumerate(sizes))
            yield batch
        self.through = 0
