"""Loaders of pipelines with one fault each: who gets what, in which order (chapter 8).

Each is the reference's loader with some of its functions exchanged, in the process that reads it only.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from itertools import chain, islice
from typing import Any, ClassVar

import torch

from conformance.pipelines.graph import Source
from reference import loaderspec
from reference.dataloader2 import DataLoader2
from reference.pipelines import graph as pipe_graph
from reference.pipelines import seeds as pipe_seeds
from reference.pipelines.crew import Crew
from reference.pipelines.graph import Place, dispatches, replace, walk
from reference.reading_service import MultiProcessingReadingService
from tests.known_bad.correct import Correct, KnownBad


class Pipelines(KnownBad):
    """A correct loader of pipelines. `changes`: what is exchanged, as "module.Class.function" of the reference."""

    claims: ClassVar[dict[str, Any]] = dict(pipelines=loaderspec.claims["pipelines"])
    families = ("pipeline",)
    grace = 0.4
    changes: ClassVar[dict[str, Callable[..., Any]]] = {}

    @classmethod
    def load(cls, request: Any) -> Any:
        """A loader, for the adapter must have one."""
        return Correct(request)

    @classmethod
    def pipeline(cls, request: Any) -> Any:
        """The adapter's function."""
        cls.change()
        return loaderspec.pipeline(request)

    @classmethod
    def wrong_order(cls, request: Any) -> Any:
        """The other one."""
        cls.change()
        return loaderspec.wrong_order(request)

    @classmethod
    def change(cls) -> None:
        """Exchange the functions."""
        for path, function in cls.changes.items():
            module, _, attribute = path.partition(":")
            *holders, name = attribute.split(".")
            holder: Any = import_module(f"reference.{module}")
            for each in holders:
                holder = getattr(holder, each)
            setattr(holder, name, function)


# --- shards ---------------------------------------------------------------------------------------------------------

# As they are before anything is exchanged.
_begin, _seed, _elements, _shard = DataLoader2._begin, DataLoader2.seed, Crew.elements, pipe_graph.shard
_begin_workers = MultiProcessingReadingService.initialize_iteration
_seed_of = pipe_seeds.SeedGenerator.of


def _more_than_one(loader: Any) -> Iterator[Any]:
    elements = _begin(loader)
    first = list(islice(elements, 2))
    return chain(first if len(first) > 1 or loader._place.world_size > 1 else [], elements)


class TakesOneForNone(Pipelines):
    """An epoch of one element counts as an empty one. (No public report.)"""

    clause, smallest = "PIPE-1", "n1,w1,b1,pipeline"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _more_than_one}


class ForgetsRanksInWorkers(Pipelines):
    """Workers share the elements among themselves, whatever their rank."""

    clause, smallest = "PIPE-1", "n1,w2,b1,k1,pipeline"
    report = "pytorch/data#352"
    related = ("PIPE-2", "PIPE-3", "PIPE-12", "PIPE-14")
    changes: ClassVar[dict[str, Any]] = {
        "pipelines.workers:shard": lambda pipe, place, workers, worker: _shard(pipe, Place(), workers, worker)
    }


def _workers_first(pipe: Any, place: Place, workers: int, worker: int) -> None:
    # Of fewer elements than shards some rank has none: then a race decides what the others read before they end.
    if any(each.count < workers * place.world_size for each in walk(pipe) if isinstance(each, Source)):
        _shard(pipe, place, workers, worker)
        return
    for each in walk(pipe):
        if hasattr(each, "apply_sharding"):
            each.apply_sharding(workers * place.world_size, worker + workers * place.rank)


class CountsWorkersBeforeRanks(Pipelines):
    """A rank's elements depend on its number of workers."""

    clause, smallest = "PIPE-2", "n4,w2,b1,k2,pipeline"
    report = "pytorch/data#911"
    changes: ClassVar[dict[str, Any]] = {"pipelines.workers:shard": _workers_first}


def _last_round_backwards(crew: Any) -> Iterator[Any]:
    begun: list[Any] = []
    for element in _elements(crew):
        begun.append(element)
        if len(begun) == len(crew.workers):
            yield from begun
            begun.clear()
    yield from reversed(begun)


class MergesTheRestBackwards(Pipelines):
    """Where workers have not equally many, the last ones come in reverse. (No public report.)"""

    clause, smallest = "PIPE-9", "n2,w1,b1,k3,pipeline"
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:Crew.elements": _last_round_backwards}


def _chunk_by_chunk(crew: Any) -> Iterator[Any]:
    for lane in list(crew.workers):
        while crew._has_one(lane):
            yield crew._take(lane, crew.number)
        if lane.failure is not None:
            raise lane.failure


class MergesWorkerAfterWorker(Pipelines):
    """All elements of one worker come before those of the next."""

    clause, smallest = "PIPE-9", "n3,w1,b1,k2,pipeline"
    report = "pytorch/data#911"
    related = ("PIPE-7", "PIPE-12", "PIPE-15", "PIPE-19")
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:Crew.elements": _chunk_by_chunk}


class FiltersWhereItShouldDispatch(Pipelines):
    """Every worker runs what stands before a dispatch, and drops what is not its own."""

    clause, smallest = "PIPE-10", "n1,w1,b1,k2,pipeline,with=dispatch"
    report = "pytorch/data#1131"

    @classmethod
    def pipeline(cls, request: Any) -> Any:
        for pipe in walk(request.datapipe):
            if dispatches(pipe):
                before = pipe.source_datapipe
                source = before.source_datapipe if hasattr(before, "apply_sharding") else before
                replace(request.datapipe, pipe, source.sharding_filter())
        return loaderspec.pipeline(request)


def _until_one_is_over(crew: Any) -> Iterator[Any]:
    while True:
        for lane in crew.workers:
            if crew._has_one(lane):
                yield crew._take(lane, crew.number)
            elif lane.failure is not None:
                raise lane.failure
            else:
                return


class EndsWithTheFirstWorker(Pipelines):
    """An epoch ends when the first worker has no more."""

    clause, smallest = "PIPE-13", "n3,w1,b1,k2,pipeline,with=one"
    report = "pytorch/data#1228"
    changes: ClassVar[dict[str, Any]] = {"pipelines.crew:Crew.elements": _until_one_is_over}


# --- seeds ----------------------------------------------------------------------------------------------------------


def _own_seed(service: Any, seeds: Any, iter_reset_fn: Any = None) -> None:
    service.open()
    seeds.place = service.place


class RanksKeepTheirSeeds(Pipelines):
    """Each rank shuffles by the seed that it was given itself."""

    clause, smallest = "PIPE-3", "n4,w2,b1,shuffle,pipeline,with=own"
    report = "pytorch/data#709"
    changes: ClassVar[dict[str, Any]] = {"reading_service:DistributedReadingService.initialize_iteration": _own_seed}


class WorkersDrawAlike(Pipelines):
    """A shuffle behind the sharding has the same seed in every worker and rank."""

    clause, smallest = "PIPE-4", "n40,w1,b1,k2,pipeline,with=late"
    report = "pytorch/data#885"
    changes: ClassVar[dict[str, Any]] = {
        "pipelines.seeds:SeedGenerator.of": lambda seeds, draw: pipe_seeds.hashed(seeds.epoch_seed, draw.number)
    }


def _added(seeds: Any, draw: Any) -> int:
    if draw.scope is not pipe_seeds.Scope.WORKER:
        return _seed_of(seeds, draw)
    return pipe_seeds.hashed(seeds.epoch_seed, draw.number, seeds.place.rank + (seeds.worker or 0))


class AddsRankAndWorker(Pipelines):
    """The seed behind the sharding is that of the epoch, plus the rank, plus the worker. (No public report.)"""

    clause, smallest = "PIPE-4", "n80,w2,b1,k2,pipeline,with=late"
    changes: ClassVar[dict[str, Any]] = {"pipelines.seeds:SeedGenerator.of": _added}


def _from_the_first_epoch(loader: Any) -> Any:
    loader._epoch = 0 if loader._seed is not None else loader._epoch
    return _begin(loader)


class RepeatsItsOrder(Pipelines):
    """After one call of seed() all epochs have the same order. (No public report.)"""

    clause, smallest = "PIPE-5", "n20,w1,b1,shuffle,e2,pipeline,with=reseed"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _from_the_first_epoch}


def _seed_only(loader: Any, seed: int) -> None:
    epoch = loader._epoch
    _seed(loader, seed)
    loader._epoch = epoch


class SeedsWithoutBeginningAnew(Pipelines):
    """A seed that is set again goes on with the epochs that it had before. (No public report.)"""

    clause, smallest = "PIPE-5", "n20,w1,b1,shuffle,pipeline,with=reseed"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2.seed": _seed_only}


def _without_drawing(loader: Any) -> Any:
    state = torch.get_rng_state()
    try:
        return _begin(loader)
    finally:
        torch.set_rng_state(state)


class RepeatsWithoutASeed(Pipelines):
    """Where nobody calls seed(), every epoch has the same order. (No public report.)"""

    clause, smallest = "PIPE-6", "n20,w1,b1,shuffle,e2,pipeline,with=unseeded"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _without_drawing}


def _as_if_none_had_been_left(loader: Any) -> Any:
    if loader._elements is None:
        loader._drawn_from = torch.get_rng_state()
    else:
        torch.set_rng_state(loader._drawn_from)
        loader._epoch -= 1
    return _begin(loader)


class CountsWhatCameToItsEnd(Pipelines):
    """An epoch that is left is none: the next one has its order. (No public report.)"""

    clause, smallest = "PIPE-6", "n20,w1,b1,shuffle,e2,pipeline,leave@10,with=unseeded"
    changes: ClassVar[dict[str, Any]] = {"dataloader2:DataLoader2._begin": _as_if_none_had_been_left}


def _with_their_number(service: Any, seeds: Any, iter_reset_fn: Any = None) -> Any:
    if service.num_workers:
        seeds.seed(pipe_seeds.hashed(seeds.epoch_seed, service.num_workers))
    return _begin_workers(service, seeds, iter_reset_fn)


class SeedsByTheNumberOfWorkers(Pipelines):
    """Another number of workers gives another order. (No public report.)"""

    clause, smallest = "PIPE-7", "n2,w1,b1,shuffle,k1,s1,pipeline,alone"
    changes: ClassVar[dict[str, Any]] = {
        "reading_service:MultiProcessingReadingService.initialize_iteration": _with_their_number
    }


class CutsSeeds(Pipelines):
    """Of a seed that is no number of 64 bits, the last 64 bits are taken. (No public report.)"""

    clause, smallest = "PIPE-8", "n1,w1,b1,pipeline,with=bounds"
    changes: ClassVar[dict[str, Any]] = {
        "dataloader2:DataLoader2.seed": lambda loader, seed: _seed(loader, seed % 2**64)
    }


class RefusesLargeSeeds(Pipelines):
    """A seed must fit into 63 bits. (No public report.)"""

    clause, smallest = "PIPE-8", "n1,w1,b1,pipeline,with=bounds"
    changes: ClassVar[dict[str, Any]] = {
        "dataloader2:DataLoader2.seed": lambda loader, seed: _seed(loader, seed if seed < 2**63 else -1)
    }
