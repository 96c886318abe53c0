"""Samplers that draw by weights: decides whether there are as many weights as samples, so that each can be drawn."""

from collections.abc import Iterator

from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.view import View

_ADVICE = "give each sample a weight, that of its class: WeightedRandomSampler(class_weights[labels], n)"
_WHOLE = "let the sampler draw from the loader's own dataset: RandomSampler(dataset, replacement=True)"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding where samples can never be drawn; a note where an index can be drawn that is no sample's."""
    for rank in view.ranks if view.group.epochs else ():
        draws = view.group.loaders.get(rank, {}).get("draws")
        if not isinstance(draws, dict):
            continue
        many, length = draws.get("from"), draws.get("of")
        if isinstance(many, int) and isinstance(length, int) and many != length:
            yield from _told(view, str(draws.get("what")), many, length)
            return


def _told(view: View, what: str, many: int, length: int) -> Iterator[Finding]:
    which = f"the sampler has {many:,} weights, and the dataset {length:,} samples"
    if what != "weights":
        which = f"the sampler draws from {many:,} samples, and the dataset has {length:,}"
    if many > length:
        text = f"{which}: right if it draws none of the {many - length:,} beyond these, or the dataset has an answer"
        yield view.at_loader("note", "more-weights", text)
    elif not _came_beyond(view, many):
        text = f"{which}: {length - many:,} can never be drawn"
        advice = _ADVICE if what == "weights" else _WHOLE
        yield view.at_loader("PART-2", "too-few-weights", text, advice=advice, worst=8)


def _came_beyond(view: View, many: int) -> bool:
    """Whether an index came that the sampler can't give: then something lies between it and the dataset."""
    if view.facts.get("ids", "index") != "index" or view.facts.get("subset") is not None:
        return False
    counts = [epoch.epoch.counts for epoch in epochs_of(view)]
    return any(each.length > many and each.span(many, each.length)[1] > 0 for each in counts)
