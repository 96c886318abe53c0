"""Loops that leave every epoch early: decides which samples no epoch came to, and whether any could have."""

from collections.abc import Iterator
from itertools import pairwise

from conformance.audit.counts import different
from conformance.audit.epochs import EpochView, epochs_of, joined
from conformance.audit.finding import Finding
from conformance.audit.judges_subsets import differ
from conformance.audit.looks import looked_at
from conformance.audit.orders import alike
from conformance.audit.resumed import begun
from conformance.audit.summary import RankSeen
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count


def judge_view(view: View) -> Iterator[Finding]:
    """A finding where all epochs came in one order, so that what lies behind that step never comes; else a note."""
    again = set(begun(view.group).values())  # what a restart took up was left by the job, and not by the loop
    read = [epoch for epoch in epochs_of(view) if epoch.rows and not epoch.evaluation]
    epochs = [epoch for epoch in read if epoch.key not in again]
    if len(epochs) < 2 or view.expected is None or view.by_content or view.facts.get("replacement"):
        return
    left = all(seen.how == "left" and seen.steps > 1 for epoch in epochs for seen in epoch.ranks.values())
    one = not view.has_own_datasets and not differ(view)
    if not left or not one or not view.complete or any(epoch.has_copies for epoch in read):
        return
    steps = max(seen.steps for epoch in epochs for seen in epoch.ranks.values())
    if all(alike(one, other) for one, other in pairwise(epochs)):
        lost = _never(view.expected, epochs)
        if lost > 0:
            text = f"{samples(lost)} of {view.expected:,} came in none of {len(epochs)} epochs: the loop leaves each of"
            text += f" them after {count(steps, 'step')}"
            advice = "shuffle, or read each epoch to its end"
            yield epochs[0].at_loop("PART-8", "never-reached", text, advice=advice, worst=7)
        return
    lost = _never(view.expected, read)
    if lost > 0 and not looked_at(view):
        text = f"{samples(lost)} of {view.expected:,} came in none of {len(read)} epochs, as the loop left each early"
        yield epochs[0].at_loop("note", "left-early", f"{text}: right if they are meant to be so short")


def how_far(view: View, ranks: dict[int, RankSeen]) -> str:
    """``20 steps``, ``20 to 21 steps``; ``20 of 40 steps`` where len() of the loader said so on all of these ranks.

    Of an iterable dataset it is often that of all ranks.
    """
    steps = sorted({seen.steps for seen in ranks.values()})
    said = {seen.facts.get("steps") for seen in ranks.values()}
    whole = said.pop() if len(said) == 1 else None
    of = f" of {whole:,}" if isinstance(whole, int) and whole >= steps[-1] and not view.iterable else ""
    if len(steps) == 1:
        return f"{steps[0]}{of} steps" if of and whole != 1 else count(steps[0], "step")
    return f"{steps[0]} to {steps[-1]}{of} steps"


def _never(expected: int, epochs: list[EpochView]) -> int:
    """How many samples came in none of these epochs."""
    return expected - different(joined(epochs[0].view, epochs).epoch.histogram())
