"""Decides from which seed each random pipe of a graph draws in an epoch.

    scope    pipes                                                  differs in each
    SHARED   before a `sharding_filter`                             epoch
    RANK     before a dispatch, or where nothing may be copied      epoch, rank
    WORKER   all others                                             epoch, rank, worker

The seed is hashed from the epoch's seed, the number of the pipe in the graph as the user made it, and what the scope
names. So it does not depend on which process runs the pipe. A shuffle that stands before sharding must give one order
everywhere: each worker takes its own positions of that order.

Numbers are given once, to the whole graph; a pipe that is added later gets the next one. Scopes are looked up whenever
an epoch begins, because a service, or a function of the user's own, may have put a `sharding_filter` after a shuffle.
"""

import copy
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum

import numpy as np
import torch

from ..rules.checks import check_integer
from .graph import Pipe, Place, dispatched_part, replicable_parts, shards, walk

MOST_SEED = 2**64 - 1
LATE = 2**30
"""The first number of pipes that are added in workers, where nobody knows how many the main process has."""
_NUMBER = "loader_number"
_USER = 2**31  # stands for a pipe's number in what users' own functions draw


class Scope(Enum):
    """In what the draws of a pipe differ, beside epochs."""

    SHARED = 0
    RANK = 1
    WORKER = 2


@dataclass(frozen=True)
class Draw:
    """What is known of a random pipe when an epoch begins: its number in the graph and its scope."""

    number: int
    scope: Scope = Scope.WORKER


Found = list[tuple[Pipe, Draw]]
"""The random pipes of a graph that runs in one process."""


class SeedGenerator:
    """The seeds of one epoch in one process; what users' own functions are given to draw from, or to seed again.

    `place` and `worker` say which process it is; None is the main one, whose pipes draw as those of worker 0.
    `workers_share`: what workers run is sharded after them, in the main process, so all their draws are alike. `sent`:
    what changes the graph for this epoch, once workers have been told.
    """

    def __init__(self, seed: int | None = None, place: Place | None = None, worker: int | None = None) -> None:
        self.place = place if place is not None else Place()
        self.worker = worker
        self.workers_share = False
        self.sent: object = None
        self.path: tuple[int, ...] = ()
        self.seed(seed)

    def seed(self, seed: int | None = None) -> None:
        """Begin again with this seed, 0 to 2**64 - 1; None draws one from torch's global generator."""
        # PIPE-8
        self.epoch_seed = drawn() if seed is None else check_integer("seed", seed, least=0, most=MOST_SEED)
        # Counted apart, so that a worker that draws for itself still agrees with the others on what is shared.
        self.shared_draws = self.own_draws = 0

    def generate_shared_seed(self) -> int:
        """A number of 64 bits that is the same in every worker and rank that has asked as often."""
        self.shared_draws += 1
        return hashed(self.epoch_seed, _USER, Scope.SHARED.value, self.shared_draws - 1)

    def generate_seed(self) -> int:
        """A number of 64 bits that no other worker, rank or spawned generator is given."""
        self.own_draws += 1
        own = (self.place.rank, _USER if self.worker is None else self.worker, self.own_draws - 1, *self.path)
        return hashed(self.epoch_seed, _USER, Scope.WORKER.value, *own)

    def spawn(self, worker_id: int, inplace: bool = False) -> "SeedGenerator":
        """A generator with the same shared seeds and others of its own; `inplace` makes this one that."""
        number = check_integer("worker_id", worker_id, least=0)
        spawned = self if inplace else copy.copy(self)
        spawned.path, spawned.own_draws = (*self.path, number), 0
        return spawned

    def at(self, worker: int) -> "SeedGenerator":
        """The generator of a worker: what is shared goes on, and of its own nothing has been drawn yet."""
        there = copy.copy(self)
        there.worker, there.own_draws = worker, 0
        return there

    def of(self, draw: Draw) -> int:
        """The seed of a random pipe."""
        # PIPE-3, PIPE-4, PIPE-7
        rank = self.place.rank
        differs: dict[Scope, tuple[int, ...]] = {
            Scope.SHARED: (),
            Scope.RANK: (rank, *self.path),
            Scope.WORKER: (rank, self.worker or 0, *self.path),
        }
        return hashed(self.epoch_seed, draw.number, draw.scope.value, *differs[draw.scope])

    @property
    def process_seed(self) -> int:
        """What the global generators of a worker are seeded from, beside its rank and number."""
        return hashed(self.epoch_seed, *self.path) if self.path else self.epoch_seed


def drawn() -> int:
    """A seed that torch's global generator gives, as it gives torch's own DataLoader its base seed."""
    return int(torch.empty((), dtype=torch.int64).random_().item())


def hashed(seed: int, *numbers: int) -> int:
    """Mix numbers into 64 bits; numbers side by side are not added, so neighbours are unrelated."""
    return int(np.random.SeedSequence(seed, spawn_key=numbers).generate_state(1, np.uint64)[0])


def is_random(pipe: Pipe) -> bool:
    """Whether the pipe can be told from which seed to draw."""
    return callable(getattr(type(pipe), "set_seed", None))


def random_pipes(end: Pipe) -> list[Pipe]:
    """The random pipes of a graph, in the order of `walk`."""
    return list(filter(is_random, walk(end)))


def number_pipes(end: Pipe, least: int = 0, *, afresh: bool = False) -> None:
    """Give each random pipe that has none a number: `least`, or the one after the highest in the graph."""
    pipes = walk(end)
    if afresh:
        for pipe in pipes:
            pipe.__dict__.pop(_NUMBER, None)
    _number(pipes, least)


def _number(pipes: list[Pipe], least: int) -> None:
    new = [pipe for pipe in pipes if is_random(pipe) and _NUMBER not in vars(pipe)]
    following = max([least, *(vars(pipe)[_NUMBER] + 1 for pipe in pipes if _NUMBER in vars(pipe))])
    for number, pipe in enumerate(new, following):
        set_number(pipe, number)


def numbers(end: Pipe) -> list[int]:
    """The numbers of the random pipes of a graph. They get lost where a pipe is pickled; this list does not."""
    return [vars(pipe)[_NUMBER] for pipe in random_pipes(end)]


def renumber_pipes(end: Pipe, noted: list[int]) -> None:
    """Give the copies of a graph's random pipes the numbers that `numbers` told of the originals, in that order."""
    for pipe, number in zip(random_pipes(end), noted, strict=True):
        set_number(pipe, number)


def set_number(pipe: Pipe, number: int) -> None:
    """Write a pipe's number on it. On a pipe that is not random it is the highest of those that it stands for."""
    pipe.__dict__[_NUMBER] = number


def found_in_worker(end: Pipe, scope: Scope, is_shared: bool) -> Found:
    """The random pipes of a graph that runs in a worker, or in the dispatching process, and what each draws now."""
    return _found(end, lambda pipes: dict.fromkeys(map(id, pipes), Scope.SHARED if is_shared else scope))


def found_here(end: Pipe) -> Found:
    """The random pipes of the main process's graph, and what each draws now: as if a worker ran what it could run."""

    def scopes(pipes: list[Pipe]) -> dict[int, Scope]:
        dispatched = dispatched_part(end)
        once = _before([dispatched] if dispatched is not None else [])
        in_workers = _before(replicable_parts(end)) - once
        return {id(pipe): Scope.WORKER if id(pipe) in in_workers else Scope.RANK for pipe in pipes}

    return _found(end, scopes)


def _found(end: Pipe, scopes: Callable[[list[Pipe]], dict[int, Scope]]) -> Found:
    """The random pipes, with the scopes that those have which do not stand before sharding."""
    pipes = walk(end)
    _number(pipes, LATE)
    before_sharding = _before([pipe for pipe in pipes if shards(pipe)])
    others = [pipe for pipe in pipes if is_random(pipe) and id(pipe) not in before_sharding]
    late = scopes(others) if others else {}
    return [(pipe, Draw(vars(pipe)[_NUMBER], late.get(id(pipe), Scope.SHARED))) for pipe in pipes if is_random(pipe)]


def _before(ends: list[Pipe]) -> set[int]:
    return {id(pipe) for end in ends for pipe in walk(end)}


def seed_pipes(found: Found, seeds: SeedGenerator, already: Iterable[tuple[Pipe, Draw]] = ()) -> None:
    """Give each random pipe its seed of this epoch, but for those that have `already` been given the same."""
    # Pipes set a seed for their next iteration only: they are given one in every epoch.
    given = {(id(pipe), draw) for pipe, draw in already}
    for pipe, draw in found:
        if (id(pipe), draw) not in given:
            pipe.set_seed(seeds.of(draw))
