"""Decides how an epoch begins in one process: its graph is seeded, then functions of users may change it.

What they add is seeded too, and so is a shuffle that what they added gives another scope: a `sharding_filter` after it
means that it must be the same in all processes. What they leave alone keeps its seed, or the one that they gave it.
"""

from collections.abc import Callable
from typing import Any

from torch.utils.data import IterDataPipe

from ..rules.checks import show
from .graph import Pipe, check_sharding
from .seeds import Found, SeedGenerator, seed_pipes

Change = Callable[[Pipe], Any]
"""A function of a user's: it returns the graph to use, or None if it has changed it in place, or not at all."""


def checked(pipe: Any, who: str) -> Pipe:
    """Return what a function of the user's has returned. Raises TypeError unless it is a graph."""
    if not isinstance(pipe, IterDataPipe):
        raise TypeError(
            f"{who} returned {show(pipe)} of type {type(pipe).__name__}, but the end of the graph that shall be "
            f"iterated is wanted: end it with `return datapipe`."
        )
    return pipe


def begun(pipe: Pipe, seeds: SeedGenerator, changes: list[Change | None], find: Callable[[Pipe], Found]) -> Pipe:
    """Seed the graph for an epoch, let it be changed, and return what is to be iterated. `find` looks scopes up."""
    found = find(pipe)
    seed_pipes(found, seeds)
    for change in filter(None, changes):
        changed = change(pipe)
        pipe = pipe if changed is None else checked(changed, "A function that changes the graph for an epoch")
    if any(changes):
        # PIPE-3, PIPE-18
        check_sharding(pipe)
        seed_pipes(find(pipe), seeds, already=found)
    return pipe
