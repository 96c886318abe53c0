"""Writes steps straight into a slot: decides when that is the same as collating first, and copying then.

A fast path of `supply.Batches`; `tests/reference/test_gather.py` shows that both ways give the same.
"""

from typing import Any

import numpy as np
import torch
from torch.utils.data import TensorDataset

from .collate import collate
from .faults import Failure, Source
from .layout import Layout


def tensors_to_gather(dataset: Any, layout: Layout) -> list[torch.Tensor] | None:
    """Return the tensors of a TensorDataset, of which a step takes rows; None for any other dataset."""
    if type(dataset) is not TensorDataset or layout.structure != _structure(len(dataset.tensors)):
        return None
    return [tensor.detach() for tensor in dataset.tensors]


def _structure(count: int) -> str:
    return f"tuple({', '.join(f'{number}: tensor' for number in range(count))})"


def gather(tensors: list[torch.Tensor], indices: list[int], views: list[torch.Tensor]) -> tuple[int, ...] | None:
    """Copy the rows with these indices into the slot, with one pass over the memory."""
    count, first = len(indices), indices[0]
    is_run = indices == list(range(first, first + count)) and first >= 0
    wanted = torch.tensor(indices)
    wanted[wanted < 0] += len(tensors[0])
    for tensor, view in zip(tensors, views, strict=True):
        if is_run:
            view[:count].copy_(tensor[first : first + count])
        else:
            torch.index_select(tensor, 0, wanted, out=view[:count])
    return None if all(count == len(view) for view in views) else (count,) * len(views)


def put_samples(
    source: Source, indices: list[int], layout: Layout, views: list[torch.Tensor], number: int
) -> tuple[int, ...] | Failure | None:
    """Read sample after sample, and write each into its row of the slot as soon as it is read."""
    columns: list[list[Any]] = [[] for _ in views]
    for row, index in enumerate(indices):
        # WORK-2: read once; WORK-16: and copied at once, so the dataset may use its buffer again.
        sample = source.read(index)
        if isinstance(sample, Failure):
            return sample
        values = list(_values(layout.shell, sample, number))
        for column, view, value in zip(columns, views, values, strict=True):
            if not _written(view, row, value):
                column.append(value.clone() if isinstance(value, torch.Tensor) else value)
    for place, column in enumerate(columns):
        if column:
            _put_column(column, len(indices), layout, views, place, number)
    return None if all(len(indices) == len(view) for view in views) else (len(indices),) * len(views)


def _written(view: torch.Tensor, row: int, value: Any) -> bool:
    """Write a value into its row if it is a tensor that fits there."""
    if isinstance(value, torch.Tensor) and value.dtype == view.dtype and value.shape == view.shape[1:]:
        view[row].copy_(value)
        return True
    return False


def _put_column(
    column: list[Any], count: int, layout: Layout, views: list[torch.Tensor], place: int, number: int
) -> None:
    """Collate what did not fit a row by itself (numbers do not), by the rule of `collate`."""
    if len(column) != count:
        where = layout.leaves[place].path or "their top"
        raise TypeError(
            f"The samples of item {number} differ in type, dtype or shape at {where}: let the dataset return them "
            f"alike, or give a collate_fn."
        )
    tensor = collate(column)
    layout.check(layout.leaves[place], tensor, number)
    views[place][:count].copy_(tensor)


def _values(shell: Any, sample: Any, number: int) -> Any:
    """Yield the values of a sample in the order of the slot; `shell` is built like a sample."""
    if isinstance(shell, torch.Tensor):
        is_array = isinstance(sample, np.ndarray | np.generic) and not isinstance(sample, str | bytes)
        yield collate([sample])[0] if is_array else sample
        return
    keys = list(shell) if isinstance(shell, dict) else range(len(shell))
    alike = type(sample) is type(shell) and len(sample) == len(shell)
    if not alike or (isinstance(shell, dict) and set(sample) != set(shell)):
        raise TypeError(
            f"A sample of item {number} is a {type(sample).__name__} that is not built like the first item "
            f"({type(shell).__name__} of {len(shell)}): let the dataset return samples alike, or give a collate_fn."
        )
    for key in keys:
        yield from _values(shell[key], sample[key], number)
