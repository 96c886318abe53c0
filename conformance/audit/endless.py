"""Endless streams: decides whether samples came again only because a stream that never ends began a new pass.

A sampler or a dataset that never ends is read until the loop stops. Then a sample may come again once all have come:
not before, over all ranks together, up to what readers are ahead of each other.
"""

import numpy as np
import numpy.typing as npt

from conformance.audit.epochs import EpochView
from conformance.audit.summary import RankSeen

_AHEAD = 4  # a part of a pass, by which a shuffle buffer may bring a sample forward
_OFFSETS = 8  # so many places in a pass are tried as the one where a restart went on


def passes(epoch: EpochView) -> float | None:
    """How many passes the ranks made together; None if not all had come before one came again, or it came to an end."""
    if epoch.view.has_own_datasets:
        return None
    length = epoch.view.expected or epoch.came
    plain = _passes(epoch, epoch.ranks, length)
    return plain if plain is not None else _padded(epoch, length)


def passes_of(epoch: EpochView, rank: int, length: object) -> float | None:
    """The same of one rank that has a dataset of its own, of this length."""
    return _passes(epoch, {rank: epoch.ranks[rank]}, length) if isinstance(length, int) else None


def _passes(epoch: EpochView, ranks: dict[int, RankSeen], length: int) -> float | None:
    rows = sum(seen.rows for seen in ranks.values())
    readers = sum(max(1, len(seen.workers)) if epoch.view.iterable else 1 for seen in ranks.values())
    # What each reader holds back of a pass: a batch that it has not filled, or has dropped.
    tail = min(readers * max(max(seen.sizes, default=1) for seen in ranks.values()), length // _AHEAD)
    if any(seen.how == "whole" for seen in ranks.values()) or not length or rows < length - tail:
        return None
    if all(_within_its_length(seen, length + tail, len(ranks)) for seen in ranks.values()):
        return None
    kept = epoch.view.group.witnesses.of_epoch(epoch.key)
    kept = kept[np.isin(kept[:, 3], list(ranks))]
    samples, which = np.unique(kept[:, 0], return_inverse=True)
    places = _places(kept[:, 5], ranks)
    order = np.lexsort((places, which))
    which, places = which[order], places[order]
    first = np.searchsorted(which, np.arange(len(samples)))
    again = np.arange(len(which)) - first[which]
    # Another start may go on anywhere in a pass.
    begins = [length] if not epoch.key[0] and not epoch.resumed else [length * at // _OFFSETS for at in range(1, 9)]
    slack = length // _AHEAD
    for begin in begins:
        missed = (begin < length) & (places[first] >= begin + slack)[which]
        earliest = begin + (again - 1 + missed) * (length - tail) - slack
        if (places >= earliest)[again > 0].all():
            return rows / length
    return None


def in_order(epoch: EpochView, rank: int) -> list[int]:
    """What a rank got, in its order; all of it, where all deliveries are kept."""
    rows = epoch.view.group.witnesses.of_epoch(epoch.key)
    rows = rows[rows[:, 3] == rank]
    return [int(each) for each in rows[np.lexsort((rows[:, 6], rows[:, 5])), 0]]


def _padded(epoch: EpochView, length: int) -> float | None:
    """The same where a sampler over ranks pads each pass, so that its first samples come to other ranks at its end."""
    ranks, facts = epoch.ranks, epoch.view.facts
    each = -(-length // len(ranks))
    added = each * len(ranks) - length
    if not added or facts.get("kind") != "map" or not epoch.view.group.witnesses.keeps_all or epoch.resumed:
        return None
    if epoch.key[0] or any(seen.how == "whole" or _within_its_length(seen, length, 1) for seen in ranks.values()):
        return None
    size = each - each % epoch.full_batch if facts.get("drop_last") else each
    came = [in_order(epoch, rank) for rank in ranks]
    for at in range(0, max(map(len, came)), max(1, size)):
        one = [id for ids in came for id in ids[at : at + size]]
        if len(one) - len(set(one)) > added:
            return None
    return sum(map(len, came)) / (size * len(ranks)) if size else None


def _within_its_length(seen: RankSeen, length: int, ranks: int) -> bool:
    """Whether len() told of one pass, and a rank was not read further."""
    said = seen.facts.get("steps")
    return isinstance(said, int) and seen.steps <= said and said * ranks * max(seen.sizes, default=0) <= length


def _places(steps: npt.NDArray[np.int64], ranks: dict[int, RankSeen]) -> npt.NDArray[np.float64]:
    """How many samples had come to all ranks when those of a step had, as ranks go step by step."""
    # One that was stopped earlier is counted on: the others' shares of a stream leave room for its own.
    each_step = sum(seen.rows / seen.steps for seen in ranks.values() if seen.steps)
    return ((steps + 1) * each_step).astype(np.float64)
