"""Decides from which seed each random pipe of a graph draws in an epoch.

    scope    pipes                                                  differs in each
    SHARED   before a `sharding_filter`                             epoch
    RANK     before a dispatch, or where nothing may be copied      epoch, rank
    WORKER   all others                                             epoch, rank, worker

The seed is hashed from the epoch's seed, the number of the pipe in the graph as the user made it, and what the scope
names. So it does not depend on which process runs the pipe. A shuffle that stands before sharding must give one order
everywhere: each worker takes its own positions of that order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from .graph import Pipe, Place, dispatched_part, replicable_part, shards, walk


class Scope(Enum):
    """In what the draws of a pipe differ, beside epochs."""

    SHARED = 0
    RANK = 1
    WORKER = 2


@dataclass(frozen=True)
class Draw:
    """What is known of a random pipe before an epoch: its number in the graph and its scope."""

    number: int
    scope: Scope = Scope.WORKER


@dataclass
class Seeds:
    """The seeds of one epoch in one process; what users' own functions are given to draw from."""

    epoch: int
    place: Place
    worker: int = 0
    drawn: Iterator[int] = field(default_factory=lambda: iter(range(2**31)))

    def of(self, draw: Draw) -> int:
        """The seed of a random pipe."""
        # PIPE-3, PIPE-4, PIPE-7
        differs = {Scope.SHARED: (), Scope.RANK: (self.place.rank,), Scope.WORKER: (self.place.rank, self.worker)}
        return hashed(self.epoch, draw.number, draw.scope.value, *differs[draw.scope])

    def generate_shared_seed(self) -> int:
        """A number that is the same in every worker and rank that has asked as often."""
        return hashed(self.epoch, 2**31, Scope.SHARED.value, next(self.drawn))

    def generate_seed(self) -> int:
        """A number that no other worker or rank is given."""
        return hashed(self.epoch, 2**31, Scope.WORKER.value, self.place.rank, self.worker, next(self.drawn))


def hashed(seed: int, *numbers: int) -> int:
    """Mix numbers into 64 bits; numbers side by side are not added, so neighbours are unrelated."""
    return int(np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)[0])


def is_random(pipe: Pipe) -> bool:
    """Whether the pipe can be told from which seed to draw."""
    return callable(getattr(type(pipe), "set_seed", None))


def assign(end: Pipe) -> None:
    """Number the random pipes of a whole graph, and note on each what its seed follows from."""
    pipes = walk(end)
    before_sharding = _before([pipe for pipe in pipes if shards(pipe)])
    dispatched, copied = dispatched_part(end), replicable_part(end)
    once = _before([dispatched] if dispatched is not None else [])
    in_workers = _before([copied] if copied is not None else [])
    for number, pipe in enumerate(filter(is_random, pipes)):
        scope = Scope.RANK if id(pipe) in once or id(pipe) not in in_workers else Scope.WORKER
        pipe.__dict__["loader_draw"] = Draw(number, Scope.SHARED if id(pipe) in before_sharding else scope)


def _before(ends: list[Pipe]) -> set[int]:
    return {id(pipe) for end in ends for pipe in walk(end)}


def draws(end: Pipe) -> list[Draw]:
    """What was noted on the random pipes of a graph, in order. Notes get lost where a pipe is pickled; these do not."""
    return [vars(pipe).get("loader_draw", Draw(2**30 + at)) for at, pipe in enumerate(filter(is_random, walk(end)))]


def seed_pipes(pipes: list[Pipe], noted: list[Draw], seeds: Seeds) -> None:
    """Give each random pipe its seed of this epoch. A pipe that nothing was noted for is numbered behind the others."""
    # Pipes set a seed for their next iteration only: they are given one in every epoch.
    for at, pipe in enumerate(pipes):
        pipe.set_seed(seeds.of(noted[at] if at < len(noted) else Draw(2**30 + at)))
