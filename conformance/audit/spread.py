"""Where the copies of samples lie: decides whether they lie anywhere, on any rank and in any place of its stream.

If any order of all deliveries is as likely as another, each pair of copies is any pair of deliveries: on one rank as
often, near each other as often, and hardly ever at one distance.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from math import comb, log

import numpy as np
import numpy.typing as npt

from conformance.audit.epochs import EpochView
from conformance.epochs.chances import improbable

# Each of some ten tests fails what lies anywhere with a chance of at most this; so many pairs must be seen that one of
# them would fail what never gives a rank a sample twice.
CHANCE = log(1e-4)
_COPIES = 40  # of one sample are compared with each other
_NEAR = (1 / 4, 1 / 16)  # of the longest stream of a rank
_MANY = 40  # pairs near each other are to be expected on one rank, for passes to show
Numbers = npt.NDArray[np.int64]


class Spread:
    """The deliveries of one epoch as far as they are kept, in an order that has nothing to do with where they lie."""

    def __init__(self, epoch: EpochView) -> None:
        rows = epoch.witnesses
        rows = rows[np.random.default_rng(0).permutation(len(rows))]
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        self.ids, self.ranks = rows[:, 0], rows[:, 3]
        self.places = epoch.places(rows)
        new = np.append(True, self.ids[1:] != self.ids[:-1])[: len(rows)]
        at = np.arange(len(rows))
        self._turns = at - np.maximum.accumulate(np.where(new, at, 0)) if len(rows) else at

    @property
    def length(self) -> int:
        """How long the longest stream is."""
        return int(self.places.max(initial=0)) + 1

    @cached_property
    def pairs(self) -> tuple[Numbers, Numbers]:
        """Pairs of copies that have no delivery in common."""
        first = np.flatnonzero((self._turns[:-1] % 2 == 0) & (self.ids[1:] == self.ids[:-1]))
        return first, first + 1

    @property
    def share_within(self) -> float:
        """Which share of all pairs of deliveries lies on one rank."""
        counts = np.unique(self.ranks, return_counts=True)[1].astype(float)
        every = len(self.ids) * (len(self.ids) - 1)
        return float((counts * (counts - 1)).sum() / every) if every else 0.0

    def near(self, distance: float) -> tuple[Numbers, list[float]]:
        """Pairs of copies: all, those so near each other, and those of them on one rank; and what share each has of
        all pairs of deliveries.
        """
        found = np.zeros(3, np.int64)
        for shift in range(1, min(_COPIES, len(self.ids))):
            one = np.flatnonzero((self.ids[shift:] == self.ids[:-shift]) & (self._turns[shift:] < _COPIES))
            near = np.abs(self.places[one + shift] - self.places[one]) <= distance
            same = self.ranks[one + shift] == self.ranks[one]
            found += (len(one), int(near.sum()), int((near & same).sum()))
        of_ranks = [self.places[self.ranks == rank] for rank in np.unique(self.ranks)]
        every = len(self.ids) * (len(self.ids) - 1) / 2 or 1.0
        shares = [1.0, _near(self.places, distance) / every, sum(_near(each, distance) for each in of_ranks) / every]
        return found, shares


def spread_out(epochs: Sequence[Spread], pass_of_rank: float | None) -> bool:
    """Whether copies lie anywhere in these epochs together, as far as chance goes, and enough was seen to tell.

    `pass_of_rank`: if ranks went on to another pass, how long one is on each: passes keep copies apart, which shows
    where many would be near each other.
    """
    pairs = sum(len(each.pairs[0]) for each in epochs)
    within = sum(int((each.ranks[each.pairs[0]] == each.ranks[each.pairs[1]]).sum()) for each in epochs)
    if not pairs:
        return False
    share = sum(len(each.pairs[0]) * each.share_within for each in epochs) / pairs
    # So few that none within a rank would be no surprise tell nothing.
    if not 0 < share < 1 or pairs * log(1 - share) > CHANCE or improbable(within, pairs, share, CHANCE):
        return False
    longest = max(each.length for each in epochs)
    distances = [(each * longest, 0) for each in _NEAR]
    distances += [] if pass_of_rank is None else [(min(pass_of_rank * _NEAR[0], distances[-1][0]), _MANY)]
    return not _at_one_distance(epochs, pairs) and not any(_nearness_is_off(epochs, *each) for each in distances)


def _at_one_distance(epochs: Sequence[Spread], pairs: int) -> bool:
    distances: Counter[int] = Counter()
    for each in epochs:
        one, other = each.pairs
        distances.update(np.abs(each.places[one] - each.places[other]).tolist())
    most, longest = max(distances.values()), max(each.length for each in epochs)
    return log(comb(pairs, most)) + (most - 1) * log(min(1.0, 2 / longest)) < CHANCE


def _nearness_is_off(epochs: Sequence[Spread], distance: float, least: int) -> bool:
    """Whether copies are near each other too often, or too seldom, on any ranks or on one; or are too few to tell."""
    told = [each.near(distance) for each in epochs]
    pairs = sum(int(found[0]) for found, _ in told)
    for at in (1, 2):
        expected = sum(int(found[0]) * shares[at] for found, shares in told)
        near = sum(int(found[at]) for found, _ in told)
        if expected < least or improbable(near, pairs, expected / pairs, CHANCE):
            return True
    return False


def _near(places: Numbers, distance: float) -> float:
    """How many pairs of these places are so near each other."""
    sorted_ones = np.sort(places)
    behind = np.searchsorted(sorted_ones, sorted_ones + distance, side="right") - np.arange(len(places)) - 1
    return float(behind.sum())
