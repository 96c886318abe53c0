"""Buffers that are used again: decides whether each batch holds fewer contents than samples, in turn.

A dataset that gives the same few buffers again and again has overwritten some by the time that a batch is made of them:
with 4 buffers and batches of 8, samples 0 to 3 of each batch are 4 to 7 once more.
"""

import numpy as np

from conformance.audit.epochs import EpochView

# By so many batches, all alike, it is no coincidence that equal samples stand so.
_BATCHES = 3


def ring_of(epoch: EpochView) -> int:
    """How many contents come in turn in every full batch of the epoch; 0 if that is not so, or not known."""
    rows, size = epoch.witnesses, epoch.full_batch
    if not epoch.view.by_content or not epoch.view.group.witnesses.keeps_all or size < 2:
        return 0
    # By rank, worker and batch, and by the place in it.
    rows = rows[np.lexsort((rows[:, 6], rows[:, 5], rows[:, 4], rows[:, 3]))]
    begins = np.flatnonzero((rows[1:, 3:6] != rows[:-1, 3:6]).any(axis=1)) + 1
    batches = [batch[:, 0] for batch in np.split(rows, begins) if len(batch) == size]
    lengths = {len(np.unique(batch)) for batch in batches}
    if len(batches) < _BATCHES or len(lengths) != 1:
        return 0
    (ring,) = lengths
    in_turn = ring < size and all((batch[ring:] == batch[:-ring]).all() for batch in batches)
    # Where batches have contents in common, equal samples come in each of them.
    apart = len(np.unique(np.concatenate(batches))) == ring * len(batches)
    return ring if in_turn and apart else 0
