"""Loaders over parts of one dataset: decides which of its samples they share.

Parts are torch's `Subset`, known by its indices, and Hugging Face's datasets, known by where their rows lie. A torch
`ConcatDataset` has the samples of all that it joins.
"""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from conformance.watch.datasets import Indices, base_indices, base_of, is_concat
from conformance.watch.facts import length
from conformance.watch.tables import rows_of

# Longer lists of indices are not compared: that would be felt.
_LONGEST = 5_000_000
_SHOWN = 3
# So many samples of a dataset have numbers of their own, below those of any memory.
_ROOM = 1 << 40


@dataclass(frozen=True)
class _Known:
    """A loader: its number, which samples it may deliver, and whether they are a whole dataset, or several joined."""

    loader: "weakref.ref[Any]"
    number: int
    samples: Indices
    is_whole: bool
    is_joined: bool

    def may_share(self, other: "_Known") -> bool:
        """Whether it is told what they share: of a loader of a whole dataset, only what others have joined."""
        return (not self.is_whole or other.is_joined) and (not other.is_whole or self.is_joined)


class Subsets:
    """The samples that each loader of this process may deliver. `number_of` gives each dataset a number."""

    def __init__(self, number_of: Callable[[Any], int]) -> None:
        self._number_of = number_of
        self._known: list[_Known] = []

    def of(self, loader: Any, number: int) -> dict[str, Any]:
        """What a loader's facts say of its subset: how many samples, listed how often, which, and what others share."""
        listed = base_indices(loader.dataset)
        told = {} if listed is None else _of_subset(listed)
        if (length(loader.dataset) or _LONGEST + 1) > _LONGEST:
            return told
        samples = self._samples(loader.dataset)
        if samples is None or not len(samples):
            return told
        unique, first = np.unique(samples, return_index=True)
        joined = is_concat(base_of(loader.dataset))
        is_whole = listed is None and not joined and bool(samples[0] < 0)
        mine = _Known(weakref.ref(loader), number, unique, is_whole, joined)
        names = np.arange(len(samples)) if listed is None else listed
        self._known = [each for each in self._known if each.loader() is not None]
        shared = [_shared(mine, each, names[first]) for each in self._known if mine.may_share(each)]
        self._known.append(mine)
        return {**told, "overlap": [each for each in shared if each]}

    def _samples(self, dataset: Any) -> Indices | None:
        """A number for each sample in its order, one wherever it is found; None if somebody does not say how many."""
        base, listed = base_of(dataset), base_indices(dataset)
        many = length(base)
        # A part of a dataset of any length is numbered; what is joined, and rows, are numbered whole.
        if many is None or many > _ROOM:
            return None
        if many <= _LONGEST and is_concat(base):
            parts = [self._samples(each) for each in base.datasets]
            known = [each for each in parts if each is not None]
            samples = np.concatenate(known) if known and len(known) == len(parts) else None
        elif many > _LONGEST or (samples := rows_of(base)) is None:
            places = np.arange(many) if listed is None else listed
            return -1 - self._number_of(base) * _ROOM - places
        return samples if samples is None or listed is None else samples[listed]


def _of_subset(listed: Indices) -> dict[str, Any]:
    indices = np.unique(listed)
    print_of_it = blake2b(indices.tobytes(), digest_size=8).hexdigest()
    return {"subset": len(indices), "listed": len(listed), "subset_print": print_of_it}


def _shared(mine: _Known, other: _Known, names: Indices) -> dict[str, Any]:
    """What two loaders share, or nothing; `names` are what this one calls its samples."""
    both = np.isin(mine.samples, other.samples)
    shared = int(both.sum())
    same = shared == len(mine.samples) == len(other.samples)
    some = np.sort(names[both])[:_SHOWN].tolist()
    return {"loader": other.number, "shared": shared, "same": same, "some": some} if shared else {}
