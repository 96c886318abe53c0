"""Loaders that can be resumed, with a batch sampler or a generator of the user's own (chapter 9)."""

from collections.abc import Iterator
from typing import Any, ClassVar

import torch

from tests.known_bad.correct import claim, mix
from tests.known_bad.resuming import STEADY, Stopping


class Handed(Stopping):
    """Follows the user's batch sampler, and shuffles by a number that the user's generator gives: correct."""

    claims: ClassVar[dict[str, Any]] = claim(STEADY, hooks=("batch_sampler", "generator"))

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.base = request.seed if request.generator is None else self.drawn()

    def drawn(self) -> int:
        """The next number of the user's generator."""
        return int(torch.empty((), dtype=torch.int64).random_(generator=self.request.generator).item())

    def mixed_seed(self) -> int:
        """One number for that and the epoch."""
        return mix(self.base, self.epoch)

    def __len__(self) -> int:
        return super().__len__() if self.request.batch_sampler is None else len(self.request.batch_sampler)

    def left(self, skipped: int) -> list[list[int]]:
        """The user's steps behind as many as were given."""
        if self.request.batch_sampler is None:
            return super().left(skipped)
        return [[*step] for step in self.request.batch_sampler][skipped // self.round :]


class SkipsStepsOfTheUsualSize(Handed):
    """The state counts samples, and as many steps are skipped as have so many if each is full. (No public report.)"""

    clause, smallest = "RESUME-1", "n3,w1,b1,keep,e2,save@1,with=batches"

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, and count what is in it."""
        for step in steps:
            batch = self.fetch(step)
            self.given += len(step) * self.request.world_size
            yield batch
        self.ended = True


class DrawsForEachEpoch(Handed):
    """Each epoch takes the generator's next number, and its state does not say which it was. (No public report.)"""

    clause, smallest = "RESUME-1", "n2,w1,b1,keep,shuffle,e3,save@1,with=generator"

    def __iter__(self) -> Iterator[Any]:
        if self.request.generator is not None:
            self.base = self.drawn()
        return super().__iter__()
