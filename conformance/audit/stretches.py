"""Stretches that two readers gave alike: decides whether contents came again because a part was read twice.

Two readers have a stretch in common if what came again lies at one distance in their streams: the sample at place a of
the one is at place a - d of the other, for one d. That is what a shard gives that both read. Let k contents come again
between two readers, of which the longer one gave n samples. If equal samples may lie anywhere in the dataset, any order
of a reader's samples is as likely as another. Then r given pairs lie at one distance with a chance of at most
1 / ((n - 1)(n - 2)...(n - r + 1)) at most: the first pair may lie anywhere, and says where in the longer stream each
other one lies. There are C(k, r) ways to choose them, so that `chance` is at most C(k, r) times that.

Equal samples that lie side by side go to readers that take turns, and lie at one distance too: at none, or what readers
have drifted apart. So a stretch counts only if it lies elsewhere in the other stream. And a long document that a corpus
has twice is a stretch too. So it must be a good part of a stream, or the end of one that is the beginning of the other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from math import exp, lgamma
from operator import itemgetter

import numpy as np
import numpy.typing as npt

Reader = tuple[int, int]  # a rank, and its worker
# A shift of fewer samples, or of a smaller share of a stream, may be that of readers which take turns.
_APART, SHARE = 8, 8
_LEAST = 8  # samples of a stretch
Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stretch:
    """What two readers gave alike: so many samples, which begin with `id`; `chance` as above.

    `edge`: it is the end of what `first` gave, and the beginning of what `second` gave.
    """

    first: Reader
    second: Reader
    samples: int
    chance: float
    edge: bool
    id: int


def stretches(rows: Places, lengths: dict[Reader, int], thinned: int = 1) -> Iterator[Stretch]:
    """The longest stretch of each two readers that counts, if there is one.

    `rows` are the witnesses of an epoch whose samples came again, sorted by id; `lengths` says how many samples each
    reader gave. Of about every `thinned`-th sample it is known where it went.
    """
    for readers, pairs in sorted(_pairs(rows).items()):
        found = _longest(np.array(pairs, np.int64), readers, lengths, thinned)
        if found is not None:
            yield found


def _pairs(rows: Places) -> dict[tuple[Reader, Reader], list[tuple[int, int, int]]]:
    """Of each two readers (id, place in the one, place in the other) of what both gave.

    Of more readers of a sample, the first with each other one. A content that a reader has twice tells nothing.
    """
    found: dict[tuple[Reader, Reader], list[tuple[int, int, int]]] = {}
    for id, same in groupby(rows.tolist(), itemgetter(0)):
        gave = [((rank, worker), place) for *_, rank, worker, _, place in same]
        if len({reader for reader, _ in gave}) == len(gave):
            for other, there in gave[1:]:
                found.setdefault((gave[0][0], other), []).append((id, gave[0][1], there))
    return found


def _longest(pairs: Places, readers: tuple[Reader, Reader], lengths: dict[Reader, int], thinned: int) -> Stretch | None:
    """The stretch at the commonest distance, if it is elsewhere in the other stream and a good part of one of both."""
    ids, mine, theirs = pairs.T
    distances, times = np.unique(mine - theirs, return_counts=True)
    at = int(times.argmax())
    distance, most = int(distances[at]), int(times[at])
    longer, shorter = max(lengths[each] for each in readers), min(lengths[each] for each in readers)
    if most * thinned < _LEAST or not elsewhere(distance, longer):
        return None
    # The one whose samples come later ends with it, if it is where two parts meet.
    first, second = readers if distance > 0 else readers[::-1]
    begins, ends = (theirs, mine) if distance > 0 else (mine, theirs)
    here = mine - theirs == distance
    slack = thinned * 4 if thinned > 1 else 0
    edge = int(begins[here].min()) <= slack and int(ends[here].max()) >= lengths[first] - 1 - slack
    if not edge and most * thinned * SHARE < shorter:
        return None
    first_of_it = int(ids[here][begins[here].argmin()])
    return Stretch(first, second, most, chance(len(ids), most, longer), edge, first_of_it)


def elsewhere(distance: int, longer: int) -> bool:
    """Whether two places in streams, the longer of which has so many samples, are not side by side in one source."""
    return abs(distance) >= max(_APART, longer // SHARE)


def chance(pairs: int, times: int, longer: int) -> float:
    """The chance, at most, that so many of so many pairs lie at one distance if equal samples may lie anywhere."""
    # C(k, r) (n - r)! / (n - 1)!
    ways = lgamma(pairs + 1) - lgamma(times + 1) - lgamma(pairs - times + 1)
    return min(1.0, exp(ways + lgamma(longer - times + 1) - lgamma(longer)))
