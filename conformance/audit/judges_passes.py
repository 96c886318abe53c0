"""Passes of an endless stream: decides whether they came in one order, as epochs are judged by theirs."""

from collections.abc import Iterator
from math import lgamma

from conformance.audit.endless import in_order, passes
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_order import has_order, unshuffled
from conformance.audit.view import View
from conformance.audit.words import by_rule
from conformance.epochs.order import beyond_chance

_ADVICE = "draw another order for each pass: a sampler that begins again by itself hears of no epoch"
_SHOWN = 8

Passes = list[list[int]]  # of one rank: the samples of each pass, in their order


def judge_view(view: View) -> Iterator[Finding]:
    """A finding under the rules of epochs; a note where nobody promised a shuffle."""
    if view.facts.get("replacement") or unshuffled(view) or not view.group.witnesses.keeps_all:
        return
    for epoch in epochs_of(view):
        shuffled = not epoch.evaluation and not any(by_rule(seen) for seen in epoch.ranks.values())
        found = list(_one_order(epoch)) if shuffled and epoch.again and passes(epoch) is not None else []
        if found:
            yield from found
            return


def _one_order(epoch: EpochView) -> Iterator[Finding]:
    ranks = {rank: _passes_of(epoch, rank) for rank, seen in epoch.ranks.items() if seen.rows}
    many = min(len(each) for each in ranks.values())
    pairs = [[(each[at], each[at + 1]) for each in ranks.values()] for at in range(many - 1)]
    same = [pair for pair in pairs if all(_alike(one, other) for one, other in pair)]
    if not same:
        return
    common = sum(lgamma(sum(min(len(one), len(other)) for one, other in pair) + 1) for pair in same)
    if not beyond_chance(len(pairs), len(same), common):
        return
    which = f"each of {many} passes came in one order"
    if len(same) < len(pairs):
        which = f"{len(same)} of {many} passes came in the order of the one before"
    if not has_order(epoch.view):
        yield epoch.at_loop("note", "same-passes", f"{which}: the stream is not shuffled, or always alike")
        return
    why = "the stream has no end, and its order is not drawn again for each pass"
    first = next(rank for rank in ranks)
    excerpt = tuple(
        f"pass {number}{epoch.view.where(first)}: {' '.join(map(epoch.view.named, each[:_SHOWN]))} ..."
        for number, each in enumerate(ranks[first][:2])
    )
    yield epoch.at_loop("ORDER-6", "same-passes", f"{which}: {why}", excerpt=excerpt, advice=_ADVICE, worst=7)


def _passes_of(epoch: EpochView, rank: int) -> Passes:
    """What a rank got, cut where its passes end: after all of its part, or where its first sample came again."""
    ids = in_order(epoch, rank)
    part = len(set(ids))
    # Of a stream that is dealt out to ranks sample by sample, each rank gets others in each pass.
    length = part
    if len(epoch.ranks) > 1 and part * len(epoch.ranks) > epoch.came + len(epoch.ranks):
        length = ids.index(ids[0], 1) if ids[0] in ids[1:] else 0
    return [ids[at : at + length] for at in range(0, len(ids), length)] if length else [ids]


def _alike(one: list[int], other: list[int]) -> bool:
    """Whether two passes of a rank begin alike, with more than a sample."""
    common = min(len(one), len(other))
    return common > 1 and one[:common] == other[:common]
