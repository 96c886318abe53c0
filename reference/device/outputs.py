"""Decides which results a call of a model returns, and how those of several micro-batches become one.

| mode | what is returned |
|---|---|
| All | the result of every micro-batch (the default in inference) |
| Final | of each replica the last result (the default in training) |
| EveryN | of each replica every n-th result, from the n-th on |
| Sum | of each replica the sum of its results |

What is returned is joined along the first axis, in the order of the layout (DEVICE-2): time first, then replica.
Scalars are stacked; a single one stays a scalar.
"""

from functools import reduce
from operator import add
from typing import Any

import torch

from ..enums import OutputMode
from .errors import ModelError
from .tensors import Tensors, combined

Rows = list[list[Any]]
"""The results of a call: [device iteration x accumulation][replica]."""


def chosen_mode(mode: OutputMode, training: bool) -> OutputMode:
    """Return the mode that Default stands for, and any other as it is."""
    if mode is not OutputMode.Default:
        return mode
    return OutputMode.Final if training else OutputMode.All


def check_period(mode: OutputMode, period: int, times: int) -> None:
    """Raise ModelError unless every n-th of this many results of a replica can be returned without a rest."""
    if mode is OutputMode.EveryN and times % period:
        raise ModelError(
            f"outputMode returns one result in {period}, but a replica makes {times} in a call (device iterations x "
            f"gradient accumulation), which {period} does not divide: give a period that does."
        )


def returned(rows: Rows, mode: OutputMode, period: int) -> Any:
    """Return what a call returns of its results."""
    # DEVICE-6
    if mode is OutputMode.Final:
        rows = rows[-1:]
    elif mode is OutputMode.EveryN:
        rows = rows[period - 1 :: period]
    elif mode is OutputMode.Sum:
        rows = [[combined(list(mine), _sum) for mine in zip(*rows, strict=True)]]
    # DEVICE-2: a row holds the replicas of one time.
    return combined([result for row in rows for result in row], _join)


def _sum(tensors: Tensors) -> torch.Tensor:
    return reduce(add, tensors)


def _join(tensors: Tensors) -> torch.Tensor:
    if len(tensors) == 1:
        return tensors[0]
    return torch.cat(tensors) if tensors[0].dim() else torch.stack(tensors)
