"""Two loaders that one loop reads side by side: decides whether samples of one place can belong together."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_order import has_order
from conformance.audit.orders import differ
from conformance.audit.view import View
from conformance.audit.words import by_rule, samples


def judge_view(view: View) -> Iterator[Finding]:
    """A note, told of the first of two loaders of as many samples: `zip(images, masks)` of two shuffles pairs nothing.

    That the samples are pairs nobody says: of two styles, say, they are none.
    """
    epoch = _shuffled(view)
    if epoch is None:
        return
    for other in view.all_loaders():
        twin = _shuffled(other) if other.key > view.key and other.expected == view.expected else None
        if twin is None or twin.read_at != epoch.read_at or twin.key != epoch.key or not differ(epoch, twin):
            continue
        steps = {rank: seen.steps for rank, seen in epoch.ranks.items()}
        if steps == {rank: seen.steps for rank, seen in twin.ranks.items()}:
            text = f"read beside the loader of line {other.line}, which has {samples(view.expected or 0)} as well, in "
            yield epoch.at_loop("note", "beside", f"{text}another order: right if theirs are not to be pairs")
            return


def _shuffled(view: View) -> EpochView | None:
    """Its first epoch, if samples of a known number came in an order that no rule gives."""
    epoch = next(iter(epochs_of(view)), None)
    if epoch is None or epoch.evaluation or not has_order(view) or view.expected is None:
        return None
    return None if any(by_rule(seen) for seen in epoch.ranks.values()) else epoch
