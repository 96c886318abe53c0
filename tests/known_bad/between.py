"""Loaders whose fault lies between two things of which each is right (round 23)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.known_bad.ahead import BadAhead
from tests.known_bad.asynchronous import FAMILY, with_hook
from tests.known_bad.correct import SHORT, SHUFFLING, claim, mix
from tests.known_bad.drawing import BadDrawing, DrawsItsOwn
from tests.known_bad.grouping import KnownBadChoosing
from tests.known_bad.life import LIFE, SAMPLES, STREAM, BadColumns
from tests.known_bad.pool import BadPool, Pool, Worker


class DrawsWhatAnotherRankDrew(DrawsItsOwn, BadDrawing):
    """A rank's seed is the epoch plus its number: rank 0 draws what rank 1 drew an epoch before. (No public report.)"""

    clause, smallest = "DRAW-4", "n3,w3,b1,keep,shuffle,e12,x20"

    def own_seed(self) -> int:
        return mix(self.request.seed, self.epoch + self.request.rank)


class TellsEpochsByOneBit(BadPool):
    """What a worker had ready for an epoch that was left is taken for that of the next but one. (No public report.)"""

    claims, families = claim(SHUFFLING, workers=True), LIFE
    clause, smallest = "WORK-12", "n2,w1,b1,keep,shuffle,k2,e3,lives,with=left+left"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.begun = 0
        self.ready: dict[int, list[list[int]]] = {}

    def plan(self) -> list[list[int]]:
        plan = super().plan()
        if self.request.num_workers < 2:
            return plan
        self.begun += 1
        stale = self.ready.get(self.begun % 2, plan)
        self.ready[self.begun % 2] = plan
        return [*plan[:1], *stale[1:2], *plan[2:]]

    def in_turn(self, crew: list[Worker]) -> Iterator[Any]:
        yield from super().in_turn(crew)
        self.ready.clear()


class NarrowsTheFloatOfAStepOfOne(BadColumns):
    """What makes a step of one sample takes a float to be of 32 bits. (No public report.)"""

    claims, families = STREAM, SAMPLES
    clause, smallest = "WORK-17", "n1,w1,b1,keep,iterable,kind=dict"

    def numbers(self, values: list[Any]) -> Any:
        if len(values) == 1 and isinstance(values[0], float):
            return np.array(values, dtype=np.float32)
        return super().numbers(values)


class LeavesWhatNobodyAskedFor(BadAhead):
    """What was begun when the loader was made is ended by its epoch alone. (No public report.)"""

    claims, families, grace = with_hook("early_preload"), FAMILY, SHORT
    clause, smallest = "ASYNC-8", "n2,w1,b1,keep,async,early,unread"
    is_used = False

    def wanted(self) -> Any:
        self.is_used = True
        return super().wanted()

    def close(self) -> None:
        if self.is_used:
            super().close()
        else:
            Pool.close(self)


class TellsItsBatchesInLen(KnownBadChoosing):
    """What chooses the batches hears of the epoch where it is asked how many there are. (No public report.)"""

    clause, smallest = "GROUP-12", "n13,w1,b1,keep,at-least,shuffle,t1,e3"
    told = 0

    def __len__(self) -> int:
        self.told = self.epoch
        return super().__len__()

    def mixed_seed(self) -> int:
        return mix(self.request.seed, self.told) if self.request.batches else super().mixed_seed()
