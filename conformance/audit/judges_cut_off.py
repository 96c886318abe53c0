"""A first pass that was cut off: decides whether later epochs have just what had come by then, as of a cache."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count

_EPOCHS = 2  # that are whole, and more


def judge_view(view: View) -> Iterator[Finding]:
    """A note: the loop may have left the first epoch just at its end."""
    epochs = epochs_of(view)
    if view.expected is not None or len(epochs) <= _EPOCHS or not _was_left(epochs[0]):
        return
    first, *later = epochs
    if all(epoch.key[0] == first.key[0] and epoch.epoch.whole and _same(first, epoch) for epoch in later):
        steps = max(seen.steps for seen in first.ranks.values())
        text = f"the loop left {first.name} after {count(steps, 'step')}, and no later epoch has more than the "
        why = "right if that is all there is; a cache that was filled in part looks like that too"
        yield first.at_loop("note", "cut-off", f"{text}{samples(first.came)} that it had by then: {why}")


def _was_left(epoch: EpochView) -> bool:
    return epoch.rows > 0 and all(seen.how == "left" for seen in epoch.ranks.values())


def _same(one: EpochView, other: EpochView) -> bool:
    """Whether each rank had the same samples in both, in whatever order."""
    ranks = list(one.ranks)
    return ranks == list(other.ranks) and all(
        (one.ranks[rank].rows, one.ranks[rank].mixed) == (other.ranks[rank].rows, other.ranks[rank].mixed)
        for rank in ranks
    )
