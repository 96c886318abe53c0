"""Contents that came more than once: decides whether equal samples explain it, or only that one was read again."""

from math import perm, prod

from conformance.audit.excerpts import heads
from conformance.audit.view import EpochView, Finding, View
from conformance.audit.words import samples

# So sure is an accusation that rests on chance.
_CHANCE = 1e-6
_EPOCHS = 8  # so many are compared

Reader = tuple[int, int]  # a rank, and its worker
Given = dict[int, list[Reader]]  # of each content: who gave it


def judge(epoch: EpochView) -> Finding:
    """Of an epoch in which contents came again. A fault only if it can't be that the dataset holds them twice."""
    told = f"{samples(epoch.again)} of {epoch.came:,} have contents that came more than once"
    several = [readers for readers in _given(epoch).values() if len(readers) > 1]
    many = _number_of_readers(epoch)
    chance = (1 - 1 / many) ** len(several) if many > 1 else 1.0
    if all(map(_apart, several)) and chance <= _CHANCE:
        return _overlap(epoch, f"{told}, each time from another reader")
    changing = _changing(epoch.view) if epoch.epoch.whole else 1.0
    if changing <= _CHANCE:
        why = "equal samples would come again in every epoch, and here it is others"
        return _overlap(epoch, f"{told}, each time from another reader", f" ({why})")
    text = "equal samples, or one read again" if changing == 1.0 else "read again, it seems, as others do in each epoch"
    return epoch.at_loop("note", "equal-contents", f"{told}: {text}; --id-field or ids= tells them apart")


def _overlap(epoch: EpochView, text: str, why: str = "") -> Finding:
    return epoch.view.at_dataset(
        "WORK-3" if epoch.view.iterable else "PART-1",
        "again",
        f"{text}: the parts of workers or ranks overlap{why}",
        excerpt=heads(epoch),
        advice="let the parts of the dataset that workers and ranks read be disjoint",
        epochs=(epoch.key,),
        worst=8,
    )


def _changing(view: View) -> float:
    """With which chance nothing is wrong with contents of which other ones come again in each epoch; 1 if they do not.

    Equal samples come equally often in every epoch that is read to its end, but for what the loader drops. Where
    samples are drawn anew in each epoch, or changed at random, one reader would get equal ones as well.
    """
    whole = [epoch for epoch in view.epochs() if epoch.epoch.whole and len(epoch.epoch.ranks) == len(view.ranks)]
    epochs = whole[:_EPOCHS]
    given = [(epoch, _given(epoch)) for epoch in epochs]
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


def _given(epoch: EpochView) -> Given:
    found: Given = {}
    for content, *_, rank, worker, _ in epoch.view.group.witnesses.of_epoch(epoch.key).tolist():
        if rank in epoch.ranks:
            found.setdefault(content, []).append((rank, worker))
    return found


def _apart(readers: list[Reader]) -> bool:
    return len(set(readers)) == len(readers)


def _number_of_readers(epoch: EpochView) -> int:
    return sum(len([1 for worker in seen.workers.values() if worker.rows]) for seen in epoch.ranks.values())
