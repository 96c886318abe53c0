"""The lines below a finding over samples: decides what of an epoch shows it best."""

from collections.abc import Mapping

from conformance.audit.summary import RankSeen
from conformance.audit.view import EpochView
from conformance.audit.words import head


def heads(epoch: EpochView, most: int = 3) -> tuple[str, ...]:
    """How the epoch begins on some ranks."""
    return heads_of(epoch, epoch.ranks, most)


def heads_of(epoch: EpochView, ranks: Mapping[int, RankSeen], most: int = 3) -> tuple[str, ...]:
    """How the epoch begins on some of these ranks."""
    lines = [f"{epoch.view.who(rank)}: {head(seen)}" for rank, seen in list(ranks.items())[:most]]
    if epoch.view.by_content:
        named = "ids= of record()" if epoch.view.facts.get("kind") == "wrapped" else "--id-field F"
        lines.append(f"(hashes of contents: {named} shows a field instead)")
    return tuple(lines)


def first_again(epoch: EpochView) -> tuple[str, ...]:
    """Where the first sample went that came more than once; how the epoch begins if that is not known."""
    if epoch.view.by_content:
        return heads(epoch)
    first = epoch.came_again(1)
    return (epoch.lines_of(first[0]) if first else ()) or heads(epoch)
