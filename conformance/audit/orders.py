"""Two epochs side by side: decides whether they came in one order, as far as both went."""

from conformance.audit.epochs import EpochView
from conformance.audit.summary import RankSeen


def alike(one: EpochView, other: EpochView) -> bool:
    """Whether two epochs begin alike on each rank that had both, with more than a sample."""
    ranks = _of_both(one, other)
    return bool(ranks) and all(in_common(one.ranks[rank], other.ranks[rank]) > 1 for rank in ranks)


def differ(one: EpochView, other: EpochView) -> bool:
    """Whether two epochs are seen to differ on some rank: one that went too short a way differs from nothing."""
    return any(not in_common(one.ranks[rank], other.ranks[rank]) for rank in _of_both(one, other))


def in_common(one: RankSeen, other: RankSeen) -> int:
    """With how many samples two epochs of a rank begin alike, as far as both went; 0 if they do not begin alike."""
    step = max(set(one.prefixes) & set(other.prefixes), default=0)
    if not step or one.prefixes[step] != other.prefixes[step]:
        return 0
    return int(one.rows * step / one.steps) if one.steps else 0


def _of_both(one: EpochView, other: EpochView) -> list[int]:
    # A rank that was killed early may have had nothing yet.
    return [rank for rank in one.ranks if rank in other.ranks and one.ranks[rank].rows and other.ranks[rank].rows]
