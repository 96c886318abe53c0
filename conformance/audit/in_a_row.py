"""Samples that a sampler repeats in a row before ranks take their parts (repeated augmentation): decides whether what
all ranks got is one such list.

DeiT's and torchvision's RASampler does that: each sample stands three times in a row, rank r of R takes every R-th
place from r on. So ranks have one order, and yet a sample comes to several of them.
"""

import re
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from conformance.audit.epochs import EpochView
from conformance.audit.finding import Finding
from conformance.audit.view import View
from conformance.audit.words import samples

_NAMED = re.compile(r"repeat|augment|^RA[A-Z_]", re.I)
# Copies of one sample lie side by side in a list of n with a chance of at most 2 / n, if they may lie anywhere.
_CHANCE = 1e-6
# What ranks read alike begins at one rank always, and what is repeated at each of them in turn: at most so many at one.
_AT_ONE = 3 / 4
_ENDS = 2  # samples may have fewer copies where the list begins or is cut
Places = npt.NDArray[np.int64]


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A note, if what all ranks got is one list in which each sample comes several times in a row."""
    times = _in_a_row(epoch)
    if times:
        text = f"{samples(epoch.again)} came {times} times in a row in the one order that ranks share: right if each is"
        yield epoch.at_loop("note", "in-a-row", f"{text} to be augmented {times} times (repeated augmentation)")


def repeats_by_name(view: View) -> bool:
    """Whether a sampler's name says that it repeats samples."""
    return bool(_NAMED.search(str(view.facts.get("sampler", ""))))


def _in_a_row(epoch: EpochView) -> int:
    """How often each sample came in a row; 0 if they did not."""
    rows = epoch.view.group.witnesses.of_epoch(epoch.key)
    named, ranks = repeats_by_name(epoch.view), list(epoch.ranks)
    of_job = min(ranks) >= 0 if len(ranks) > 1 else named and epoch.view.world_size == 1
    known = of_job and ranks == list(epoch.epoch.ranks)
    if not known or epoch.view.facts.get("kind") != "map" or epoch.view.own_batches or not len(rows):
        return 0
    counts = np.unique(rows[:, 0], return_counts=True)[1]
    usual = int(np.bincount(counts).argmax())
    # A list that is filled up so that ranks have equally many begins again at its end.
    if usual < 2 or (counts != usual).sum() > _ENDS + len(ranks):
        return 0
    first, length = _spans(_places(epoch, rows), rows[:, 0])
    aside = length == counts
    if (~aside).sum() > len(ranks):
        return 0
    first = first[aside & (counts > 1)]
    begins = np.bincount(first % len(ranks))
    by_chance = (2 / epoch.rows) ** len(first) > _CHANCE or begins.max(initial=0) > _AT_ONE * len(first)
    return 0 if by_chance and not named else usual


def _places(epoch: EpochView, rows: Places) -> Places:
    """At which place of one list each delivery stood, of which ranks take one each in turn."""
    order = {rank: at for at, rank in enumerate(epoch.ranks)}
    rank = np.array([order[each] for each in rows[:, 3].tolist()], np.int64)
    return epoch.places(rows) * len(order) + rank


def _spans(places: Places, ids: Places) -> tuple[Places, Places]:
    """Of each sample the first of its places, and how many there are up to its last one."""
    order = np.lexsort((places, ids))
    starts = np.flatnonzero(np.append(True, ids[order][1:] != ids[order][:-1]))
    first, last = np.minimum.reduceat(places[order], starts), np.maximum.reduceat(places[order], starts)
    return first, last - first + 1
