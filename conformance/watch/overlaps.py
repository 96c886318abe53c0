"""Loaders over subsets (`torch.utils.data.Subset`) of one dataset: decides which indices they share."""

import weakref
from hashlib import blake2b
from typing import Any

import numpy as np

from conformance.watch.datasets import Indices, base_indices

# Longer lists of indices are not compared: that would be felt.
_LONGEST = 5_000_000
_SHOWN = 3


class Subsets:
    """The indices of the dataset below that each loader of this process may deliver."""

    def __init__(self) -> None:
        self._known: list[tuple[weakref.ref[Any], int, int, Indices]] = []

    def of(self, loader: Any, dataset: int, number: int) -> dict[str, Any]:
        """What a loader's facts say of its subset: how many samples, listed how often, which, and what others share."""
        found = base_indices(loader.dataset)
        if found is None:
            return {}
        indices = np.unique(found)
        told = {
            "subset": len(indices),
            "listed": len(found),
            "subset_print": blake2b(indices.tobytes(), digest_size=8).hexdigest(),
        }
        if len(indices) > _LONGEST:
            return told
        shared = []
        for other, their_dataset, their_number, theirs in self._known:
            if their_dataset == dataset and other() is not None:
                both = np.intersect1d(indices, theirs)
                same = len(both) == len(indices) == len(theirs)
                if len(both):
                    some = both[:_SHOWN].tolist()
                    shared.append({"loader": their_number, "shared": len(both), "same": same, "some": some})
        self._known = [each for each in self._known if each[0]() is not None]
        self._known.append((weakref.ref(loader), dataset, number, indices))
        return {**told, "overlap": shared}
