"""The datasets of several ranks: decides whether an index means one sample on all of them, as far as a record tells."""

from conformance.audit.epochs import EpochView
from conformance.audit.view import View


def reordered(view: View) -> str:
    """The list of files or texts that all ranks have with the same entries, each in an order of its own; "" if none.

    Not if anything else that is as long as the dataset is in one order: then that may be what an index means.
    """
    told: list[dict[str, list[str]]] = [view.group.loaders.get(rank, {}).get("entries") or {} for rank in view.ranks]
    if len(told) < 2 or min(view.ranks) < 0 or not all(told):
        return ""
    names = set.intersection(*(set(each) for each in told))
    orders = {name: len({each[name][0] for each in told}) for name in names}
    entries = {name: {each[name][1] for each in told} for name in names}
    if any(set(each) != names for each in told) or 1 in orders.values():
        return ""
    if any(len(prints) > 1 for prints in entries.values()):
        return ""
    return min((name for name in names if entries[name] != {""}), default="")


def dealt(epoch: EpochView) -> bool:
    """Whether one range of indices was dealt out over the ranks, as DistributedSampler does it.

    Its sampler says so, or it shows: each rank got its part of the range, and all of them together got it once.
    """
    ranks = len(epoch.ranks)
    facts = [epoch.view.group.loaders.get(rank, {}) for rank in epoch.ranks]
    lengths = {one.get("subset", one.get("length")) for one in facts}
    length = lengths.pop() if len(lengths) == 1 else None
    if ranks < 2 or not isinstance(length, int):
        return False
    replicas = {epoch.made_with("replicas", rank) for rank in epoch.ranks}
    if replicas != {None}:
        return replicas == {ranks}
    slack = min(ranks * epoch.full_batch, length // 2)
    whole = epoch.epoch.whole and ranks == epoch.view.worlds.get(epoch.key[0], epoch.view.world_size)
    return whole and abs(epoch.rows - length) < slack and length - epoch.came < slack
