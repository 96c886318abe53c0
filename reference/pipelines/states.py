"""Decides what a loader of pipelines remembers of a stopped epoch, and what of that a restart must find again.

A position is the epoch's seed and how many of its elements the consumer was given; what workers have read ahead does
not count. A restart begins the epoch with that seed, and reads those elements once more without giving them out: pipes
hold state that can't be taken out of them. So it costs what reading them costs, and it needs a pipeline that gives the
same elements for the same seed.
"""

import copy
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from torch.utils.data.datapipes.iter import IterableWrapper

from ..rules.checks import check_integer, show
from .graph import Pipe, walk
from .seeds import MOST_SEED

_PIPE, _VERSION = "datapipe", 1


@dataclass(frozen=True)
class Position:
    """Where a loader stands. `seed`: what `seed(n)` said; `epoch`: how many epochs were begun since.

    `epoch_seed` and `read`: of the epoch that was stopped, or None and 0 between two epochs. `world_size`: of the job.
    """

    seed: int | None = None
    epoch: int = 0
    epoch_seed: int | None = None
    read: int = 0
    world_size: int | None = None

    def is_first_of(self, seed: int) -> bool:
        """Whether the stopped epoch is the first one after this call of `seed`."""
        return self.epoch_seed is not None and self.seed == seed and self.epoch == 1


def shape_of(end: Pipe) -> Pipe:
    """A copy of a graph that shares with it the data which are wrapped: they may be large, and nobody changes them."""
    wrapped = [pipe.iterable for pipe in walk(end) if isinstance(pipe, IterableWrapper)]
    return copy.deepcopy(end, {id(each): each for each in wrapped})


def written(position: Position, end: Pipe) -> dict[str, Any]:
    """The state of a loader: plain data, and the graph as bytes, or None where it can't be pickled."""
    try:
        data: bytes | None = pickle.dumps(end)
    except Exception:
        # The loader that is made of the same program has the graph.
        data = None
    return {"version": _VERSION, _PIPE: data, **asdict(position)}


def position_in(state: Any) -> Position:
    """Read a state. Raises TypeError, ValueError or KeyError if it is none."""
    if not isinstance(state, Mapping):
        raise TypeError(f"The state is {show(state)}, but what state_dict() returned is wanted.")
    if state.get("version") != _VERSION:
        # RESUME-11
        raise ValueError(
            f"The state is of version {show(state.get('version'))}, but this loader reads version {_VERSION}: take a "
            f"state of a DataLoader2 of this package."
        )
    position = Position(**{each.name: state[each.name] for each in fields(Position)})
    for name in ("seed", "epoch_seed"):
        if getattr(position, name) is not None:
            check_integer(name, getattr(position, name), least=0, most=MOST_SEED)
    check_integer("epoch", position.epoch, least=0)
    check_integer("read", position.read, least=0)
    return position


def graph_in(state: Mapping[str, Any]) -> Pipe:
    """The graph in a state. Raises ValueError if it has none."""
    if state.get(_PIPE) is None:
        raise ValueError(
            "The state has no pipeline, because it could not be pickled (a lambda, say): make a DataLoader2 as the "
            "program that took the state did, and call load_state_dict on it."
        )
    return pickle.loads(state[_PIPE])


def check_place(position: Position, world_size: int) -> None:
    """Raise ValueError if an epoch was stopped on another number of ranks than that which continues with it."""
    if position.world_size != world_size:
        # RESUME-11
        raise ValueError(
            f"The state was taken on {position.world_size} ranks, but this job has {world_size}, so each rank would "
            f"skip other elements than were delivered: continue with as many ranks, or begin a new epoch."
        )


def skip(elements: Iterator[Any], count: int) -> None:
    """Read what was delivered before. Raises ValueError if there is less of it."""
    for number in range(count):
        try:
            next(elements)
        except StopIteration:
            # RESUME-11
            raise ValueError(
                f"The state was taken after {count} elements of an epoch, but this epoch has only {number}: is it "
                f"the same pipeline, over the same data?"
            ) from None
