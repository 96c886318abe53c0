"""Loaders of one process, and those that read one step ahead to know the last: correct and wrong (chapter 11)."""

import os
from collections.abc import Iterator
from typing import Any, ClassVar

import torch.distributed as distributed

from tests.known_bad.correct import Correct, KnownBad

ALONE = dict(ranks=None, when_dropping="drop", when_keeping="uneven", shuffle="global", epochs="set_epoch", length=True)
PEEKING = dict(lookahead=1, when_dropping="drop", when_keeping="uneven", layout="strided", length=True)


class Alone(Correct):
    """It has no ranks, and nothing in its environment gives it one."""

    # Here None is a claim.
    claims: ClassVar[dict[str, Any]] = ALONE
    families: ClassVar[tuple[str, ...]] = ("map", "alone")


class RefusesALaunch(Alone):
    """In a process that a launcher has started as one of several it raises, as it would give each the same."""

    def check(self, request: Any) -> None:
        """Refuse what can't be asked for, and where."""
        super().check(request)
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            raise RuntimeError("this loader is for one process, and WORLD_SIZE says that there are more")


class Peeking(Correct):
    """Each step is given once the next one is read, so that it knows which is the last."""

    claims: ClassVar[dict[str, Any]] = PEEKING
    families: ClassVar[tuple[str, ...]] = ("map", "life", "peek")

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.is_last = False

    def __iter__(self) -> Iterator[Any]:
        steps = (self.fetch(step) for step in self.steps())
        held = next(steps, None)
        while held is not None:
            # ERROR-2 allows that an error in the next step takes this one along.
            following = next(steps, None)
            self.is_last = following is None
            yield held
            held = following


class PeeksInItsHead(Peeking):
    """It knows the number of its steps, claims to read ahead, and never does."""

    def __iter__(self) -> Iterator[Any]:
        return Correct.__iter__(self)


class TakesARankFromItsEnvironment(KnownBad):
    """What a launcher tells a process of itself becomes a shard that nobody has asked for."""

    claims, families = ALONE, ("alone",)
    clause, smallest = "ALONE-1", "n2,w1,b1,keep,launched"
    report = "Lightning-AI/litData#368"

    def shard(self, order: list[int]) -> list[int]:
        rank, ranks = (int(os.environ.get(name, usual)) for name, usual in (("RANK", "0"), ("WORLD_SIZE", "1")))
        return order[rank::ranks]


class TakesARankFromTheProcessGroup(KnownBad):
    """Where a process group has been made, its rank is taken for the loader's. (No public report.)"""

    claims, families = ALONE, ("alone",)
    clause, smallest = "ALONE-1", "n7,w1,b2,keep,launched,with=met"

    def shard(self, order: list[int]) -> list[int]:
        met = distributed.is_initialized()
        return order[distributed.get_rank() :: distributed.get_world_size()] if met else order


class ReadsTheEpochAhead(Peeking, KnownBad):
    """The whole epoch is read before its first step is given. (No public report.)"""

    families, clause, smallest = ("peek",), "PEEK-1", "n4,w1,b1,keep,peeking"

    def __iter__(self) -> Iterator[Any]:
        return iter(list(super().__iter__()))


CORRECT_ALONE: tuple[type[Correct], ...] = (Alone, Peeking)
UNUSUAL_ALONE: tuple[type[Correct], ...] = (RefusesALaunch, PeeksInItsHead)
