"""One batch again and again: decides whether a loop takes the first batch of one order each time it wants one."""

from collections import Counter
from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of, joined
from conformance.audit.finding import Finding
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count

# A loop that looks at a batch, or shows it, has few looks: so often must one batch have come.
_TIMES = 4


def judge_view(view: View) -> Iterator[Finding]:
    """A note: `next(iter(loader))` begins a new epoch each time, and it may be one batch that is only looked at."""
    starts: dict[int, list[EpochView]] = {}
    for epoch in epochs_of(view):
        if _one_step(epoch):
            starts.setdefault(epoch.key[0], []).append(epoch)
    # Each start of a job may look once.
    for epochs in sorted(starts.values(), key=len)[-1:]:
        yield from _again(view, epochs)


def _again(view: View, epochs: list[EpochView]) -> Iterator[Finding]:
    """The same of one start, whose epochs these are."""
    batches = Counter(_batch(epoch) for epoch in epochs)
    often = sum(times for times in batches.values() if times >= _TIMES)
    if 2 * often <= len(epochs) or not often:
        return
    same = f"the same {samples(epochs[0].came)} each time"
    if len(batches) > 1:
        of_all = f" of {view.expected:,}" if view.expected and not view.by_content else ""
        different = f"{joined(view, epochs).came:,}{of_all} samples"
        same = f"{count(len(batches), 'batch')} in all, one of them {max(batches.values())} times ({different})"
    text = f"left {len(epochs)} times after 1 step; {same}: next(iter(loader)) begins again, and gives the first batch "
    yield epochs[0].at_loop("note", "first-batch", f"{text}of one order again: right if that is only looked at")


def _one_step(epoch: EpochView) -> bool:
    """Whether the loop left it after its first step, on all ranks, and may train on that."""
    left = [seen.only_looked_at and seen.rows > 0 for seen in epoch.ranks.values()]
    return bool(left) and all(left) and not epoch.evaluation


def _batch(epoch: EpochView) -> tuple[tuple[int, str], ...]:
    """What is in the step of each rank, in its order."""
    return tuple((rank, seen.prefixes.get(1, "")) for rank, seen in epoch.ranks.items())
