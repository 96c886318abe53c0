"""Subsets that differ from rank to rank: decides whether each rank was given its part, or a split of its own."""

from collections.abc import Iterator

from conformance.audit.counts import Counts, different, merged
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.excerpts import first_again
from conformance.audit.finding import Finding
from conformance.audit.looks import looked_at
from conformance.audit.view import View
from conformance.audit.words import samples

_ADVICE = "split once, alike on every rank: random_split(..., generator=torch.Generator().manual_seed(0))"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Findings of one epoch whose ranks have different subsets of one dataset; none where each has a part of it."""
    if epoch.view.by_content or not differ(epoch.view) or not epoch.epoch.whole:
        return
    readers = epoch.again > 0 and not epoch.repeats.within_a_rank
    lost = _lost(epoch)
    never = f", and {lost}" if lost else ""
    if _shared(epoch) and readers:
        text = f"ranks were given different subsets: {samples(epoch.again)} came to several ranks{never}"
        yield _found(epoch, "PART-1", text)
    elif _shared(epoch) and not epoch.again and epoch.whole:
        text = "ranks were given different subsets, and each of these is shared out among all ranks once more"
        yield _found(epoch, "PART-2", f"{text}: {lost}" if lost else text)
    elif readers and not _fills_up(epoch):
        text = f"ranks were given different subsets, and {samples(epoch.again)} came to several ranks"
        yield _found(epoch, "PART-1", f"{text}: right only if each rank trains a model of its own")


def judge_view(view: View) -> Iterator[Finding]:
    """Samples by which one rank evaluates, and which another one trains on, as each made a split of its own."""
    if view.by_content or not view.evaluates:
        return
    for other in view.all_loaders():
        if not one_dataset(view, other) or not differ(other) or other.evaluates or looked_at(other):
            continue
        if not any(_shared(epoch) for epoch in (*epochs_of(view), *epochs_of(other))):
            continue
        evaluated = came_of(view)
        shared = evaluated.in_both(came_of(other))
        if shared:
            many = different(evaluated.histogram())
            which = f"{', '.join(map(str, shared[:3]))}{', ...' if len(shared) > 3 else ''}"
            where = f"ranks train on {len(shared)} at line {other.line} ({which})"
            text = f"of {samples(many)} that are evaluated here, {where}: they were given different subsets"
            yield view.at_loader("SPLIT", "other-splits", text, advice=_ADVICE, worst=8)


def _found(epoch: EpochView, clause: str, text: str) -> Finding:
    excerpt = first_again(epoch)
    return epoch.view.at_loader(
        clause, "other-subsets", text, excerpt=excerpt, advice=_ADVICE, epochs=(epoch.key,), worst=9
    )


def differ(view: View) -> bool:
    """Whether it is known of each rank which subset of one dataset it has, and they are not one."""
    prints = [view.group.loaders.get(rank, {}).get("subset_print") for rank in view.ranks]
    return min(view.ranks) >= 0 and None not in prints and len(set(prints)) > 1 and not view.has_own_datasets


def _shared(epoch: EpochView) -> bool:
    """Whether each rank read only its share of its subset, as if it were that of all ranks."""
    drops = len(epoch.ranks) * (epoch.view.batch_size or 1) if epoch.view.facts.get("drop_last") else len(epoch.ranks)
    for rank, seen in epoch.ranks.items():
        subset = epoch.view.group.loaders.get(rank, {}).get("subset")
        if not seen.whole or not isinstance(subset, int) or abs(seen.rows * len(epoch.ranks) - subset) > drops:
            return False
    return len(epoch.ranks) > 1


def _fills_up(epoch: EpochView) -> bool:
    """Whether what came again may be there to make the ranks' lists equally long: few samples, or at their ends."""
    extra = epoch.rows - epoch.came
    if extra < len(epoch.ranks):
        return True
    rows = epoch.repeats.rows
    last = {rank: seen.steps - 1 for rank, seen in epoch.ranks.items()}
    elsewhere = [sample for sample, rank, step in rows[:, [0, 3, 5]].tolist() if step < last[rank]]
    return extra < len(epoch.ranks) * (epoch.view.batch_size or 1) and len(set(elsewhere)) == len(elsewhere)


def _lost(epoch: EpochView) -> str:
    """``40 of the dataset's 120 to none``; of an evaluation nobody expects it."""
    length = epoch.view.facts.get("length")
    if not isinstance(length, int) or not epoch.whole or length <= epoch.came or epoch.evaluation:
        return ""
    return f"{length - epoch.came:,} of the dataset's {length:,} to none"


def one_dataset(view: View, other: View) -> bool:
    """Whether two loaders read one dataset."""
    names = ("dataset", "dataset_print", "length")
    return view.key != other.key and all(view.facts.get(name) == other.facts.get(name) for name in names)


def came_of(view: View) -> Counts:
    """How often each sample came, over all epochs."""
    return merged(epoch.epoch.counts for epoch in epochs_of(view))
