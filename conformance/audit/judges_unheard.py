"""Copies of a dataset in workers that stay: decides whether they heard of the epoch that the dataset was set to."""

from collections.abc import Iterator
from itertools import pairwise

from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.orders import alike
from conformance.audit.summary import RankSeen
from conformance.audit.view import View

ADVICE = "persistent_workers=False, or keep the epoch in shared memory: torch.tensor(0).share_memory_()"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding, where set_epoch has changed the dataset, and a copy has what it had in the epoch before.

    Where both epochs came in one order as well, `judges_order` tells it.
    """
    if not view.facts.get("persistent"):
        return
    for one, other in pairwise(epochs_of(view)):
        if one.key[0] != other.key[0] or alike(one, other):
            continue
        for rank in other.ranks:
            told = _stayed(one.ranks[rank], other.ranks[rank]) if rank in one.ranks else ""
            if told:
                text = f"{other.name}: {told}, as persistent workers keep the copies that they began with"
                yield other.view.at_loader(
                    "STREAM-5", "unheard-epoch", text, advice=ADVICE, epochs=(other.key,), worst=7
                )
                return


def _stayed(one: RankSeen, other: RankSeen) -> str:
    """What was set, and what a worker's copy still has; "" if all heard of it."""
    before, now = one.facts.get("dataset_state") or {}, other.facts.get("dataset_state") or {}
    for name in [name for name in now if name in before and now[name] != before[name]]:
        for worker, copy in other.workers.items():
            earlier = (one.workers[worker].dataset_state if worker in one.workers else None) or {}
            kept = copy.dataset_state or {}
            if name in kept and name in earlier and kept[name] == earlier[name] != now[name]:
                told = f"set_epoch has set .{name} of the dataset to {now[name]}"
                return f"{told}, and it is {kept[name]} in worker {worker}"
    return ""
