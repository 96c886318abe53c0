"""Batches that the loop still has: decides whether one of them was written over by a later batch.

A loader that fills the same memory for each batch is right as long as nobody keeps one. Of the last batches a digest of
their tensors is kept, and where they lie; when a later batch lies there too, the loop still has the tensor, and its
numbers are others, it was written over. The latest batches do not count: the loop's variables have them until the next
one is theirs.
"""

import gc
import weakref
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from conformance.records.content import digest

_BATCHES, _TENSORS = 16, 4  # that are kept in mind, and of each
_BYTES = 4096  # of a tensor that are looked at
_SURE = 2  # so many were written over, and more will be


class _Tensor(NamedTuple):
    step: int
    held: Any  # a weak reference
    first: int  # its first byte, and the one behind its last
    end: int
    digest: bytes


class Kept:
    """What is known of the last batches of one epoch; `written_over` are the steps that were, and by which."""

    def __init__(self) -> None:
        self.written_over: dict[int, int] = {}
        self._last: deque[_Tensor] = deque(maxlen=_BATCHES * _TENSORS)

    def came(self, step: int, tensors: list[Any]) -> None:
        """A batch is about to be the loop's: look at those before the latest one, and keep its tensors in mind."""
        new = [_seen(step, tensor) for tensor in tensors]
        under = [one for one in self._last if any(one.first < each.end and each.first < one.end for each in new)]
        # A loop that has the next batch already may have the one before the latest in a variable, and need it no more.
        one_memory = any(one.step == step - 1 for one in under)
        for one in under:
            if one.step < step - (1 if one_memory else 2) and self._has_changed(one):
                self.written_over.setdefault(one.step, step)
        self._last.extend(new)

    def _has_changed(self, one: _Tensor) -> bool:
        """Whether the loop has the tensor, and it has other numbers. What waits for a collection nobody has."""
        if len(self.written_over) < _SURE and one.held() is not None:
            gc.collect()
        tensor = one.held()
        return tensor is not None and _digest(tensor) != one.digest


def tensors_of(batch: Any) -> list[Any]:
    """The first tensors of a batch that lie in this machine's memory, one number behind the other."""
    import torch

    found: list[Any] = []
    for each in _members(batch):
        # One of a class of its own may be anything.
        is_here = type(each) is torch.Tensor and each.device.type == "cpu" and each.layout is torch.strided
        if is_here and each.is_contiguous() and each.numel():
            found.append(each)
        if len(found) == _TENSORS:
            break
    return found


def _members(batch: Any) -> Iterator[Any]:
    parts = list(batch.values()) if isinstance(batch, dict) else batch
    if not isinstance(parts, (list, tuple)):
        yield parts
        return
    for part in parts[:_TENSORS]:
        yield from _members(part)


def _seen(step: int, tensor: Any) -> _Tensor:
    first = int(tensor.data_ptr())
    return _Tensor(step, weakref.ref(tensor), first, first + tensor.numel() * tensor.element_size(), _digest(tensor))


def _digest(tensor: Any) -> bytes:
    flat = tensor.detach().reshape(-1)
    return digest(flat[:: max(1, flat.numel() * flat.element_size() // _BYTES)])
