"""Decides what the graph functions of torchdata do, with which services of users' own find and exchange pipes.

A graph is what torch's `traverse_dps(end)` returns: {id: (pipe, graph of what stands before it)}.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from torch.utils.data.graph import traverse_dps

from ..rules.checks import show
from .graph import Pipe, replace
from .seeds import Scope, SeedGenerator, found_in_worker, is_random, seed_pipes

Graph = dict[int, tuple[Pipe, Any]]


def _all(graph: Graph) -> Iterator[Pipe]:
    for pipe, before in graph.values():
        yield pipe
        yield from _all(before)


def list_dps(graph: Graph, exclude_dps: Pipe | Iterable[Pipe] | None = None) -> list[Pipe]:
    """All pipes of a graph, each once, the end first; without those excluded, and what stands before them."""
    if exclude_dps is None:
        excluded: list[Pipe] = []
    else:
        excluded = list(exclude_dps) if isinstance(exclude_dps, list | tuple | set) else [exclude_dps]
    left_out = {id(pipe) for end in excluded for pipe in _all(traverse_dps(end))}
    return list({id(pipe): pipe for pipe in _all(graph) if id(pipe) not in left_out}.values())


def find_dps(graph: Graph, dp_type: type[Any]) -> list[Pipe]:
    """The pipes of a graph that are of exactly this type, each once."""
    return [pipe for pipe in list_dps(graph) if type(pipe) is dp_type]


def replace_dp(graph: Graph, old_datapipe: Pipe, new_datapipe: Pipe) -> Graph:
    """Put a pipe in the place of another one, which may stand before it; return the graph as it is then."""
    return traverse_dps(replace(_end(graph), old_datapipe, new_datapipe))


def remove_dp(graph: Graph, datapipe: Pipe) -> Graph:
    """Take a pipe out; return the graph as it is then. Raises RuntimeError unless one pipe stands before it."""
    ((_, before),) = traverse_dps(datapipe).values()
    if len(before) != 1:
        what = "is a source" if not before else f"joins {len(before)} pipes"
        raise RuntimeError(f"{datapipe} {what}, so nothing could take its place: exchange it by replace_dp.")
    return replace_dp(graph, datapipe, _end(before))


def _end(graph: Graph) -> Pipe:
    if len(graph) != 1:
        raise ValueError(f"The graph has {len(graph)} ends, but one is wanted: give what traverse_dps(end) returns.")
    return next(iter(graph.values()))[0]


def set_datapipes_seed(datapipes: Iterable[Pipe], seed_generator: SeedGenerator, distributed_shared: bool) -> None:
    """Give each random pipe of a list a seed of its own: one that all processes share, or not."""
    for pipe in filter(is_random, datapipes):
        shared = seed_generator.generate_shared_seed if distributed_shared else seed_generator.generate_seed
        pipe.set_seed(shared())


def set_graph_random_seed(datapipe: Pipe, seed_generator: SeedGenerator) -> Pipe:
    """Seed a graph as the loader does: shared before a `sharding_filter`, else by worker. Return its end."""
    if not isinstance(seed_generator, SeedGenerator):
        raise TypeError(f"seed_generator is {show(seed_generator)}, but a SeedGenerator is wanted.")
    seed_pipes(found_in_worker(datapipe, Scope.WORKER, False), seed_generator)
    return datapipe
