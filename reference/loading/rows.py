"""Takes all samples of a step at once: decides when that is the same as reading sample after sample.

It is where the dataset is torch's own `TensorDataset`, of which a step is rows, and the batch is made by the rule of
`collate`. A fast path of `faults.Source`; `tests/reference/loading/test_rows.py` shows that both ways give the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils.data import TensorDataset, get_worker_info

from .collate import collate


@dataclass(frozen=True, slots=True)
class Rows:
    """A step that is a batch already."""

    batch: tuple[torch.Tensor, ...]


def tensors_at_once(dataset: Any, collate_fn: Callable[[Any], Any]) -> tuple[torch.Tensor, ...] | None:
    """Return the tensors whose rows are the samples; None for any other dataset, or batches of the user's own."""
    if type(dataset) is not TensorDataset or collate_fn is not collate or not dataset.tensors:
        return None
    return dataset.tensors if all(map(_is_plain, dataset.tensors)) else None


def _is_plain(tensor: torch.Tensor) -> bool:
    is_dense = type(tensor) is torch.Tensor and tensor.layout is torch.strided and tensor.device.type == "cpu"
    return is_dense and not tensor.requires_grad


def take(tensors: Sequence[torch.Tensor], indices: list[Any]) -> Rows | None:
    """Return the samples with these indices as a batch; None where an index is none, which is then read to say so."""
    rows = len(tensors[0])
    if not indices or not all(type(index) is int and -rows <= index < rows for index in indices):
        return None
    made = tuple(_room(tensor, len(indices)) for tensor in tensors)
    put(tensors, indices, made)
    return Rows(made)


def put(tensors: Sequence[torch.Tensor], indices: list[int], places: Sequence[torch.Tensor]) -> None:
    """Copy the rows with these indices to the beginning of the places, with one pass over the memory."""
    count, first, rows = len(indices), indices[0], len(tensors[0])
    is_run = indices == list(range(first, first + count)) and first >= 0
    wanted = torch.tensor(indices)
    wanted[wanted < 0] += rows
    for tensor, place in zip(tensors, places, strict=True):
        if is_run:
            place[:count].copy_(tensor[first : first + count])
        else:
            torch.index_select(tensor, 0, wanted, out=place[:count])


def _room(tensor: torch.Tensor, count: int) -> torch.Tensor:
    """Return a tensor for so many rows; in a worker in shared memory, where the consumer finds it without a copy."""
    shape = (count, *tensor.shape[1:])
    if get_worker_info() is None:
        return torch.empty(shape, dtype=tensor.dtype)
    size = torch.Size(shape).numel() * tensor.element_size()
    storage: torch.UntypedStorage = torch.UntypedStorage._new_shared(size)  # type: ignore[no-untyped-call]
    return torch.empty(0, dtype=tensor.dtype).set_(storage).view(shape)
