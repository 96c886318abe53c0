"""Decides what a state of the loader is, and how an epoch that was stopped is resumed.

A state is two numbers, the epoch and the steps that the consumer was given, and what they count in: one that cuts steps
of another size counts other samples. What was read ahead was given to nobody, and is read again.

    taken                        epoch, steps      the next iteration
    before the first iter()      0, 0              epoch 0
    after k steps of epoch e     e, k              the rest of epoch e
    after the end of epoch e     e + 1, 0          epoch e + 1
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterableDataset

from ..enums import ShuffleMethod
from ..rules.checks import check_integer, check_type, show
from ..rules.shuffle import check_epoch
from .request import LoaderRequest

_BEFORE: Mapping[str, object] = {"shuffle method": ShuffleMethod.Sort.name}
"""What holds of states that are older than the choice."""


@dataclass
class Position:
    """How far an epoch was given to the consumer; `is_begun` once somebody iterates over it."""

    epoch: int
    steps: int = 0
    is_begun: bool = False
    is_over: bool = False


class Counted:
    """An epoch under way, each step of which is counted when it is given out."""

    def __init__(self, steps: Iterator[Any], position: Position) -> None:
        self.steps = steps
        self.position = position

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            step = next(self.steps)
        except StopIteration:
            self.position.is_over = True
            raise
        # RESUME-1: here, and not where a worker or the ring has read it.
        self.position.steps += 1
        return step


def state_of(position: Position, counted_in: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of a moment: plain numbers, which nothing changes afterwards (RESUME-6, RESUME-7, RESUME-8)."""
    # RESUME-4: at the end of an epoch there is no rest.
    epoch, steps = (position.epoch + 1, 0) if position.is_over else (position.epoch, position.steps)
    return {"epoch": epoch, "steps": steps, "counted_in": dict(counted_in)}


def position_of(state: Any, counted_in: Mapping[str, Any]) -> Position:
    """Return where a state says to go on. TypeError or ValueError if it is none, or one of another request."""
    check_type("state", state, dict)
    if set(state) != {"epoch", "steps", "counted_in"}:
        raise ValueError(f"The state is {show(state)}, which no loader gave: load what state_dict() returned.")
    for name, mine in counted_in.items():
        theirs = state["counted_in"].get(name, _BEFORE.get(name))
        if theirs != mine:
            # RESUME-11
            raise ValueError(
                f"The state is of a loader with {name} {show(theirs)}, and this one has {show(mine)}, so its steps "
                f"are others: build the loader as it was, or begin the epoch again."
            )
    # RESUME-3: a state of the start skips nothing. RESUME-5: what comes after the rest is counted on from here.
    return Position(check_epoch(state["epoch"]), check_integer("steps", state["steps"], least=0))


def counted_in(asked: LoaderRequest, seed: int) -> dict[str, Any]:
    """Return what the steps of a request depend on; `seed` counts where there is a shuffle. All ranks give the same."""
    is_stream = isinstance(asked.dataset, IterableDataset)
    return {
        "samples": None if is_stream else len(asked.dataset),
        "combined batch": asked.combined_batch,
        "ranks": asked.ranks,
        "drop_last": asked.drop_last,
        "seed": seed if asked.shuffle else None,
        "shuffle method": asked.options.shuffle_method.name if asked.shuffle else ShuffleMethod.Sort.name,
        # Their number is part of a stream's order, and of no other.
        "workers": asked.workers if is_stream else None,
    }
