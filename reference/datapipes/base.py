"""What pipes have in common: what of them is copied, and how a user's function is given an element."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch.utils.data import IterDataPipe


def without(pipe: IterDataPipe[Any], **instead: Any) -> Any:
    """The state of a pipe to copy: what belongs to one process stays there."""
    state = {**vars(pipe), **instead}
    return IterDataPipe.getstate_hook(state) if IterDataPipe.getstate_hook is not None else state


@dataclass(frozen=True)
class Kept:
    """Elements that a pipe keeps: a search for pipes in its attributes must not look at each of them."""

    elements: Any


def applied(function: Callable[..., Any], element: Any, columns: Any) -> Any:
    """What the function makes of an element: of all of it, of one column, or of several as arguments."""
    if columns is None:
        return function(element)
    if isinstance(columns, list | tuple):
        return function(*(element[column] for column in columns))
    return function(element[columns])
