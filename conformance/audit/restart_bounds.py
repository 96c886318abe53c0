"""Restarts: decides whether what one skipped can be counted, and how many samples are missing that none skipped."""

from collections.abc import Sequence

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.judges_datasets import asked_of
from conformance.audit.judges_subsets import differ
from conformance.audit.words import listed
from conformance.trial.words import count


def why_untold(parts: Sequence[EpochView], after: EpochView) -> str:
    """Why it can't be told what a restart skipped of an epoch, whose parts before it these are; "" if it can."""
    view = after.view
    if view.facts.get("replacement"):
        return "its sampler draws with replacement"
    if view.has_own_datasets or (view.worlds and differ(view)):
        return f"each rank has a {'dataset' if view.has_own_datasets else 'subset'} of its own"
    if not after.epoch.whole:
        return "that epoch did not come to its end"
    why = _unknown([parts[-1]], "before") or _unknown([after], "after") or _unknown(parts, "before")
    if why:
        return f"{_changed(parts[-1], after)}{why}"
    if not view.worlds and set(after.ranks) != set(parts[-1].ranks):
        return f"{_who(parts[-1])} read it before, and {_who(after)} after that"
    return "" if view.complete else "not all ranks of the job are in the record"


def changed(before: EpochView, after: EpochView) -> bool:
    """Whether the job went on with another number of ranks."""
    return len(before.ranks) != len(after.ranks)


def other_ranks(before: EpochView, after: EpochView) -> str:
    """``, with 1 rank in place of 2`` where the number of ranks changed."""
    return f", with {count(len(after.ranks), 'rank')} in place of {len(before.ranks)}" if changed(before, after) else ""


def steps_of(before: EpochView, after: EpochView) -> str:
    """``4 steps on each of 2 ranks came before the restart``, and what came after it where ranks are others."""
    if changed(before, after):
        return f"{_came(before, True)} came before the restart, and {_came(after, True)} after it"
    return f"{_came(before)} came before the restart"


def lost_anyway(parts: Sequence[EpochView], after: EpochView) -> int:
    """How many samples of an epoch may be missing that no restart skipped: what ranks drop, or what its sampler, or
    each whole epoch, leaves out.
    """
    view, ranks = after.view, len(after.ranks)
    equal = len({seen.rows for seen in after.ranks.values()}) == 1
    drops = after.made_with("drop_last") or view.own_batches
    tail = ranks * after.full_batch - 1 if drops else (ranks - 1) * equal
    whole = [epoch for epoch in epochs_of(view) if epoch.whole and epoch.rows and epoch.key != after.key]
    asked = [asked_of(parts[0], rank) for rank in parts[0].ranks]
    left_out = max(0, (view.expected or 0) - sum(asked)) if all(asked) and not parts[0].resumed else 0
    return max([left_out + tail if left_out > tail else tail, *(epoch.histogram.get(0, 0) for epoch in whole)])


def _unknown(epochs: Sequence[EpochView], when: str) -> str:
    """Ranks of which nothing of these epochs is in the record; "" if there are none."""
    for epoch in epochs:
        view = epoch.view
        ranks = view.ranks_in(epoch.key[0])
        if min(ranks, default=-1) < 0 or (view.own and view.complete):
            continue
        world = view.worlds.get(epoch.key[0], view.world_size)
        lacking = sorted(set(range(world)) - set(epoch.epoch.ranks))
        if lacking:
            whose = f"rank{'s' if len(lacking) > 1 else ''} {listed(lacking)}"
            return f"nothing of that epoch is known of {whose} {when} the restart"
    return ""


def _changed(before: EpochView, after: EpochView) -> str:
    worlds = before.view.worlds
    first, then = worlds.get(before.key[0]), worlds.get(after.key[0])
    return f"the number of ranks changed from {first} to {then}, and " if first != then else ""


def _came(epoch: EpochView, named: bool = False) -> str:
    steps = sorted({seen.steps for seen in epoch.epoch.ranks.values()})
    many = count(steps[0], "step") if len(steps) == 1 else f"{steps[0]} to {steps[-1]} steps"
    ranks = len(epoch.epoch.ranks)
    if ranks == 1:
        return f"{many} on 1 rank" if named else many
    return f"{many} on each of {ranks} ranks"


def _who(epoch: EpochView) -> str:
    return listed([epoch.view.who(rank) for rank in epoch.ranks], 4)
