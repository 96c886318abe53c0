"""Ranks whose datasets differ: decides whether each has files of its own, or one list of files in another order."""

from collections import Counter
from collections.abc import Iterator

from conformance.audit.endless import passes_of
from conformance.audit.epochs import EpochView
from conformance.audit.finding import Finding
from conformance.audit.orderings import dealt, reordered
from conformance.audit.words import samples
from conformance.trial.words import count

OTHER_ORDER = "other-order"
SORT = "sort what is listed, sorted(glob(...)), on every rank: a set, or a folder, may have another order on each"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Findings of an epoch whose ranks do not have one dataset, as their prints say; its ids are indices."""
    name = reordered(epoch.view) if dealt(epoch) else ""
    if name:
        yield other_order(epoch, name)
    else:
        own = "each rank has a dataset of its own: an index means another sample on each"
        if dealt(epoch):
            own += ", and yet one range of indices is dealt out to them: wrong, unless index i is one sample on all"
        yield epoch.at_loop("note", "own-datasets", own)
    if not epoch.view.facts.get("replacement"):
        yield from list(_again(epoch)) or ([] if dealt(epoch) else list(_lost(epoch)))


def other_order(epoch: EpochView, name: str) -> Finding:
    """Ranks that hold the same files, each in another order, and that are dealt one range of indices."""
    many = epoch.view.facts.get("length")
    text = f"the order of the dataset differs by rank: {name} has the same entries on each, in another order, and the"
    text += f" sampler deals out one range of {many:,} indices: some samples come to several ranks, others to none"
    return epoch.view.at_loader("ORDER-4", OTHER_ORDER, text, advice=SORT, epochs=(epoch.key,), worst=9)


def asked_of(epoch: EpochView, rank: int) -> int:
    """How many samples a rank's sampler said it gives, or 0.

    It said so when the loader was made. Where len(loader) changes from epoch to epoch, what came counts, as far as it
    is what len() said.
    """
    told = epoch.made_with("sampler_length", rank)
    if not isinstance(told, int):
        return 0
    several = [each.ranks[rank].facts.get("steps") for each in epoch.view.group.epochs.values() if rank in each.ranks]
    seen = epoch.epoch.ranks[rank]
    return seen.rows if len(set(several)) > 1 and seen.steps == seen.facts.get("steps") else told


def _again(epoch: EpochView) -> Iterator[Finding]:
    again = Counter((row[0], row[3]) for row in epoch.view.group.witnesses.of_epoch(epoch.key).tolist())
    for (index, rank), times in sorted(again.items()):
        facts = epoch.view.group.loaders.get(rank, {})
        length = facts.get("subset", facts.get("length"))
        if times > 1 and rank in epoch.ranks and passes_of(epoch, rank, length) is None:
            text = f"sample {index} of {epoch.view.who(rank)} came {count(times, 'time')}"
            advice = "look at the sampler"
            yield epoch.view.at_loader("PART-1", "again", text, advice=advice, epochs=(epoch.key,), worst=8)
            return


def _lost(epoch: EpochView) -> Iterator[Finding]:
    for rank, seen in epoch.ranks.items():
        facts = epoch.view.group.loaders.get(rank, {})
        expected = facts.get("subset", facts.get("length"))
        tail = (epoch.batch_size or 1) if facts.get("drop_last") else 1
        if epoch.whole and isinstance(expected, int) and seen.rows + tail <= expected and not asked_of(epoch, rank):
            text = f"{samples(expected - seen.rows)} of the {expected:,} of {epoch.view.who(rank)} never came"
            yield epoch.view.at_loader("PART-2", "lost", text, epochs=(epoch.key,), worst=8)
            return
