"""Epochs without a sample: decides whether what is iterated was used up by the epochs before.

A generator, a file or an iterator that is made once gives its samples once: from then on each epoch is at its end at
once, without an error. A loop that reads on until nothing comes has such an epoch as well, and rightly.
"""

from collections.abc import Iterator

import numpy as np

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.uneven import ranks_of
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count

_ADVICE = "open the file, or make the generator, in __iter__: what is made in __init__ is used up by the first epoch"
_UNTIL = "right if the loop reads until nothing comes, as of a queue; else what is iterated was used up before"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding, or a note where it may be the end that the loop waits for."""
    by_start: dict[int, list[EpochView]] = {}
    for epoch in epochs_of(view):
        by_start.setdefault(epoch.key[0], []).append(epoch)
    for epochs in by_start.values():
        found = _in_a_start(view, epochs)
        if found is not None:
            yield found
            return


def _in_a_start(view: View, epochs: list[EpochView]) -> Finding | None:
    """Of one start of the job: its first epoch without a sample, and those after it."""
    empty = {epoch.key: ranks for epoch in epochs if (ranks := _used_up(epoch, epochs))}
    if not empty:
        return None
    those = [epoch for epoch in epochs if epoch.key in empty]
    first, ranks = those[0], empty[those[0].key]
    before = [epoch for epoch in epochs if epoch.key < first.key and epoch.rows]
    who = f" on {ranks_of(first, ranks)}" if len(first.ranks) > len(ranks) else ""
    rows = sum(before[-1].ranks[rank].rows for rank in ranks if rank in before[-1].ranks)
    had = f"where {before[-1].name} had {samples(rows)}" if rows else "where earlier ones had some"
    which = f"{first.name} had no sample" if len(those) == 1 else f"{count(len(those), 'epoch')} had no sample"
    text = f"{which}{who}, {had}" + (f", first {first.name}" if len(those) > 1 else "")
    keys = tuple(each.key for each in those)
    if not _for_good(view, before, those, epochs):
        return Finding("note", "empty", f"{text}: {_UNTIL}", *first.read_at, epochs=keys)
    text = f"{text}: what is iterated was used up, and is not begun again"
    return Finding("PART-2", "empty", text, *first.read_at, advice=_ADVICE, epochs=keys, worst=8)


def _used_up(epoch: EpochView, epochs: list[EpochView]) -> list[int]:
    """The ranks that had nothing, and something before. That other ranks had all of it instead is no loss."""
    before = [each for each in epochs if each.key < epoch.key]
    ranks = [
        rank
        for rank, seen in epoch.ranks.items()
        if seen.whole
        and not seen.rows
        and seen.facts.get("steps") != 0  # it says itself that it has none
        and any(rank in each.ranks and each.ranks[rank].rows for each in before)
    ]
    if epoch.resumed or not ranks:
        return []
    most = max(sum(seen.rows for seen in each.ranks.values()) for each in before)
    lacking = max(sum(each.ranks[rank].rows for rank in ranks if rank in each.ranks) for each in before)
    return ranks if 2 * (most - epoch.rows) >= lacking else []


def _for_good(view: View, before: list[EpochView], those: list[EpochView], epochs: list[EpochView]) -> bool:
    """Whether no loop means it so: a dataset of a known length, or one epoch after the other without a sample.

    A pool that is emptied has fewer samples in each epoch, or others.
    """
    if any(epoch.key > those[0].key and epoch.rows for epoch in epochs if epoch not in those):
        return False
    emptied = before[-1].rows < before[0].rows or _windows(view, before)
    return not emptied and (bool(view.expected) or len(those) > 1)


def _windows(view: View, before: list[EpochView]) -> bool:
    """Whether epochs have other samples each, as parts of a stream that goes on."""
    if len(before) < 2:
        return False
    one, other = (view.group.witnesses.of_epoch(epoch.key)[:, 0] for epoch in before[:2])
    return 2 * len(np.intersect1d(one, other)) < min(len(np.unique(one)), len(np.unique(other)))
