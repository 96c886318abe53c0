"""Datasets: decides whether index 3 means the same sample on two ranks, or in two loaders.

Each rank may have a dataset of its own (`files[rank::world_size]`): then equal indices are different samples, and
nobody may be accused. So a dataset has a print, made of samples of what it holds; another print means another
dataset, unless elements show the same content under one index (`probe` in a worker's facts).
"""

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]
_DEPTH = 4
# Attributes in which equal datasets differ from rank to rank.
_PLACE = {"rank", "local_rank", "global_rank", "process_index", "world_size", "device", "seed", "epoch"}
# This many entries of a long list or array are looked at, evenly spaced; and this many values in all.
_LOOKED_AT = 64
_BUDGET = 4000
_MOST_PARTS = 1000


def base_of(dataset: Any) -> Any:
    """The dataset below torch's Subset and accelerate's shard of an iterable one."""
    while type(dataset).__name__ in ("Subset", "IterableDatasetShard") and hasattr(dataset, "dataset"):
        dataset = dataset.dataset
    return dataset


def base_indices(dataset: Any) -> Indices | None:
    """What index i of a Subset, or of a Subset of one, is in the dataset below; None if the dataset is no Subset."""
    found: Indices | None = None
    while type(dataset).__name__ == "Subset" and hasattr(dataset, "indices"):
        indices = np.asarray(dataset.indices, dtype=np.int64)
        found = indices if found is None else indices[found]
        dataset = dataset.dataset
    return found


def parts_of(dataset: Any) -> list[int] | None:
    """Where each part of torch's ConcatDataset ends; None if it is none, or has too many to tell."""
    ends = getattr(dataset, "cumulative_sizes", None) if is_concat(dataset) else None
    return [int(end) for end in ends] if isinstance(ends, list) and len(ends) <= _MOST_PARTS else None


def is_concat(dataset: Any) -> bool:
    """Whether it joins others, as torch's ConcatDataset does."""
    return any(each.__name__ == "ConcatDataset" for each in type(dataset).__mro__)


def print_of(dataset: Any) -> str:
    """16 letters of what a dataset holds. Equal datasets have equal prints; different ones most likely have not."""
    state = blake2b(digest_size=8)
    _Walk(state).feed(base_of(dataset), 0)
    return state.hexdigest()


class _Walk:
    """A walk over a dataset's attributes that ends after a while, whatever the dataset holds."""

    def __init__(self, state: Any) -> None:
        self._state = state
        self._left = _BUDGET
        self._seen: set[int] = set()

    def feed(self, value: Any, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            return
        if isinstance(value, bool | int | float | complex | str | bytes | range | type(None)):
            self._say(type(value).__name__, repr(value)[:1000])
        elif hasattr(value, "dtype") and hasattr(value, "shape"):
            self._array(value, depth)
        elif id(value) in self._seen or depth > _DEPTH:
            self._say("again", type(value).__qualname__)
        else:
            self._seen.add(id(value))
            self._nested(value, depth)

    def _nested(self, value: Any, depth: int) -> None:
        kind = type(value)
        self._say("of", f"{kind.__module__}.{kind.__qualname__}")
        if isinstance(value, Mapping):
            self._say("len", str(len(value)))
            for key in [key for key in value if key not in _PLACE][:_LOOKED_AT]:
                self.feed(key, depth + 1)
                self.feed(value[key], depth + 1)
        elif isinstance(value, list | tuple):
            self._say("len", str(len(value)))
            for each in value[:: max(1, len(value) // _LOOKED_AT)]:
                self.feed(each, depth + 1)
        else:
            held = getattr(value, "__dict__", None)
            if isinstance(held, dict) and not isinstance(value, type) and not callable(value):
                self._nested(held, depth)

    def _array(self, value: Any, depth: int) -> None:
        self._say("array", f"{value.dtype} {tuple(value.shape)}")
        try:
            flat = value.reshape(-1)
            picked = flat[:: max(1, len(flat) // _LOOKED_AT)]
            self.feed(picked.tolist(), depth)
        except Exception:  # of a device or a layout that shows nothing: its shape must do
            return

    def _say(self, tag: str, text: str) -> None:
        self._state.update(f"{tag}:{len(text)}:{text};".encode("utf-8", "replace"))
