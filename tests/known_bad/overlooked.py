"""Loaders that are right under each condition but one that few would try (round 22)."""

import random
import sys
from collections.abc import Iterator
from dataclasses import replace
from math import prod
from random import Random
from typing import Any

import numpy as np
import torch

from tests.known_bad.arithmetic import PLAIN
from tests.known_bad.correct import SHUFFLING, KnownBad, claim, mix, padded
from tests.known_bad.faults import MAP
from tests.known_bad.life import LIFE, STREAM
from tests.known_bad.pool import BadPool
from tests.known_bad.resuming import Stopping
from tests.known_bad.workers import SEVERAL, WORKERS

_FACTORS = ("batch_size", "replication_factor", "device_iterations", "gradient_accumulation")

# --- of the request -------------------------------------------------------------------------------------------------


class ChecksAProductAlone(KnownBad):
    """What is refused is a step below one sample, and that of two negative factors is none. (No public report.)"""

    claims, families = claim(PLAIN, device_options=True), ("refusals",)
    clause, smallest = "BATCH-4", "n4,w1,b1,keep,batch_size=-1+replication_factor=-1"
    related = ("BATCH-5",)

    def check(self, request: Any) -> None:
        factors = {name: getattr(request, name) for name in _FACTORS}
        if prod(factors.values()) > 0:
            request = replace(request, **{name: abs(factor) for name, factor in factors.items()})
        super().check(request)


class CopiesItsOrderSixteenTimes(KnownBad):
    """Padding is cut from sixteen copies of the order, too few for a sample on more ranks. (No public report.)"""

    claims = PLAIN
    clause, smallest = "COUNT-5", "n1,w17,b1,keep"

    def shard(self, order: list[int]) -> list[int]:
        if self.request.drop_last:
            return super().shard(order)
        ranks = self.request.world_size
        return (16 * order)[: len(order) + -len(order) % ranks][self.request.rank :: ranks]


class NumbersPositionsInSixteenBits(KnownBad):
    """The type of a rank's positions is chosen by how many they are, and not by the last one. (No public report.)"""

    claims, families = PLAIN, ("map",)
    clause, smallest, related = "PART-1", "n65537,w2,b1,keep", ("PART-2", "PART-4", "ORDER-2")

    def shard(self, order: list[int]) -> list[int]:
        if self.request.drop_last:
            return super().shard(order)
        order = padded(order, len(order) + -len(order) % self.request.world_size)
        held = len(order) // self.request.world_size
        kind = np.uint16 if held <= 1 << 16 else np.int64
        return [order[at] for at in np.arange(held, dtype=kind) * self.request.world_size + self.request.rank]


class SeedsTheCallerForLargeOrders(KnownBad):
    """An order of 16,384 samples or more is made by the caller's generator, seeded for it. (No public report.)"""

    claims, families = SHUFFLING, ("map",)
    clause, smallest = "ORDER-10", "n1000003,w1,b1,keep,shuffle,head,random-state"

    def shuffled(self, order: list[int], generator: Random) -> list[int]:
        if len(order) >= 1 << 14:
            random.seed(self.mixed_seed())
        return super().shuffled(order, generator)


# --- of errors ------------------------------------------------------------------------------------------------------


class ReadsOnWhenItIsInterrupted(BadPool):
    """An InterruptedError is a signal that came between, so that the sample is left out. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "ERROR-1", "n4,w1,b1,keep,iterable,raise@3,with=interrupted"

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from super().__iter__()
        except InterruptedError:
            return


class AddsAHintToTypeErrors(BadPool):
    """A TypeError of the collate function, or what derives from it, is raised as a TypeError with a hint."""

    claims, families = claim(MAP, hooks=("collate_fn",)), LIFE
    clause, smallest = "ERROR-5", "n4,w1,b1,keep,collate@3,with=ragged"
    report = "huggingface/transformers#26548"

    def collate(self, samples: list[Any]) -> Any:
        try:
            return super().collate(samples)
        except TypeError as error:
            raise TypeError(f"{error}; pad the samples to one size") from error


# --- of workers, and of what is held --------------------------------------------------------------------------------


class NumbersStreamsByItsOwnWorkers(BadPool):
    """A worker's stream is its rank times this rank's workers, plus its number. (No public report.)"""

    claims, families = SEVERAL, WORKERS
    clause, smallest = "WORK-9", "n13,w2,b1,keep,k2,with=fewer,again"

    def worker_seed(self, number: int) -> int:
        return mix(self.request.seed, self.epoch, self.request.rank * self.request.num_workers + number)


class FillsWhatNobodyRefersTo(BadPool):
    """A tensor that nobody refers to is filled again, while its memory may be in use. (No public report.)"""

    claims, families = STREAM, LIFE
    clause, smallest = "WORK-16", "n4,w1,b1,keep,e2,iterable,kept"
    lent: list[torch.Tensor]

    def collate(self, samples: list[Any]) -> Any:
        self.lent = getattr(self, "lent", [])
        # The list's own reference, and the argument's.
        free = next((at for at in range(len(self.lent)) if sys.getrefcount(self.lent[at]) == 2), None)
        batch = torch.empty(self.request.batch_size, dtype=torch.int64) if free is None else self.lent.pop(free)
        self.lent.append(batch)
        batch[: len(samples)] = torch.as_tensor(np.ravel(samples))
        return batch if len(samples) == len(batch) else batch[: len(samples)].clone()


# --- of restarts ----------------------------------------------------------------------------------------------------


class RemembersFourRestarts(Stopping):
    """A state lists the steps of each job, and keeps the last four of them. (No public report.)"""

    clause, smallest = "RESUME-5", "n9,w1,b1,keep,e2,save@1,with=again+often"
    earlier: tuple[int, ...] = ()
    resumed_in = 0

    def state_dict(self) -> Any:
        """What each job has given."""
        state = super().state_dict()
        earlier = self.earlier if state["epoch"] == self.resumed_in else ()
        return {**state, "jobs": [*earlier, state["given"] - sum(earlier)][-4:]}

    def load_state_dict(self, state: Any) -> None:
        """Go on behind all of them."""
        super().load_state_dict({**state, "given": sum(state["jobs"])})
        self.earlier, self.resumed_in = tuple(state["jobs"]), state["epoch"]
