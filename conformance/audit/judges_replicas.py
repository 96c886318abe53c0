"""Ranks that are said to be one replica: decides whether they got the same data, as such ranks must."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView
from conformance.audit.excerpts import heads_of
from conformance.audit.finding import Finding
from conformance.audit.summary import RankSeen
from conformance.audit.words import listed
from conformance.trial.words import count

_ADVICE = "draw alike on the ranks of a replica: seed and shard by the replica's number, and not by the rank"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """The first group of an epoch whose ranks got different data, if there is one."""
    wrong = [(ranks, said) for ranks in _groups(epoch) if (said := _difference([epoch.epoch.ranks[r] for r in ranks]))]
    for ranks, said in wrong[:1]:
        seen = {rank: epoch.epoch.ranks[rank] for rank in ranks}
        text = f"ranks {listed(ranks)} are one replica (by --same-data or a device mesh), and got {said}"
        text += f"; so did the ranks of {count(len(wrong) - 1, 'other group')}" if len(wrong) > 1 else ""
        yield epoch.view.at_loader(
            "REPLICA",
            "other-data",
            text,
            excerpt=heads_of(epoch, seen),
            advice=_ADVICE,
            epochs=(epoch.key,),
            worst=9,
        )


def _groups(epoch: EpochView) -> Iterator[list[int]]:
    """Of each group the ranks that got something; a rank may get its batches from another one of its group."""
    for group in epoch.view.same:
        ranks = [rank for rank in group if rank in epoch.epoch.ranks and epoch.epoch.ranks[rank].rows]
        if len(ranks) > 1:
            yield ranks


def _difference(seen: list[RankSeen]) -> str:
    """In what the ranks of a group differ, as words; "" if they got the same as far as all of them went."""
    common = sorted(set.intersection(*(set(each.prefixes) for each in seen)))
    apart = [step for step in common if len({each.prefixes[step] for each in seen}) > 1]
    whole = all(each.whole for each in seen)
    steps = sorted({each.steps for each in seen})
    if apart:
        if whole and len({(each.rows, each.mixed) for each in seen}) == 1:
            return "the same samples in different orders"
        return "different samples " + (
            f"within the first {apart[0]} steps" if apart[0] > 1 else "from the first step on"
        )
    if whole and len(steps) > 1:
        return f"different numbers of steps, {steps[0]} to {steps[-1]}"
    return ""
