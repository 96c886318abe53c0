"""Epochs of a stream whose length nobody told: decides what one has, by those that were read whole.

Where all of them had the same samples, an epoch that a restart took up has these as well, as far as it had no others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.resumed import begun
from conformance.audit.view import View

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Known:
    """The samples of the whole epochs, and whether some of these came before the one in question, and some after."""

    ids: Ids
    epochs: int
    around: bool


@dataclass(frozen=True)
class Compared:
    """The parts of an epoch beside what whole ones had: how many samples are missing, are others, or came twice."""

    lost: int
    others: int
    twice: int
    after: int  # how many of them the last part had
    missing: list[str]


def known(view: View, parts: Sequence[EpochView], after: EpochView) -> Known | None:
    """What each whole epoch had; None if there is none, if they differ, or if not all deliveries are kept."""
    joined = begun(view.group)
    aside = {*joined, *joined.values(), *(part.key for part in parts), after.key}
    whole = [epoch for epoch in epochs_of(view) if epoch.key not in aside and epoch.whole and epoch.rows]
    if not whole or not view.group.witnesses.keeps_all:
        return None
    ids = [_ids(view, [epoch]) for epoch in whole]
    if any(not np.array_equal(ids[0], each) for each in ids[1:]):
        return None
    keys = [epoch.key for epoch in whole]
    return Known(ids[0], len(whole), min(keys) < parts[0].key and max(keys) > after.key)


def compared(view: View, known: Known, parts: Sequence[EpochView], after: EpochView) -> Compared:
    """What came before the restart and after it, beside a whole epoch."""
    before, then = _ids(view, parts), _ids(view, [after])
    came = np.union1d(before, then)
    missing = np.setdiff1d(known.ids, came)
    return Compared(
        len(missing),
        len(np.setdiff1d(came, known.ids)),
        len(np.intersect1d(before, then)),
        len(np.intersect1d(then, known.ids)),
        [view.named(each) for each in missing[:6].tolist()],
    )


def slack(after: EpochView) -> int:
    """How many samples an epoch in two parts may lack: readers drop what fills no batch, or ranks are made equal."""
    readers = sum(max(1, len(seen.workers)) for seen in after.ranks.values())
    if after.made_with("drop_last") is False:
        return readers if readers > 1 else 0
    return 2 * readers * after.full_batch


def skipped_twice(view: View, lost: int, done: int) -> str:
    """Why as many samples are missing as were done before, or as that times the other workers; "" if they are not."""
    if lost == done * (view.workers - 1) and view.workers > 1:
        return f": each of {view.workers} workers skipped as many as its rank had done, it seems"
    return ": as many as were done before it, so that they were skipped twice, it seems" if lost == done else ""


def _ids(view: View, epochs: Sequence[EpochView]) -> Ids:
    rows = [view.group.witnesses.of_epoch(epoch.key) for epoch in epochs]
    return np.unique(np.concatenate([each[:, 0] for each in rows]))
