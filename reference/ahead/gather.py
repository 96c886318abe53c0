"""Writes steps straight into a slot: decides when that is the same as collating first, and copying then.

A fast path of `supply.Batches`; `tests/reference/ahead/test_gather.py` shows that both ways give the same.
"""

from typing import Any

import numpy as np
import torch
from torch.utils.data import TensorDataset

from ..loading.collate import collate, own
from ..loading.faults import Failure, Source
from ..loading.rows import put
from .layout import Layout, Leaf, layout_of, walk


def tensors_to_gather(dataset: Any, layout: Layout) -> list[torch.Tensor] | None:
    """Return the tensors of a TensorDataset, of which a step takes rows; None for any other dataset."""
    if type(dataset) is not TensorDataset or layout.structure != _structure(len(dataset.tensors)):
        return None
    return [tensor.detach() for tensor in dataset.tensors]


def layout_of_gathered(dataset: TensorDataset, count: int) -> Layout | None:
    """Return the layout of a step of `count` samples, without making one; None if there are no samples."""
    if not len(dataset):
        return None
    return layout_of(tuple(tensor[:1].expand(count, *tensor.shape[1:]) for tensor in dataset.tensors))


def _structure(count: int) -> str:
    return f"tuple({', '.join(f'{number}: tensor' for number in range(count))})"


def gather(tensors: list[torch.Tensor], indices: list[int], views: list[torch.Tensor]) -> tuple[int, ...] | None:
    """Copy the rows with these indices into the slot, with one pass over the memory."""
    count, rows = len(indices), len(tensors[0])
    if not -rows <= min(indices) <= max(indices) < rows:
        # A slice that ends early would be repeated into the slot.
        raise IndexError(
            f"A step asks for the samples {min(indices)} to {max(indices)}, but the dataset has {rows}: "
            f"fix the sampler."
        )
    put(tensors, indices, views)
    return None if all(count == len(view) for view in views) else (count,) * len(views)


def put_samples(
    source: Source, indices: list[int], layout: Layout, views: list[torch.Tensor], number: int
) -> tuple[int, ...] | Failure | None:
    """Read sample after sample, and write each into its row of the slot as soon as it is read."""
    columns: list[list[Any]] = [[] for _ in views]
    kinds: list[type | None] = [None for _ in views]
    for row, index in enumerate(indices):
        # WORK-2: read once; WORK-16: and copied at once, so the dataset may use its buffer again.
        sample = source.read(index)
        if isinstance(sample, Failure):
            return sample
        for place, value in enumerate(_values(layout.shell, sample, number)):
            tensor, kind = _tensor_of(value)
            # WORK-17: a batch has values of one kind, also where another kind would fit the row.
            if _fits(tensor, views[place]) and kinds[place] in (None, kind):
                kinds[place] = kind
                views[place][row].copy_(tensor)
            else:
                columns[place].append(own(value))
    for place, column in enumerate(columns):
        if column:
            _put_column(column, len(indices), layout.leaves[place], layout, views[place], number)
    return None if all(len(indices) == len(view) for view in views) else (len(indices),) * len(views)


def _tensor_of(value: Any) -> tuple[Any, type]:
    """Return the value as a tensor, if it is an array or a number of numpy, and its kind."""
    if isinstance(value, torch.Tensor):
        return value.detach(), torch.Tensor
    is_array = isinstance(value, np.ndarray | np.generic) and not isinstance(value, str | bytes)
    return collate([value])[0] if is_array else value, type(value)


def _fits(tensor: Any, view: torch.Tensor) -> bool:
    if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
        return False
    return tensor.dtype == view.dtype and tensor.shape == view.shape[1:]


def _put_column(column: list[Any], count: int, leaf: Leaf, layout: Layout, view: torch.Tensor, number: int) -> None:
    """Collate what did not fit a row by itself (numbers do not), by the rule of `collate`."""
    if len(column) != count:
        raise TypeError(
            f"The samples of item {number} differ in type, dtype or shape at {leaf.path or 'their top'}: let the "
            f"dataset return them alike, or give a collate_fn."
        )
    batch = collate(column)
    tensors = list(walk(batch, f"Item {number}", leaf.path))
    if not isinstance(batch, torch.Tensor):
        raise TypeError(
            f"Item {number} has at {leaf.path or 'its top'} a {type(batch).__name__} of {len(tensors)} tensors, but in "
            f"the first item it was a tensor: let the dataset return samples alike, or load synchronously."
        )
    layout.check(leaf, batch, number)
    view[:count].copy_(batch.detach())


def _values(shell: Any, sample: Any, number: int) -> Any:
    """Yield the values of a sample in the order of the slot; `shell` is built like a sample."""
    if isinstance(shell, torch.Tensor):
        yield sample
        return
    # As the layout orders them.
    keys = sorted(shell) if isinstance(shell, dict) else range(len(shell))
    alike = type(sample) is type(shell) and len(sample) == len(shell)
    if not alike or (isinstance(shell, dict) and set(sample) != set(shell)):
        raise TypeError(
            f"A sample of item {number} is a {type(sample).__name__} that is not built like the first item "
            f"({type(shell).__name__} of {len(shell)}): let the dataset return samples alike, or give a collate_fn."
        )
    for key in keys:
        yield from _values(shell[key], sample[key], number)
