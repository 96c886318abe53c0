"""Decides how a graph of DataPipes is read, cut and sharded.

A graph is found by following the attributes of a pipe, and the lists, tuples, sets and dicts in them, to other pipes.
Nothing is pickled for that, so a pipe that holds a lambda or an open file can be followed too.

    dispatched   what stands before `sharding_round_robin_dispatch`: one process of each rank
    replicable   the largest branch of which every pipe may be copied: each worker has a copy
    the rest     what stands after a pipe that may not be copied (`fullsync`): the main process

Shards: element i that comes to a sharding pipe belongs to rank i mod R, and there to worker (i div R) mod W.
"""

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterDataPipe, MapDataPipe
from torch.utils.data.datapipes.iter import IterableWrapper
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES

_IS_CHILD = "_is_child_datapipe"
_PLACE, _IS_SHARDED, _IS_SHARED_OUT = "loader_place", "loader_is_sharded", "loader_is_shared_out"

_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})

Pipe = Any
"""An IterDataPipe or MapDataPipe of torch; their own attributes are what is of interest here."""


@dataclass(frozen=True)
class Place:
    """Which rank this is, of how many."""

    rank: int = 0
    world_size: int = 1


def sources(pipe: Pipe) -> list[Pipe]:
    """The pipes that this one holds, in the order of its attributes."""
    # What is wrapped is data, and may be long.
    return [] if isinstance(pipe, IterableWrapper) else list(_held(vars(pipe)))


def _held(value: Any) -> Iterator[Pipe]:
    # Most attributes are plain values; whether they are pipes is dear to ask.
    if type(value) in _PLAIN:
        return
    if isinstance(value, IterDataPipe | MapDataPipe):
        yield value
    elif isinstance(value, dict | list | tuple | set | frozenset):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _held(each)


def walk(end: Pipe) -> list[Pipe]:
    """All pipes of the graph that ends here, each once: the end first, then what stands before it, breadth first."""
    found = {id(end): end}
    queue = [end]
    for pipe in queue:
        for source in sources(pipe):
            if id(source) not in found:
                found[id(source)] = source
                queue.append(source)
    return queue


def replace(end: Pipe, old: Pipe, new: Pipe) -> Pipe:
    """Put a pipe in the place of another, wherever the graph holds it; return the end of the graph."""
    for pipe in walk(end):
        if pipe is not new:
            for name, value in list(vars(pipe).items()):
                if any(held is old for held in _held(value)):
                    pipe.__dict__[name] = _swapped(value, old, new)
    return new if end is old else end


def _swapped(value: Any, old: Pipe, new: Pipe) -> Any:
    if value is old:
        return new
    if isinstance(value, dict):
        return {key: _swapped(each, old, new) for key, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return type(value)([_swapped(each, old, new) for each in value])
    return value


def copied(end: Pipe) -> Pipe:
    """A copy of the graph, so that the loader and the user's own pipes do not disturb each other."""
    try:
        return copy.deepcopy(end)
    except TypeError as error:
        raise TypeError(
            f"The pipeline can't be copied ({error}), and a loader works on a copy: let its source be something that "
            f"can be read more than once (a list, a class with __iter__), not a generator or an open file."
        ) from error


def ready_for_steps(end: Pipe) -> None:
    """Let the pipes of a graph answer at once what torch asks each of them in every step: are you a part of a `fork`?

    A pipe that lacks the attribute answers by an AttributeError, which takes a third of a cheap pipeline's time.
    """
    for pipe in walk(end):
        if not hasattr(type(pipe), _IS_CHILD):
            setattr(pipe, _IS_CHILD, False)


def shards(pipe: Pipe) -> bool:
    """Whether the pipe yields a part of what comes to it, as torch's `sharding_filter` does."""
    return callable(getattr(type(pipe), "apply_sharding", None))


def dispatches(pipe: Pipe) -> bool:
    """Whether what stands before the pipe runs in one process only."""
    return bool(getattr(type(pipe), "dispatches", False))


def check_sharding(end: Pipe) -> None:
    """Raise RuntimeError if an element would be sharded twice on its way."""
    queue: list[tuple[Pipe, Pipe | None]] = [(end, None)]
    seen = set()
    while queue:
        pipe, behind = queue.pop()
        if (id(pipe), id(behind)) in seen:
            continue
        seen.add((id(pipe), id(behind)))
        if shards(pipe) or dispatches(pipe) or bool(vars(pipe).get(_IS_SHARED_OUT)):
            # PIPE-18: before a dispatch a filter shards over ranks only, and the dispatch over workers only.
            if behind is not None and not (shards(pipe) and dispatches(behind)):
                raise RuntimeError(
                    f"Sharding twice on one path loses elements: {pipe} stands before {behind}. "
                    f"Keep the one that is nearest to the source, and take the other out."
                )
            behind = pipe
        queue.extend((source, behind) for source in sources(pipe))


def set_place(end: Pipe, place: Place) -> None:
    """Write on the graph which rank it belongs to. All code that gets the graph finds it, also after other services."""
    end.__dict__[_PLACE] = place


def place_of(end: Pipe) -> Place:
    """The rank that is written on the graph, or the only one."""
    return next((vars(pipe)[_PLACE] for pipe in walk(end) if _PLACE in vars(pipe)), Place())


def set_shared_out(pipe: Pipe, by: Pipe) -> None:
    """Write on a pipe that stands for the graph `by` whether that shares elements out."""
    pipe.__dict__[_IS_SHARED_OUT] = any(shards(each) or dispatches(each) for each in walk(by))


def shard(end: Pipe, place: Place, workers: int, worker: int) -> None:
    """Tell every sharding pipe of the graph which elements are its own. A pipe that was told so is left alone."""
    for pipe in walk(end):
        if not shards(pipe) or _IS_SHARDED in vars(pipe):
            continue
        pipe.__dict__[_IS_SHARDED] = True
        rank, ranks = place.rank, place.world_size
        by_hand = getattr(pipe, "groups", None)
        if by_hand:
            # The user has sharded over ranks before; workers share that shard.
            (more, number) = by_hand.get(SHARDING_PRIORITIES.DISTRIBUTED) or next(iter(by_hand.values()))
            rank, ranks = rank * more + number, ranks * more
            by_hand.clear()
        # PIPE-1, PIPE-2: ranks first, so that the number of workers does not change what a rank gets.
        group, count, number = SHARDING_PRIORITIES.DEFAULT, ranks * workers, rank + ranks * worker
        wanted = getattr(pipe, "sharding_group_filter", None)
        if wanted == SHARDING_PRIORITIES.DISTRIBUTED:
            group, count, number = wanted, ranks, rank
        elif wanted == SHARDING_PRIORITIES.MULTIPROCESSING:
            group, count, number = wanted, workers, worker
        extra = (group,) if len(inspect.signature(pipe.apply_sharding).parameters) > 2 else ()
        pipe.apply_sharding(count, number, *extra)


def adopt_shares(end: Pipe, workers: int, worker: int) -> None:
    """Take over what a worker's initialiser has told the sharding pipes that it added: `shard` is called after it.

    It may have named this worker's share, as the loader does. A user who named another share means just that.
    """
    for pipe in walk(end):
        groups = getattr(pipe, "groups", None) if shards(pipe) and _IS_SHARDED not in vars(pipe) else None
        for group in (SHARDING_PRIORITIES.MULTIPROCESSING, SHARDING_PRIORITIES.DEFAULT):
            if groups and group in groups:
                if groups[group] == (workers, worker):
                    del groups[group]
                else:
                    pipe.__dict__[_IS_SHARDED] = True


def dispatched_part(end: Pipe) -> Pipe | None:
    """The end of what one process must run for all workers: the nearest pipe with every dispatch before it."""
    wanted = {id(pipe) for pipe in walk(end) if dispatches(pipe)}
    if not wanted:
        return None
    reaches = [pipe for pipe in walk(end) if wanted <= {id(each) for each in walk(pipe)}]
    return min(reaches, key=lambda pipe: len(walk(pipe)))


def replicable_parts(end: Pipe) -> list[Pipe]:
    """The ends of the branches of which every pipe may be copied, each as large as it can be."""
    dispatched = dispatched_part(end)
    exempt = {id(pipe) for pipe in walk(dispatched)} if dispatched is not None else set()
    parts: dict[int, Pipe] = {}
    queue = [end]
    for pipe in queue:
        if all(id(each) in exempt or _is_replicable(each) for each in walk(pipe)):
            parts[id(pipe)] = pipe
        else:
            queue.extend(sources(pipe))
    return list(parts.values())


def replicable_part(end: Pipe) -> Pipe | None:
    """The end of the branch that workers may copy, or None if there is none. ValueError if there are several."""
    parts = replicable_parts(end)
    if len(parts) > 1:
        raise ValueError(
            f"{' and '.join(map(str, parts))} meet in a pipe that may not be copied, and workers can run one branch "
            f"only: join the branches before that pipe, or let num_workers be 0."
        )
    return parts[0] if parts else None


def _is_replicable(pipe: Pipe) -> bool:
    return not callable(getattr(type(pipe), "is_replicable", None)) or bool(pipe.is_replicable())
