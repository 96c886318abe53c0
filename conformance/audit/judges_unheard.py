"""Copies of a dataset in workers that stay: decides whether they heard of what the dataset was set to."""

from collections.abc import Iterator
from itertools import pairwise

from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.orders import alike
from conformance.audit.summary import RankSeen
from conformance.audit.view import View

ADVICE = "persistent_workers=False, or keep it in shared memory: torch.tensor(0).share_memory_()"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding, where the dataset was changed between two epochs, and a copy has what it had in the first of them.

    Where set_epoch has changed it, and both epochs came in one order as well, `judges_order` tells it.
    """
    if not view.facts.get("persistent"):
        return
    for one, other in pairwise(epochs_of(view)):
        hears = any(seen.facts.get("dataset_epoch") is not None for seen in other.ranks.values())
        if one.key[0] != other.key[0] or (hears and alike(one, other)):
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
                return f".{name} of the dataset was set to {now[name]}, and it is {kept[name]} in worker {worker}"
    return ""
