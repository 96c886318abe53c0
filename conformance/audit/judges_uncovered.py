"""Samples that are in no rank's subset: decides whether the parts of a dataset leave out its end."""

from collections.abc import Iterator

from conformance.audit.counts import different
from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_subsets import came_of, differ, one_dataset
from conformance.audit.looks import looked_at
from conformance.audit.view import View
from conformance.audit.words import listed

_SHOWN = 6


def judge_view(view: View) -> Iterator[Finding]:
    """A note, where each rank has its own subset of one dataset, and these lack fewer samples than a step of all has.

    What no subset has may be left out on purpose; more of it is a split, and what another loader reads is one as well.
    """
    length = view.facts.get("length")
    if not view.group.epochs or view.by_content or not differ(view) or not view.complete or looked_at(view):
        return
    epochs = [epoch for epoch in epochs_of(view) if epoch.rows]
    indices = all(epoch.epoch.counts.total for epoch in epochs)
    if not isinstance(length, int) or not epochs or not indices or not all(epoch.whole for epoch in epochs):
        return
    if any(_read(view, rank, epoch.ranks[rank].rows) for epoch in epochs for rank in epoch.ranks):
        return
    came = came_of(view)
    lacking = length - different(came.histogram())
    if not 0 < lacking < len(view.ranks) * max(epoch.full_batch for epoch in epochs) or _elsewhere(view):
        return
    which = listed(came.first(0, 0, lacking), _SHOWN) if came.length == length else ""
    text = f"{lacking} of {length:,} samples are in no rank's subset{f': {which}' if which else ''}"
    rest = "the rest of a division of the dataset into equal parts, or left out on purpose"
    yield view.at_loader("note", "in-no-subset", f"{text} ({rest})")


def _read(view: View, rank: int, rows: int) -> bool:
    """Whether a rank read other than all of its subset."""
    return view.group.loaders.get(rank, {}).get("subset") != rows


def _elsewhere(view: View) -> bool:
    """Whether another loader reads the same dataset, so that the parts are not all of it."""
    others = [View(key, group, view.summary, view.same) for key, group in view.summary.groups.items()]
    return any(other.group.epochs and one_dataset(view, other) for other in others)
