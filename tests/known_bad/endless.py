"""Loaders whose iterators never end: pass follows pass (chapter 11)."""

from collections.abc import Iterator
from typing import Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad, claim, mix, padded

ENDLESS = dict(epochs="endless", shuffle="global", resume=True)
FAMILY = ("endless",)


class Passes(Correct):
    """Pass follows pass, each in the steps that an epoch has, and a state knows the pass and the step."""

    claims: ClassVar[dict[str, Any]] = claim(ENDLESS, when_dropping="drop", when_keeping="pad")
    families: ClassVar[tuple[str, ...]] = FAMILY

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.taken = 0

    def __iter__(self) -> Iterator[Any]:
        while steps := self.steps():
            for step in steps[self.taken :]:
                self.taken += 1
                yield self.fetch(step)
            self.epoch, self.taken = self.epoch + 1, 0

    def state_dict(self) -> dict[str, int]:
        """Where it is."""
        return {"pass": self.epoch, "taken": self.taken}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on from there."""
        self.epoch, self.taken = state["pass"], state["taken"]


class OneStream(Correct):
    """All passes are one stream that is dealt out to ranks, in full steps that may hold the end of one and the next."""

    claims: ClassVar[dict[str, Any]] = claim(ENDLESS, when_keeping="once")
    families: ClassVar[tuple[str, ...]] = FAMILY

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.place = 0

    def __iter__(self) -> Iterator[Any]:
        while len(self.request.dataset):
            places = range(self.place, self.place + self.request.combined_batch)
            self.place = places.stop
            yield self.fetch([self.sample(self.global_place(place)) for place in places])

    def global_place(self, place: int) -> int:
        """The place in the stream of a sample of this rank."""
        return place * self.request.world_size + self.request.rank

    def sample(self, place: int) -> int:
        """The sample at a place of the stream."""
        self.epoch, at = divmod(place, len(self.request.dataset))
        return self.order()[at]

    def state_dict(self) -> dict[str, int]:
        """How many samples this rank has given."""
        return {"place": self.place}

    def load_state_dict(self, state: dict[str, int]) -> None:
        """Go on behind them."""
        self.place = state["place"]


class OneStreamOfSteps(OneStream):
    """The same, and steps go to the ranks in turn, not samples; nothing is claimed of the rest."""

    claims: ClassVar[dict[str, Any]] = ENDLESS

    def global_place(self, place: int) -> int:
        """The place in the stream of a sample of this rank."""
        step, at = divmod(place, self.request.combined_batch)
        return (step * self.request.world_size + self.request.rank) * self.request.combined_batch + at


class FillsEachPass(Passes):
    """The last step of each pass is filled on every rank, by samples of its beginning."""

    def shard(self, order: list[int]) -> list[int]:
        """This rank's part of the order, in whole steps."""
        whole = self.request.world_size * self.request.combined_batch
        return super().shard(order if self.request.drop_last else padded(order, len(order) + -len(order) % whole))


class RefusesToRunEmpty(Passes):
    """A rank for which a pass has nothing refuses to begin, and does not go round for ever."""

    claims: ClassVar[dict[str, Any]] = claim(ENDLESS, when_dropping="drop", when_keeping="drop")

    def policy(self) -> str:
        """Which policy is kept."""
        return "drop"

    def __iter__(self) -> Iterator[Any]:
        if not self.steps():
            raise ValueError(f"{len(self.request.dataset)} samples leave rank {self.request.rank} without a step")
        return super().__iter__()


class EndsAfterTwoPasses(Passes, KnownBad):
    """After two passes the iterator ends."""

    clause, smallest = "ENDLESS-1", "n1,w1,b1,keep,e3,endless"
    report = "CSAILVision/semantic-segmentation-pytorch#101"

    def __iter__(self) -> Iterator[Any]:
        for step in super().__iter__():
            if self.epoch > 1:
                return
            yield step


class BeginsOneEarly(Passes, KnownBad):
    """A pass gives the last sample of the one before it again, and not its own last one. (No public report.)"""

    clause, smallest = "ENDLESS-2", "n2,w1,b1,keep,endless"

    def order(self) -> list[int]:
        order = super().order()
        return [order[-1], *order[:-1][1:], order[0]] if self.epoch and len(order) > 2 else order[:1] * len(order)


class LoopsByItself(Passes, KnownBad):
    """Each rank goes round its own shard, and one that has a sample less is soon a pass ahead."""

    claims = claim(ENDLESS, when_keeping="uneven", shuffle=None)
    clause, smallest = "ENDLESS-2", "n3,w2,b1,keep,e2,endless"
    report = "NVIDIA-NeMo/Megatron-Bridge#5944"

    def policy(self) -> str:
        return "uneven"


class LosesTheRestOfEachPass(Passes, KnownBad):
    """What fills no step is lost in each pass, though the rest is to be kept."""

    claims = claim(ENDLESS, when_keeping="uneven", when_dropping="drop")
    clause, smallest = "ENDLESS-2", "n3,w1,b2,keep,endless"
    report = "NVlabs/VILA#123"

    def cut(self, shard: list[int]) -> list[list[int]]:
        steps = super().cut(shard)
        return [step for step in steps if len(step) == self.request.combined_batch] or steps


class ShufflesOnce(OneStream, KnownBad):
    """The order of the first pass is that of all of them."""

    clause, smallest = "ENDLESS-3", "n16,w1,b1,keep,shuffle,e4,endless"
    report = "ildoonet/unsupervised-data-augmentation#3"

    def mixed_seed(self) -> int:
        return mix(self.request.seed)


class ForgetsThePass(Passes, KnownBad):
    """A state knows the step within the pass, and not which pass it is."""

    clause, smallest = "ENDLESS-4", "n2,w1,b1,keep,shuffle,e3,stopped@3"
    report = "huggingface/accelerate#2016"

    def state_dict(self) -> dict[str, int]:
        return {"pass": 0, "taken": self.taken}


class CountsFromItsFirstStep(Passes, KnownBad):
    """Between a restart and the first step after it the state is that of the beginning. (No public report.)"""

    clause, smallest = "ENDLESS-4", "n2,w1,b1,keep,stopped@1,with=anew"
    begins: tuple[int, int] = (0, 0)

    def load_state_dict(self, state: dict[str, int]) -> None:
        self.begins = state["pass"], state["taken"]

    def __iter__(self) -> Iterator[Any]:
        self.epoch, self.taken = self.begins
        yield from super().__iter__()


class CountsStepsOfAllPasses(Passes, KnownBad):
    """A state counts the steps of all passes, and goes on behind so many of the first. (No public report.)"""

    claims = claim(Passes.claims, shuffle=None)
    clause, smallest = "ENDLESS-4", "n3,w1,b1,keep,e2,stopped@4"

    def state_dict(self) -> dict[str, int]:
        return {"pass": 0, "taken": self.taken + self.epoch * len(self.steps())}


CORRECT_ENDLESS: tuple[type[Correct], ...] = (Passes, OneStream)
UNUSUAL_ENDLESS: tuple[type[Correct], ...] = (OneStreamOfSteps, FillsEachPass, RefusesToRunEmpty)
