"""What the whole epochs of a stream had together: decides whether they are epochs of one set of samples."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.view import View

_EPOCHS = 8  # so many are compared


@dataclass(frozen=True)
class Union:
    """How many samples came in these epochs, as far as it is kept who got them, and how many each of them had."""

    epochs: list[EpochView]
    samples: int
    came: list[int]
    exact: bool  # all of them are kept

    @property
    def lacking(self) -> list[int]:
        """How many of all these samples each epoch lacks."""
        return [self.samples - each for each in self.came]

    @property
    def most(self) -> int:
        """How many the fullest epoch had."""
        return max(self.came)


def union_of(view: View) -> Union | None:
    """Of a stream of which nobody told how many samples it has; None if its epochs have little in common.

    Then they are windows of a stream, or their contents change.
    """
    epochs = [epoch for epoch in epochs_of(view) if epoch.whole and epoch.rows][:_EPOCHS]
    stream = view.facts.get("kind") != "map" or view.by_content
    if view.expected is not None or len(epochs) < 2 or not stream:
        return None
    came = [np.unique(view.group.witnesses.of_epoch(epoch.key)[:, 0]) for epoch in epochs]
    numbers = [len(each) for each in came]
    common = min(len(np.intersect1d(one, other)) for one, other in pairwise(came))
    if 2 * common < max(numbers):
        return None
    exact = view.group.witnesses.keeps_all
    return Union(epochs, len(np.unique(np.concatenate(came))), numbers, exact)
