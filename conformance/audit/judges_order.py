"""Orders: the judge over what repeats from epoch to epoch."""

from collections.abc import Iterator
from itertools import pairwise
from math import lgamma

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_unheard import ADVICE
from conformance.audit.looks import looked_at
from conformance.audit.orders import alike, in_common
from conformance.audit.resumed import number_of
from conformance.audit.view import View
from conformance.audit.words import by_rule, head, listed
from conformance.epochs.order import beyond_chance
from conformance.trial.words import count


def judge(view: View) -> Iterator[Finding]:
    """Findings over all epochs of a loader; what is only told has the id "note"."""
    yield from _same_order(view)
    yield from _contents(view)


def _same_order(view: View) -> Iterator[Finding]:
    """Every epoch came in the order of the one before, which is no order of the dataset."""
    epochs = [epoch for epoch in epochs_of(view) if epoch.rows]
    looked = {epoch.key for epoch in epochs if any(seen.only_looked_at for seen in epoch.ranks.values())}
    epochs = [epoch for epoch in epochs if epoch.key not in looked] or epochs
    if len(epochs) < 2 or view.facts.get("replacement") or looked_at(view):
        return
    pairs = _pairs(epochs)
    same = [(one, other) for one, other in pairs if alike(one, other)]
    if not same:
        return
    first, second = same[0]
    # The ranks' parts of one permutation: by chance they repeat as often as the whole of it does.
    common = sum(in_common(first.ranks[rank], second.ranks[rank]) for rank in first.ranks if rank in second.ranks)
    if not beyond_chance(len(pairs), len(same), lgamma(common + 1) * len(same)):
        if view.facts.get("shuffle"):
            yield view.at_loader(
                "note", "few-orders", f"{count(common, 'sample')} are too few to tell whether orders differ"
            )
        return
    if first.evaluation or unshuffled(view) or any(by_rule(seen) for seen in first.ranks.values()):
        return
    ranks = f" on {'both' if len(first.ranks) == 2 else 'all'} ranks" if len(first.ranks) > 1 else ""
    which = f"{second.name} came in the order of {first.name}{ranks}"
    if len(same) == len(pairs) > 1:
        which = f"every epoch came in the order of {first.name}{ranks}"
    elif len(same) > 1:
        which = f"{len(same)} of {len(pairs)} epochs came in the order of the one before{ranks}, first {second.name}"
    if not has_order(view):
        unheard = [(one, other) for one, other in same if _unheard(view, one, other)]
        if unheard:
            yield _kept_copies(*unheard[0], which)
        else:
            yield view.at_loader("note", "same-order", f"{which}: it is not shuffled, or always alike")
        return
    cause, advice = _cause(view, epochs, same)
    yield second.at_loop(
        "ORDER-6",
        "same-order",
        f"{which}{cause}",
        excerpt=_begin(first, second),
        advice=advice,
        worst=7,
    )


def _unheard(view: View, one: EpochView, other: EpochView) -> bool:
    """Whether the dataset was told of another epoch, while its copies in workers that stay were not."""
    stay = bool(view.facts.get("persistent")) and one.key[0] == other.key[0] and view.workers > 0
    told = [(one.ranks[rank], other.ranks[rank]) for rank in one.ranks if rank in other.ranks]
    numbers = [(first.facts.get("dataset_epoch"), then.facts.get("dataset_epoch")) for first, then in told]
    return stay and bool(numbers) and all(None not in pair and pair[0] != pair[1] for pair in numbers)


def _kept_copies(one: EpochView, other: EpochView, which: str) -> Finding:
    numbers = [next(iter(epoch.ranks.values())).facts["dataset_epoch"] for epoch in (one, other)]
    text = f"{which}: persistent workers keep the copies of the dataset that they began with, and did not hear of "
    return other.view.at_loader(
        "STREAM-5",
        "unheard-epoch",
        f"{text}set_epoch (from {numbers[0]} to {numbers[1]})",
        excerpt=_begin(one, other),
        advice=ADVICE,
        epochs=(other.key,),
        worst=7,
    )


def _pairs(epochs: list[EpochView]) -> list[tuple[EpochView, EpochView]]:
    """Epochs that follow each other. The one after a restart may be the one before it, read again: that tells nothing
    of the shuffle, unless each of several starts read one epoch to its end, and all of them came in one order. Nor does
    an epoch that was left and then read, as the sampler says, where it says another number of others.
    """
    pairs = list(pairwise(epochs))
    counts = len({number_of(epoch.epoch) for epoch in epochs}) > 1
    again = {
        other.key
        for one, other in pairs
        if counts and not one.epoch.whole and number_of(one.epoch) == number_of(other.epoch) is not None
    }
    within = [(one, other) for one, other in pairs if one.key[0] == other.key[0] and other.key not in again]
    each_alone = not within and len(pairs) > 1 and all(epoch.epoch.whole for epoch in epochs)
    return pairs if each_alone and all(alike(one, other) for one, other in pairs) else within


def unshuffled(view: View) -> bool:
    """Whether the sampler says that it does not shuffle."""
    return view.facts.get("shuffle") is False or view.facts.get("sampler") == "SequentialSampler"


def has_order(view: View) -> bool:
    """Whether ids are in the order of a dataset that a sampler left: of other loaders nobody promised a shuffle."""
    return view.facts.get("kind") == "map" and view.facts.get("ids", "index") != "content"


def _cause(view: View, epochs: list[EpochView], same: list[tuple[EpochView, EpochView]]) -> tuple[str, str]:
    """Why the order repeats in these pairs of epochs, as far as the sampler tells, and what to do."""
    advice = "set the epoch before each of them: sampler.set_epoch(epoch)"
    if _never_set(view, epochs):
        return ": set_epoch was never called", advice
    numbers = [(number_of(one.epoch), number_of(other.epoch)) for one, other in same]
    if any(None in pair for pair in numbers):
        return "", advice
    if all(one == other for one, other in numbers):
        return f": the sampler's epoch was {numbers[0][0]} again", advice
    if any(one == other for one, other in numbers):
        return "", advice
    told = listed(list(dict.fromkeys(number for pair in numbers for number in pair)), 3)
    advice = "draw the order in the sampler's __iter__, by its seed and epoch: manual_seed(self.seed + self.epoch)"
    return f": the sampler's epoch was {told} (set_epoch), and the order does not follow it", advice


def _never_set(view: View, epochs: list[EpochView]) -> bool:
    """Whether the sampler has set_epoch, and still says epoch 0 in all of them."""
    told = {seen.facts.get("set_epoch") for epoch in epochs for seen in epoch.epoch.ranks.values()}
    return told == {0} or (told == {None} and bool(view.facts.get("has_set_epoch")))


def _begin(*epochs: EpochView) -> tuple[str, ...]:
    """How epochs begin on their first rank."""
    first = [(epoch, *next(iter(epoch.ranks.items()))) for epoch in epochs]
    return tuple(
        f"{epoch.name}{epoch.view.where(rank)}: {head(seen, epoch.view.summary.texts)}" for epoch, rank, seen in first
    )


def _contents(view: View) -> Iterator[Finding]:
    changed = [index for index, told in sorted(view.group.contents.items()) if len(set(told.values())) > 1]
    if changed:
        seen = sum(len(told) > 1 for told in view.group.contents.values())
        text = (
            f"{len(changed)} of {count(seen, 'sample')} looked at have another content in another epoch: augmentation?"
        )
        yield view.at_loader("note", "contents", f"{text}: augmentation? (sample {listed(changed, 3)})")
