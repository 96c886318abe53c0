"""Streams whose number of samples the user says: decides whether all of them came in each epoch."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from conformance.audit.counted import Counted
from conformance.audit.epochs import EpochView, epochs_of, joined
from conformance.audit.finding import Finding
from conformance.audit.unions import union_of
from conformance.audit.view import View
from conformance.audit.words import samples

_ADVICE = "look at how the data are cut into parts, and at what each part does with its first and its last sample"
_BY_NAME = "--id-field F tells them apart"


def judge_view(view: View, told: Counted | None) -> Iterator[Finding]:
    """A finding where whole epochs have fewer samples; notes where they have more, or where it can't be told."""
    if told is None:
        return
    epochs = [epoch for epoch in epochs_of(view) if epoch.whole and epoch.rows]
    if not epochs:
        text = f"whether all {told.number:,} samples ({told.where}) came can't be told: no epoch was read to its end"
        yield view.at_loader("note", "not-counted", text)
        return
    read = [epoch for epoch in epochs_of(view) if epoch.rows]
    if _of_parts(view, told, read):
        text = "epochs have few samples in common, so that each may read another part of the data: "
        text += f"{joined(view, read).came:,} of {told.number:,} samples ({told.where}) came in all of them together"
        yield view.at_loader("note", "counted-parts", text)
        return
    lost = {epoch.key: told.number - _came(epoch) for epoch in epochs}
    short = [epoch for epoch in epochs if lost[epoch.key] > 0]
    more = [epoch for epoch in epochs if told.number < epoch.came]
    if short:
        yield _lost(view, told, epochs, short, [lost[epoch.key] for epoch in short])
    elif more:
        why = ": contents change, or there are more" if view.by_content else ""
        text = f"{more[0].came:,} different samples came in {more[0].name}, more than the {told.number:,} that"
        yield view.at_loader("note", "more-samples", f"{text} {told.where} says{why}")
    elif any(epoch.came < told.number for epoch in epochs):
        (epoch, *_) = [epoch for epoch in epochs if epoch.came < told.number]
        what = "contents" if view.by_content else "names"
        text = f"{samples(epoch.rows)} with {epoch.came:,} different {what} came in {epoch.name}, of {told.number:,}"
        text += f" ({told.where}): some have equal {what}, or came twice while others did not"
        yield view.at_loader("note", "equal-samples", f"{text}; {_BY_NAME}" if view.by_content else text)


def _of_parts(view: View, told: Counted, epochs: Sequence[EpochView]) -> bool:
    """Whether epochs may be parts of the data, as where a loader is made for each file."""
    came = [np.unique(view.group.witnesses.of_epoch(epoch.key)[:, 0]) for epoch in epochs]
    pairs = zip(pairwise(epochs), pairwise(came), strict=True)
    return any(
        one.rows + other.rows <= told.number and 2 * len(np.intersect1d(mine, theirs)) < min(len(mine), len(theirs))
        for (one, other), (mine, theirs) in pairs
    )


def _came(epoch: EpochView) -> int:
    """How many samples came: of those that may be equal, each delivery is one, so that none is missing too much."""
    return epoch.rows if _may_be_equal(epoch) else epoch.came


def _may_be_equal(epoch: EpochView) -> bool:
    return epoch.view.by_content or epoch.has_copies


def _lost(
    view: View, told: Counted, epochs: Sequence[EpochView], short: Sequence[EpochView], lost: Sequence[int]
) -> Finding:
    least, most = min(lost), max(lost)
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    noun = "sample" if least == most == 1 else "samples"
    text = f"{number} {noun} of {told.number:,} ({told.where}) never came"
    if len(epochs) == 1:
        text += f" in {short[0].name}"
    else:
        text += " in each epoch" if len(short) == len(epochs) else f" in {len(short)} of {len(epochs)} epochs"
    text += _never(view, told, epochs, most)
    if _may_be_equal(short[0]):
        text += ", as fewer were delivered"
    dropped = [_dropped(epoch, each) for epoch, each in zip(short, lost, strict=True)]
    if all(dropped):
        return view.at_loader("note", "dropped-of-counted", f"{text}: {dropped[0]}")
    keys = tuple(epoch.key for epoch in short)
    return view.at_dataset("PART-2", "lost-of-counted", text, advice=_ADVICE, epochs=keys, worst=8)


def _never(view: View, told: Counted, epochs: Sequence[EpochView], most: int) -> str:
    """How many of them came in no epoch, where that is another number."""
    union = None if view.by_content or any(map(_may_be_equal, epochs)) else union_of(view)
    if union is None or not union.exact or len(union.epochs) < len(epochs):
        return ""
    never = max(0, told.number - union.samples)
    if never == most:
        return ", the same ones each time"
    if not never:
        return ", others each time, as each came in one epoch at least"
    return f", others each time: {samples(never)} came in none of {len(epochs)} epochs"


def _dropped(epoch: EpochView, lost: int) -> str:
    """Why an epoch of the training may lack so few: what fills no batch is dropped, or ranks are made equal."""
    seen = epoch.ranks.values()
    if epoch.evaluation:
        return ""
    readers = sum(max(1, len(each.workers)) for each in seen)
    asked = epoch.made_with("drop_last")
    full = all(set(each.sizes) <= {epoch.full_batch} for each in seen)
    if lost < readers * epoch.full_batch and asked:
        return "dropped by drop_last"
    if lost < readers * epoch.full_batch and asked is None and full:
        return "right if a last batch that they do not fill is dropped"
    if lost < len(seen) and len({each.rows for each in seen}) == 1:
        return "dropped to make ranks equal"
    return ""
