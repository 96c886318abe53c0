"""Samplers that draw with replacement: decides whether each sample can be drawn, and whether ranks draw anew."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.excerpts import heads_of
from conformance.audit.finding import Finding
from conformance.audit.view import View

_ADVICE = "give each sample a weight, that of its class: WeightedRandomSampler(class_weights[labels], n)"
_ANEW = "seed by rank and epoch so that no two sums are alike: seed + epoch * world_size + rank"
_LEAST = 8  # draws of a rank: fewer may be alike by chance
_WHOLE = "let the sampler draw from the loader's own dataset: RandomSampler(dataset, replacement=True)"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding where samples can never be drawn, or draws come again; a note where an index can be no sample's."""
    yield from _drawn_again(view)
    for rank in view.ranks if view.group.epochs else ():
        draws = view.group.loaders.get(rank, {}).get("draws")
        if not isinstance(draws, dict):
            continue
        many, length = draws.get("from"), draws.get("of")
        if isinstance(many, int) and isinstance(length, int) and many != length:
            yield from _told(view, str(draws.get("what")), many, length)
            return


def _drawn_again(view: View) -> Iterator[Finding]:
    """A finding, where one rank draws what another one draws in another epoch."""
    first: dict[tuple[int, str], tuple[EpochView, int]] = {}
    for epoch in epochs_of(view) if view.facts.get("replacement") else ():
        for rank, seen in epoch.ranks.items():
            if seen.rows < _LEAST or not seen.whole:
                continue
            other, before = first.setdefault((epoch.key[0], seen.prefixes[max(seen.prefixes)]), (epoch, rank))
            if other.key != epoch.key and before != rank:
                text = f"{view.who(rank)} draws in {epoch.name} what {view.who(before)} had drawn in {other.name}"
                excerpt = heads_of(other, {before: other.ranks[before]}, 2) + heads_of(epoch, {rank: seen}, 2)
                yield view.at_loader(
                    "DRAW-4", "drawn-again", text, excerpt=excerpt, advice=_ANEW, epochs=(epoch.key,), worst=7
                )
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
