"""Streams over their epochs: decides whether each epoch leaves out some of what others have."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView
from conformance.audit.finding import Finding
from conformance.audit.unions import Union, union_of
from conformance.audit.view import View
from conformance.audit.words import samples

_WHY = "a shuffle buffer that is not emptied at an epoch's end"


def judge_view(view: View) -> Iterator[Finding]:
    """A note, where each epoch lacks samples that others have: how many a stream has is not known.

    A shuffle buffer that is not emptied at an epoch's end loses what is in it, and in each epoch other samples.
    """
    union = union_of(view)
    if union is None or min(union.lacking) < max(map(_dropped, union.epochs)):
        return
    why = f"{_WHY}, or a last batch that is never given," if view.facts.get("kind") == "wrapped" else _WHY
    more = ", and contents may change, as by augmentation" if view.by_content else ""
    yield view.at_dataset("note", "left-out", f"{_lacking(union)}; {why} leaves out other ones each time{more}")


def _lacking(union: Union) -> str:
    """``no epoch had all of the 640 samples that came in 3 epochs: each lacks 32``."""
    of, least, most = len(union.epochs), min(union.lacking), max(union.lacking)
    if not union.exact:
        return f"no epoch had all: at the most {union.most / union.samples:.0%} of the samples that came in {of} epochs"
    lacks = f"each lacks {least:,}" if least == most else f"they lack {least:,} to {most:,}"
    return f"no epoch had all of the {samples(union.samples)} that came in {of} epochs: {lacks}"


def _dropped(epoch: EpochView) -> int:
    """Fewer samples than this an epoch may lack: each reader drops a batch that it has not filled, or ranks are made
    equal.
    """
    return sum(max(1, len(seen.workers)) for seen in epoch.ranks.values()) * epoch.full_batch
