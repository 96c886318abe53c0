"""A loader in itertools.cycle: decides what is wrong with batches that are kept and given again."""

from collections.abc import Iterator

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_order import has_order, unshuffled
from conformance.audit.view import View
from conformance.audit.words import by_rule
from conformance.trial.words import count

_ADVICE = "iterate the loader again for each pass: while True: yield from loader"


def judge_view(view: View) -> Iterator[Finding]:
    """A finding where the loader is shuffled: each pass has the order of the first."""
    cycled = [epoch for epoch in epochs_of(view) if any(seen.facts.get("cycled") for seen in epoch.ranks.values())]
    if not cycled:
        return
    epoch = cycled[0]
    batches = max(seen.steps for seen in epoch.ranks.values())
    text = (
        f"itertools.cycle kept the {count(batches, 'batch')} of {epoch.name}, and gives them again in every later pass"
    )
    if _is_shuffled(epoch) and not epoch.evaluation:
        yield epoch.at_loop(
            "ORDER-6", "cycled", f"{text}: no new order, and no new augmentation", advice=_ADVICE, worst=7
        )
    else:
        yield epoch.at_loop("note", "cycled", f"{text}: with what was drawn at random for each sample")


def _is_shuffled(epoch: EpochView) -> bool:
    """Whether a sampler gave its samples in an order that is not the dataset's."""
    in_order = any(by_rule(seen) for seen in epoch.ranks.values())
    return has_order(epoch.view) and not unshuffled(epoch.view) and not in_order
