"""Loaders over parts of one dataset: decides which of its samples they share.

Parts are torch's `Subset`, known by its indices, and Hugging Face's datasets, known by where their rows lie.
"""

import weakref
from hashlib import blake2b
from typing import Any

import numpy as np

from conformance.watch.datasets import Indices, base_indices
from conformance.watch.facts import length
from conformance.watch.tables import rows_of

# Longer lists of indices are not compared: that would be felt.
_LONGEST = 5_000_000
_SHOWN = 3
# In place of a dataset's number, where samples are known by where they lie.
_IN_MEMORY = -1


class Subsets:
    """The samples of the dataset below that each loader of this process may deliver."""

    def __init__(self) -> None:
        self._known: list[tuple[weakref.ref[Any], int, int, Indices]] = []

    def of(self, loader: Any, dataset: int, number: int) -> dict[str, Any]:
        """What a loader's facts say of its subset: how many samples, listed how often, which, and what others share."""
        listed, told = base_indices(loader.dataset), {}
        if listed is not None:
            indices = np.unique(listed)
            told = {
                "subset": len(indices),
                "listed": len(listed),
                "subset_print": blake2b(indices.tobytes(), digest_size=8).hexdigest(),
            }
        if (length(loader.dataset) or 0) > _LONGEST:
            return told
        rows = rows_of(loader.dataset)
        if rows is not None:
            return {**told, "overlap": self._shared(loader, _IN_MEMORY, number, rows, np.arange(len(rows)))}
        return told if listed is None else {**told, "overlap": self._shared(loader, dataset, number, listed, listed)}

    def _shared(self, loader: Any, dataset: int, number: int, samples: Indices, names: Indices) -> list[dict[str, Any]]:
        """What this loader shares with those before it; `names` are what its samples are called."""
        mine, first = np.unique(samples, return_index=True)
        self._known = [each for each in self._known if each[0]() is not None]
        shared = []
        for _, their_dataset, their_number, theirs in self._known:
            both = np.isin(mine, theirs) if their_dataset == dataset else np.zeros(0, bool)
            if number_of := int(both.sum()):
                same = number_of == len(mine) == len(theirs)
                some = np.sort(names[first[both]])[:_SHOWN].tolist()
                shared.append({"loader": their_number, "shared": number_of, "same": same, "some": some})
        self._known.append((weakref.ref(loader), dataset, number, mine))
        return shared
