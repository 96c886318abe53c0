"""Streams over their epochs: decides whether each epoch leaves out some of what others have."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.view import View

_EPOCHS = 8  # so many are compared


def judge_view(view: View) -> Iterator[Finding]:
    """A note, where each epoch lacks samples that others have: how many a stream has is not known.

    A shuffle buffer that is not emptied at an epoch's end loses what is in it, and in each epoch other samples.
    """
    epochs = [epoch for epoch in epochs_of(view) if epoch.whole and epoch.rows][:_EPOCHS]
    if view.expected is not None or len(epochs) < 2 or not (view.iterable or view.by_content):
        return
    came = [np.unique(view.group.witnesses.of_epoch(epoch.key)[:, 0]) for epoch in epochs]
    union, most = len(np.unique(np.concatenate(came))), max(map(len, came))
    # Epochs of which few samples are the same are windows of a stream, or their contents change.
    common = min(len(np.intersect1d(one, other)) for one, other in pairwise(came))
    if 2 * common < most or union - most <= max(map(_dropped, epochs)):
        return
    kept_all = most == max(epoch.came for epoch in epochs)
    share = f"{most:,} of the {union:,} samples" if kept_all else f"{most / union:.0%} of the samples"
    text = f"no epoch had all: at the most {share} that came in {len(epochs)} epochs"
    why = "a shuffle buffer that is not emptied at an epoch's end leaves out other ones each time"
    more = ", and contents may change, as by augmentation" if view.by_content else ""
    yield view.at_dataset("note", "left-out", f"{text}; {why}{more}")


def _dropped(epoch: EpochView) -> int:
    """How many samples an epoch may lack: each reader drops a batch that it has not filled, or ranks are made equal."""
    return sum(max(1, len(seen.workers)) for seen in epoch.ranks.values()) * epoch.full_batch
