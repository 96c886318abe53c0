"""Decides how tensors are found in what a model takes and gives: one by one, or in tuples, lists, dicts, custom types.

A custom type is one that was registered with `registerCustomArgParser`. Whatever else stands between the tensors (None,
a number, a text) is left as it is on the way in; on the way out only None may stand there, for nothing else can be
joined.
"""

from collections.abc import Callable, Iterator
from typing import Any

import torch

from ..ahead.layout import parsers
from ..loading.collate import rebuilt
from ..rules.checks import show

Tensors = list[torch.Tensor]


def found_in(value: Any) -> Iterator[torch.Tensor]:
    """Yield the tensors of a value, in order."""
    return (tensor for _, tensor in places_in(value))


def places_in(value: Any, name: str = "result") -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors of a value with their places, `result[0]['loss']` for example, in order."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif type(value) in parsers():
        for number, tensor in enumerate(parsers()[type(value)].yieldTensors(value)):
            yield f"{name}<{number}>", tensor
    elif isinstance(value, dict | list | tuple):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places_in(each, f"{name}[{key!r}]")


def mapped(value: Any, change: Callable[[torch.Tensor], torch.Tensor]) -> Any:
    """Return the value with every tensor changed."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if type(value) in parsers():
        parser = parsers()[type(value)]
        return parser.reconstruct(value, map(change, parser.yieldTensors(value)))
    if isinstance(value, dict):
        return rebuilt(value, {key: mapped(each, change) for key, each in value.items()})
    if isinstance(value, list | tuple):
        return rebuilt(value, [mapped(each, change) for each in value])
    return value


def combined(values: list[Any], combine: Callable[[Tensors], torch.Tensor]) -> Any:
    """Return one value of the same structure whose tensors are combined of those that stand in the same place.

    Raises TypeError for a part that is neither tensor nor None.
    """
    first = values[0]
    if isinstance(first, torch.Tensor):
        return combine(values)
    if type(first) in parsers():
        parser = parsers()[type(first)]
        places = zip(*(parser.yieldTensors(each) for each in values), strict=True)
        return parser.reconstruct(first, (combine(list(each)) for each in places))
    if isinstance(first, dict):
        return rebuilt(first, {key: combined([each[key] for each in values], combine) for key in first})
    if isinstance(first, list | tuple):
        return rebuilt(first, [combined(list(each), combine) for each in zip(*values, strict=True)])
    if first is None:
        return None
    raise TypeError(
        f"The model returns {show(first)} of type {type(first).__name__}, but results of several micro-batches are "
        f"joined, which only tensors can be: return tensors, or tuples, lists and dicts of them."
    )
