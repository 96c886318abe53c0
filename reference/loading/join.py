"""Decides how the batches of a user's batch sampler become a step: each is collated alone, and then they are joined.

The rule: a step is built like one of its batches, with all their rows in each place where a batch has a value.

    tensor, array                   joined along the first axis, in the order of the batches, however many rows each has
    tensor or array of no axis      stacked: one value for each batch
    list of text, bytes or None     one list after the other
    None                            None
    tuple, named tuple, list, dict  the same type, place by place; so are types with a parser of their own

Batches that do not agree in type, dtype, size of a row, length or keys are refused, and so are values of other types
(a Python number, for example): nothing is converted, cut or dropped in silence.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from ..ahead.layout import parsers
from ..rules.checks import show
from .collate import check_alike, rebuilt

_LISTED = (str, bytes, type(None))


def join(batches: list[Any]) -> Any:
    """Return the step of these batches, by the rule above. Raises TypeError if they do not agree."""
    first = batches[0]
    _alike([type(batch) for batch in batches], "types")
    if isinstance(first, torch.Tensor):
        _check_rows(batches)
        return torch.cat(batches) if first.dim() else torch.stack(batches)
    if isinstance(first, np.ndarray):
        _check_rows(batches)
        return np.concatenate(batches) if first.ndim else np.stack(batches)
    if type(first) in parsers():
        return _custom(batches)
    if isinstance(first, Mapping):
        _alike([set(batch) for batch in batches], "keys")
        return rebuilt(first, {key: join([batch[key] for batch in batches]) for key in first})
    if isinstance(first, list) and all(isinstance(item, _LISTED) for batch in batches for item in batch):
        return rebuilt(first, [item for batch in batches for item in batch])
    if isinstance(first, list | tuple):
        _alike([len(batch) for batch in batches], "lengths")
        return rebuilt(first, [join(list(place)) for place in zip(*batches, strict=True)])
    if first is None:
        return None
    raise TypeError(
        f"The collate function gives {show(first)} of type {type(first).__name__}, which can't be joined with that of "
        f"the next batch of a step: let it give tensors, arrays, lists of text, and tuples, lists and dicts of them."
    )


def _custom(batches: list[Any]) -> Any:
    """Return an object of a registered type whose tensors are joined, place by place."""
    parser = parsers()[type(batches[0])]
    found = [list(parser.yieldTensors(batch)) for batch in batches]
    _alike([len(tensors) for tensors in found], "numbers of tensors")
    return parser.reconstruct(batches[0], (join(list(place)) for place in zip(*found, strict=True)))


def _check_rows(batches: list[Any]) -> None:
    # WORK-17: joined they would become what one of them is not.
    _alike([batch.dtype for batch in batches], "dtypes")
    _alike([batch.ndim for batch in batches], "numbers of axes")
    _alike([tuple(batch.shape[1:]) for batch in batches], "sizes of a row")


def _alike(found: list[Any], what: str) -> None:
    check_alike(found, what, "batches", "A step joins them: let the collate_fn give all batches alike.")
