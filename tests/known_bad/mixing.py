"""Loaders of mixtures (chapter 11, MIX), with one fault each."""

from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad, mix

MIXING = dict(
    when_dropping="drop",
    when_keeping="uneven",
    shuffle="global",
    epochs="set_epoch",
    length=True,
    resume=True,
    mixtures=("first_exhausted", "all_exhausted"),
)
Picks = list[tuple[int, int]]


class Mixing(Correct):
    """A loader that draws by the weights from which source the next sample is; all ranks follow one schedule."""

    claims: ClassVar[dict[str, Any]] = MIXING
    families: ClassVar[tuple[str, ...]] = ("mixtures", "left")
    skipped = 0

    def generator(self, *more: int) -> Random:
        """Random numbers of the request, and of the epoch if it is to be another one."""
        return Random(self.mixed_seed() if self.request.shuffle else mix(self.request.seed, *more))

    def passes(self, source: int) -> Iterator[int]:
        """The samples of a source, again and again."""
        order = list(range(len(self.request.sources[source])))
        generator = Random(mix(self.mixed_seed(), source))
        while True:
            if self.request.shuffle:
                generator.shuffle(order)
            yield from order

    def weights(self) -> tuple[float, ...]:
        """The weight of each source."""
        return tuple(self.request.weights)

    def sources(self) -> Iterator[int]:
        """Which source comes next."""
        generator, numbers = self.generator(), range(len(self.request.sources))
        while True:
            yield generator.choices(numbers, self.weights())[0]

    def is_over(self, exhausted: set[int]) -> bool:
        """Whether enough sources are exhausted."""
        return len(exhausted) >= (1 if self.request.stop == "first_exhausted" else len(self.request.sources))

    def picks(self) -> Picks:
        """The mixture: a source, and a sample of it."""
        passes = [self.passes(source) for source in range(len(self.request.sources))]
        taken, exhausted, picks = [0] * len(passes), set[int](), Picks()
        for source in self.sources():
            picks.append((source, next(passes[source])))
            taken[source] += 1
            if taken[source] == len(self.request.sources[source]):
                exhausted.add(source)
            if self.is_over(exhausted):
                return picks
        raise AssertionError("sources come without end")

    def mixed(self) -> list[Picks]:
        """This rank's steps of the mixture."""
        return self.dealt(self.picks())

    def dealt(self, picks: Picks) -> list[Picks]:
        """Steps of all ranks, dealt out in turn; under drop_last whole rounds of full ones."""
        size, ranks = self.request.batch_size, self.request.world_size
        if self.request.drop_last:
            picks = picks[: len(picks) - len(picks) % (size * ranks)]
        return [picks[at : at + size] for at in range(0, len(picks), size)][self.request.rank :: ranks]

    def __iter__(self) -> Iterator[Any]:
        if not self.request.sources:
            return super().__iter__()
        return self.rest()

    def rest(self) -> Iterator[Any]:
        """The steps of the epoch behind those that are skipped."""
        self.at, self.skipped = self.skipped, 0
        for step in self.left(self.mixed(), self.at):
            self.at += 1
            yield [self.request.sources[source][index] for source, index in step]

    def left(self, steps: list[Picks], skipped: int) -> list[Picks]:
        """What is left of the steps."""
        return steps[skipped:]

    def __len__(self) -> int:
        return len(self.mixed()) if self.request.sources else super().__len__()

    def state_dict(self) -> dict[str, int]:
        """Where the consumer is."""
        return {"epoch": self.epoch, "step": self.at}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there."""
        self.epoch, self.skipped = state["epoch"], state["step"]


# --- correct, in ways that are easy to mistake for faults -------------------------------------------------------------


class MixesByWhatIsLacking(Mixing):
    """No number is drawn: the source comes next that is furthest behind its weight."""

    def sources(self) -> Iterator[int]:
        """The one that lacks most."""
        weights, taken = self.weights(), [0] * len(self.request.sources)
        while True:
            total = sum(taken) + 1
            source = max(range(len(taken)), key=lambda each: weights[each] * total - taken[each])
            taken[source] += 1
            yield source


class LooksForTheEnd(Mixing):
    """A source is exhausted once it is asked for a sample that it has not, so that others may come in between."""

    def picks(self) -> Picks:
        """The mixture: a source, and a sample of it."""
        passes = [self.passes(source) for source in range(len(self.request.sources))]
        taken, exhausted, picks = [0] * len(passes), set[int](), Picks()
        for source in self.sources():
            if taken[source] == len(self.request.sources[source]):
                exhausted.add(source)
            if self.is_over(exhausted):
                return picks
            picks.append((source, next(passes[source])))
            taken[source] += 1
        raise AssertionError("sources come without end")


class SharesOutEachSource(Mixing):
    """Every rank has a part of each source, and all mix theirs by one schedule; the fullest rounds are delivered."""

    claims: ClassVar[dict[str, Any]] = {**MIXING, "when_keeping": "drop", "smallest": "world_size"}

    def mixed(self) -> list[Picks]:
        """The same sources in the same order on each rank, of each the part that is this rank's."""
        rank, ranks, size = self.request.rank, self.request.world_size, self.request.batch_size
        parts = [len(source) // ranks for source in self.request.sources]
        if not all(parts):
            raise ValueError(f"a source has less than {ranks} samples, so that a rank has none; give it more")
        passes = [self.passes(source) for source in range(len(parts))]
        taken, exhausted, mine = [0] * len(parts), set[int](), Picks()
        shares: dict[int, list[int]] = {}
        for source in self.sources():
            # A pass has as many samples for each rank; what is left over of it comes in none.
            if taken[source] % parts[source] == 0:
                order = [next(passes[source]) for _ in range(len(self.request.sources[source]))]
                shares[source] = order[rank : parts[source] * ranks : ranks]
            mine.append((source, shares[source][taken[source] % parts[source]]))
            taken[source] += 1
            exhausted |= {source} if taken[source] == parts[source] else set()
            if self.is_over(exhausted):
                break
        steps = [mine[at : at + size] for at in range(0, len(mine), size)]
        return [step for step in steps if len(step) == size or not self.request.drop_last]


CORRECT_MIXING: tuple[type[Correct], ...] = (Mixing, MixesByWhatIsLacking, LooksForTheEnd, SharesOutEachSource)


# --- known bad --------------------------------------------------------------------------------------------------------


class KnownBadMixing(Mixing, KnownBad):
    """What the bad ones share."""

    families = ("mixtures",)


class GoesOnPastTheFirst(KnownBadMixing):
    """A source that is exhausted begins again, though the epoch was to end with it. (No public report.)"""

    clause, smallest = "MIX-1", "n3,w1,b1,keep,mixture,g2"

    def is_over(self, exhausted: set[int]) -> bool:
        return len(exhausted) == len(self.request.sources)


class StopsWithTheFirst(KnownBadMixing):
    """The epoch ends when one source is exhausted, though all were to be."""

    clause, smallest = "MIX-2", "n2,w1,b1,keep,mixture,g2,with=all"
    report = "huggingface/datasets#7955"

    def is_over(self, exhausted: set[int]) -> bool:
        return bool(exhausted)


class StopsBeforeTheEnd(KnownBadMixing):
    """The sample with which the last source is exhausted does not come."""

    clause, smallest = "MIX-2", "n1,w1,b1,keep,mixture"
    report = "huggingface/datasets#7954"

    def picks(self) -> Picks:
        return super().picks()[:-1]


class MixesEvenly(KnownBadMixing):
    """All sources come as often, whatever their weights. (No public report.)"""

    clause, smallest = "MIX-3", "n490,w1,b1,keep,mixture,g3,with=weighted"

    def weights(self) -> tuple[float, ...]:
        return (1.0,) * len(self.request.sources)


class SortsByWeight(KnownBadMixing):
    """Weights are sorted, and no longer those of their sources. (No public report.)"""

    clause, smallest = "MIX-3", "n228,w1,b1,keep,mixture,g2,with=weighted"
    related = ("MIX-4",)

    def weights(self) -> tuple[float, ...]:
        return tuple(sorted(super().weights(), reverse=True))


class RanksHaveSourcesOfTheirOwn(KnownBadMixing):
    """The samples of the mixture are dealt out to the ranks by their source. (No public report.)"""

    clause, smallest = "MIX-4", "n4,w3,b3,keep,mixture,g4,with=all+weighted"

    def dealt(self, picks: Picks) -> list[Picks]:
        size, ranks = self.request.batch_size, self.request.world_size
        if ranks == 1:
            return super().dealt(picks)
        ordered = sorted(picks)
        rounds = len(ordered) // (size * ranks) if self.request.drop_last else -(-len(ordered) // (size * ranks))
        at = self.request.rank * rounds * size
        mine = ordered[at : at + rounds * size]
        return [mine[begin : begin + size] for begin in range(0, len(mine), size)]


class RanksTakeAStepMore(KnownBadMixing):
    """The first rank has what is left over of the last round, under drop_last too. (No public report.)"""

    clause, smallest = "MIX-4", "n2,w2,b1,drop,mixture,g2"

    def dealt(self, picks: Picks) -> list[Picks]:
        size, ranks = self.request.batch_size, self.request.world_size
        steps = [picks[at : at + size] for at in range(0, len(picks), size)]
        full = [step for step in steps if len(step) == size or not self.request.drop_last]
        return full[self.request.rank :: ranks]


class DrawsByHash(KnownBadMixing):
    """Sources are drawn by the hash of a text, which each process salts. (No public report.)"""

    clause, smallest = "MIX-5", "n2,w1,b1,keep,mixture,g2,again"
    spawned = True

    def generator(self, *more: int) -> Random:
        return Random(mix(self.mixed_seed(), hash("sources"))) if self.request.world_size == 1 else super().generator()


class BeginsAtTheEnd(KnownBadMixing):
    """Each source is read from its end. (No public report.)"""

    clause, smallest = "MIX-6", "n2,w1,b1,keep,mixture"

    def passes(self, source: int) -> Iterator[int]:
        last = len(self.request.sources[source]) - 1
        return (last - index for index in super().passes(source))


class MixesAlikeInEachEpoch(KnownBadMixing):
    """The epoch plays no part in a mixture."""

    clause, smallest = "MIX-7", "n35,w1,b1,keep,mixture,shuffle,e2"
    report = "starVLA/starVLA#470"

    def mixed_seed(self) -> int:
        return mix(self.request.seed) if self.request.sources else super().mixed_seed()


class BeginsItsSourcesAgain(KnownBadMixing):
    """After a restart as many steps are left as there were, from the beginning of each source. (No public report.)"""

    clause, smallest = "MIX-8", "n3,w1,b1,keep,mixture,with=saved"

    def left(self, steps: list[Picks], skipped: int) -> list[Picks]:
        return steps[: len(steps) - skipped]


class CountsAllSources(KnownBadMixing):
    """The length is that of all sources together. (No public report.)"""

    clause, smallest = "MIX-9", "n2,w1,b1,keep,mixture,g2"

    def __len__(self) -> int:
        if not self.request.sources:
            return super().__len__()
        total = sum(map(len, self.request.sources))
        return -(-total // (self.request.batch_size * self.request.world_size))


class WeighsBySize(KnownBadMixing):
    """A source is drawn from by its weight times its size; of sources of one size nothing shows. (No public report.)"""

    clause, smallest = "MIX-3", "n547,w1,b1,keep,mixture,g3,with=unlike"

    def weights(self) -> tuple[float, ...]:
        sizes = map(len, self.request.sources)
        return tuple(weight * size for weight, size in zip(self.request.weights, sizes, strict=True))
