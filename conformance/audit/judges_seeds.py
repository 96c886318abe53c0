"""Ranks that cut their parts out of different orders: decides by what is known of the cause how that is told."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView
from conformance.audit.excerpts import first_again, heads
from conformance.audit.finding import Finding
from conformance.audit.judges_datasets import OTHER_ORDER, SORT
from conformance.audit.orderings import reordered
from conformance.audit.words import ascending, listed, samples

OTHER_SEEDS = "other-seeds"
KEYS = (OTHER_SEEDS, OTHER_ORDER)
# What is found of ranks that have different orders where too little tells so.
OF_OTHER_ORDERS = {("PART-1", "again"), ("PART-2", "lost")}
_SEED = "give the sampler of every rank one and the same seed"


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Ranks cut their shards out of different orders, so that some samples are in several and others in none."""
    lost, seen = epoch.histogram.get(0, 0), list(epoch.ranks.values())
    if epoch.view.by_content or len(seen) < 2 or not epoch.whole or not lost or not epoch.again:
        return
    slack = len(seen) * epoch.full_batch
    expected = epoch.view.expected or 0
    if abs(epoch.rows - expected) > slack or any(ascending(each) for each in seen):
        return
    yield other_orders(epoch)


def other_orders(epoch: EpochView) -> Finding:
    """Of an epoch in which samples came to several ranks, where ranks are known to have different orders."""
    never = f", and {epoch.histogram.get(0, 0):,} to none" if epoch.whole else ""
    key, cause, advice = _cause(epoch)
    return epoch.view.at_loader(
        "ORDER-4",
        key,
        f"{cause}: {samples(epoch.again)} came to several ranks{never}",
        excerpt=_shown(epoch),
        advice=advice,
        epochs=(epoch.key,),
        worst=9,
    )


def _shown(epoch: EpochView) -> tuple[str, ...]:
    """Lines that show other orders: equal ones would show the contrary."""
    lines = first_again(epoch)
    steps = [line.partition(": ")[2] for line in lines if not line.startswith("sample ")]
    return lines if len(set(steps)) == len(steps) else heads(epoch)


def _cause(epoch: EpochView) -> tuple[str, str, str]:
    """The kind, what is known of the cause, and what to do."""
    name = reordered(epoch.view)
    if name:
        entries = f"{name} has the same entries on each, in another order"
        return OTHER_ORDER, f"the order of the dataset differs by rank ({entries})", SORT
    facts = {rank: epoch.view.group.loaders.get(rank, {}) for rank in epoch.ranks}
    seeds = {rank: one.get("seed") for rank, one in facts.items()}
    epochs = {rank: seen.facts.get("set_epoch") for rank, seen in epoch.ranks.items()}
    still = all(one.get("shuffle") is False for one in facts.values())
    if not still and None not in seeds.values() and len(set(seeds.values())) > 1:
        return OTHER_SEEDS, f"ranks shuffle by different seeds ({listed([*seeds.values()], 4)})", _SEED
    if not still and None not in epochs.values() and len(set(epochs.values())) > 1:
        advice = "call set_epoch with the same number on every rank"
        return OTHER_SEEDS, f"ranks shuffle by different epochs (set_epoch: {listed([*epochs.values()], 4)})", advice
    prints = {one.get("dataset_print") for one in facts.values()} - {None}
    if len(prints) > 1:
        advice = f"look whether index i is the same sample on every rank ({SORT}), and at the seeds"
        return OTHER_SEEDS, "ranks have different orders, of datasets that differ or by other seeds", advice
    if still or None not in seeds.values():
        why = "do not shuffle" if still else "have one seed"
        advice = "see whether index i is the same sample on every rank: sort what is listed"
        return OTHER_SEEDS, f"ranks have different orders, though their samplers {why}", advice
    return OTHER_SEEDS, "ranks shuffle by different seeds", _SEED
