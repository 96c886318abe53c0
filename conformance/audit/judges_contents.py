"""Contents that came more than once: decides whether equal samples explain it, or only that one was read again."""

from collections.abc import Iterator
from math import comb, perm, prod

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.excerpts import first_again, steps_of
from conformance.audit.finding import Finding
from conformance.audit.rings import ring_of
from conformance.audit.stretches import SHARE, Reader, Stretch, elsewhere, stretches
from conformance.audit.summary import FULL_RANGE
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count

# So sure is an accusation that rests on chance.
_CHANCE = 1e-6
_EPOCHS = 8  # so many are compared

Given = dict[int, list[Reader]]  # of each content: who gave it


def judge(epoch: EpochView) -> Finding:
    """Of an epoch in which contents came again. A fault only if it can't be that the dataset holds them twice."""
    told = f"{samples(epoch.again)} of {epoch.came:,} have contents that came more than once"
    ring = ring_of(epoch)
    if ring:
        return _overwritten(epoch, ring)
    if _may_be_padding(epoch):
        text = "what makes ranks equal, equal samples, or one read again"
        return epoch.at_loop("note", "equal-contents", f"{told}: {text}; --id-field or ids= tells them apart")
    found = list(_stretches(epoch))
    if found:
        return _overlap(epoch, f"{told}, {_said(epoch, found)}", found[0])
    if _by_chance(epoch) <= _CHANCE:
        return _overlap(epoch, f"{told}, each time from another reader: the parts of workers or ranks overlap")
    changing = _changing(epoch.view) if epoch.epoch.whole else 1.0
    if changing <= _CHANCE:
        why = "(equal samples would come again in every epoch, and here it is others)"
        return _overlap(epoch, f"{told}, each time from another reader: the parts of workers or ranks overlap {why}")
    text = "equal samples, or one read again" if changing == 1.0 else "read again, it seems, as others do in each epoch"
    return epoch.at_loop("note", "equal-contents", f"{told}: {text}; --id-field or ids= tells them apart")


def _overwritten(epoch: EpochView, ring: int) -> Finding:
    text = (
        f"each batch of {epoch.full_batch} holds {ring} contents in turn, so that sample {ring} of it is sample 0 again"
    )
    return epoch.view.at_dataset(
        "WORK-16",
        "overwritten",
        f"{text}, as where buffers are filled again before a batch is made of them",
        excerpt=first_again(epoch),
        advice="yield a copy of each sample (clone(), copy()), or a new one",
        epochs=(epoch.key,),
        worst=8,
    )


def _may_be_padding(epoch: EpochView) -> bool:
    """Whether so few came again, and none on one rank, that a library may have padded ranks to equal lengths."""
    ranks = len(epoch.ranks)
    equal = len({seen.rows for seen in epoch.ranks.values()}) == 1
    return (
        ranks > 1 and equal and not epoch.repeats.within_a_rank and epoch.rows - epoch.came < ranks * epoch.full_batch
    )


def _overlap(epoch: EpochView, text: str, stretch: Stretch | None = None) -> Finding:
    return epoch.view.at_dataset(
        "WORK-3" if epoch.view.iterable else "PART-1",
        "again",
        text,
        excerpt=first_again(epoch) if stretch is None else steps_of(epoch, stretch.id),
        advice="let the parts of the dataset that workers and ranks read be disjoint",
        epochs=(epoch.key,),
        worst=8,
    )


def _stretches(epoch: EpochView) -> Iterator[Stretch]:
    """The stretches that two readers have in common, which chance does not explain, the longest first."""
    lengths = _lengths(epoch)
    if not epoch.epoch.whole or len(lengths) < 2:
        return
    found = list(stretches(epoch.repeats.rows, lengths, _thinned(epoch)))
    tried = comb(len(lengths), 2) * len(epoch.view.group.epochs)
    yield from sorted((each for each in found if each.chance * tried <= _CHANCE), key=lambda each: -each.samples)


def _said(epoch: EpochView, found: list[Stretch]) -> str:
    """Who has what in common with whom, of the longest stretch, and how many other pairs of readers have one."""
    longest, several = found[0], sum(each.samples for each in found)
    which = "" if several == epoch.again else f"{several:,} of them "
    if epoch.repeats.known < epoch.again:
        which = f"{several:,} of the {epoch.repeats.known:,} that are known "
    pair = (longest.first, longest.second)
    one, other = (_reader(epoch, each) for each in (pair if longest.edge else sorted(pair)))
    many = samples(longest.samples)
    said = f"{one} and {other} gave {many} alike"
    if longest.edge:
        said = f"{one} ended with the {many} with which {other} began"
    more = f" (so did {count(len(found) - 1, 'other pair')} of readers)" if len(found) > 1 else ""
    return f"{which}in one order from two readers: {said}{more}, as where both read one shard, or there are two of it"


def _reader(epoch: EpochView, reader: Reader) -> str:
    rank, worker = reader
    if worker < 0:
        return epoch.view.who(rank)
    return f"worker {worker}" + (f" of {epoch.view.who(rank)}" if len(epoch.ranks) > 1 else "")


def _by_chance(epoch: EpochView) -> float:
    """With which chance each content that came again came from another reader, if equal samples lie anywhere.

    Those side by side in one source go to other readers where these take turns, and files that hold nothing twice may
    have some samples in common: what lies at about one place of both streams is left out, and so are few of many.
    """
    lengths, many = _lengths(epoch), _number_of_readers(epoch)
    given = _given(epoch)
    if many < 2 or not all(_apart(readers) for readers, _ in given.values()):
        return 1.0
    longer = max(lengths.values())
    several = [places for readers, places in given.values() if len(readers) > 1]
    far = sum(elsewhere(max(places) - min(places), longer) for places in several)
    if far * _thinned(epoch) * SHARE < epoch.rows / many:
        return 1.0
    return float((1 - 1 / many) ** far)


def _changing(view: View) -> float:
    """With which chance nothing is wrong with contents of which other ones come again in each epoch; 1 if they do not.

    Equal samples come equally often in every epoch that is read to its end, but for what the loader drops. Where
    samples are drawn anew in each epoch, or changed at random, one reader would get equal ones as well.
    """
    read = [epoch for epoch in epochs_of(view) if epoch.epoch.whole]
    whole = [epoch for epoch in read if len(epoch.epoch.ranks) == len(view.ranks_in(epoch.key[0]))]
    epochs = whole[:_EPOCHS]
    given = [(epoch, {content: by for content, (by, _) in _given(epoch).items()}) for epoch in epochs]
    several = {(content, frozenset(by)): by for _, each in given for content, by in each.items() if len(by) > 1}
    many = max(map(_number_of_readers, epochs), default=0)
    pairs = [(one, other, epoch) for at, (_, one) in enumerate(given) for epoch, other in given[:at] + given[at + 1 :]]
    if many < 2 or not all(map(_apart, several.values())):
        return 1.0
    if not any(_fewer(one, other) > _dropped(epoch) for one, other, epoch in pairs):
        return 1.0
    return prod((perm(many, len(by)) / float(many) ** len(by) for by in several.values()), start=1.0)


def _fewer(one: Given, other: Given) -> int:
    """How many deliveries another epoch lacks of what came again in this one."""
    return sum(max(0, len(by) - len(other.get(content, ()))) for content, by in one.items() if len(by) > 1)


def _dropped(epoch: EpochView) -> int:
    """How many samples an epoch may leave out: the last batch of each reader, or what makes readers equal."""
    sizes = {size for seen in epoch.ranks.values() for size in seen.sizes}
    return _number_of_readers(epoch) * (1 if epoch.view.facts.get("drop_last") is False else max(sizes, default=1))


def _given(epoch: EpochView) -> dict[int, tuple[list[Reader], list[int]]]:
    """Of each content who gave it, and at which place of what that reader gave."""
    found: dict[int, tuple[list[Reader], list[int]]] = {}
    for content, *_, rank, worker, _, place in epoch.view.group.witnesses.of_epoch(epoch.key).tolist():
        if rank in epoch.ranks:
            readers, places = found.setdefault(content, ([], []))
            readers.append((rank, worker))
            places.append(place)
    return found


def _lengths(epoch: EpochView) -> dict[Reader, int]:
    """How many samples each reader gave."""
    every = [(rank, worker, each) for rank, seen in epoch.ranks.items() for worker, each in seen.workers.items()]
    return {(rank, worker): each.rows for rank, worker, each in every if each.rows}


def _thinned(epoch: EpochView) -> int:
    """Of about every how manieth sample it is known where it went."""
    return 1 << FULL_RANGE - epoch.view.group.witnesses.bits


def _apart(readers: list[Reader]) -> bool:
    return len(set(readers)) == len(readers)


def _number_of_readers(epoch: EpochView) -> int:
    return len(_lengths(epoch))
