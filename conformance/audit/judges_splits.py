"""Splits that are drawn again: decides whether something evaluates by what the model was trained on before it.

A split that is drawn at each start without a seed does that. But so does a start for each fold, whose model is its own:
only a start that is known to go on with an earlier one's model is accused. Within a start the training that came last
is that of the model which is evaluated; where it had a part of what evaluates, the split was drawn twice.
"""

from collections.abc import Iterator

from conformance.audit.counts import Counts, different, merged
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.lives import before, goes_on_with
from conformance.audit.looks import looked_at
from conformance.audit.view import View
from conformance.audit.words import listed, samples

_ADVICE = (
    "split alike at each start: random_split(..., generator=torch.Generator().manual_seed(0)), or save the indices"
)
_SAME = ("dataset_print", "length")
Came = dict[int, Counts]  # of each start: how often each sample came


def judge_view(view: View) -> Iterator[Finding]:
    """Of a loader that evaluates: which of its samples the training before it had, of this start or an earlier one."""
    if not view.evaluates or not _by_index(view) or looked_at(view):
        return
    others = [other for other in view.all_loaders() if _trains_on_the_same(view, other)]
    if len({key[0] for key in view.group.epochs}) < 2:
        # A dataset that was made again is one with equal contents, of which both are a part.
        yield from _within_a_start(view, others)
    else:
        dataset = view.facts.get("dataset")
        yield from _over_starts(view, [other for other in others if other.facts.get("dataset") == dataset])


def _within_a_start(view: View, others: list[View]) -> Iterator[Finding]:
    """A finding, where all training before it had some of these samples, and the one that came last had not all."""
    first = min(epochs_of(view), key=_begun)
    trained = {each.key: [one for one in _trained(each) if _begun(one) < _begun(first)] for each in others}
    shared = {key: first.epoch.counts.in_both(merged(one.epoch.counts for one in trained[key])) for key in trained}
    before = sorted(
        (each for each in others if trained[each.key]), key=lambda each: max(map(_begun, trained[each.key]))
    )
    many = different(first.epoch.counts.histogram())
    if not before or view.is_made_again or view.shares_indices(before[-1]):
        return
    last = before[-1]
    if len(shared[last.key]) == many:
        # Who evaluates by samples that are all trained on may mean to.
        if last.expected != many:
            text = f"all {samples(many)} that are evaluated here are trained on, at line {last.line}"
            yield view.at_loader("note", "all-trained-on", text)
    # It may be held out from a model of several, or be one of rounds that train on what they choose.
    elif _is_part(view) and _is_part(last) and all(shared[each.key] for each in before if _is_part(each)):
        text = f"of {samples(many)} that are evaluated here {len(shared[last.key]):,} were trained on before"
        text += f", at line {last.line} ({_some(shared[last.key])})"
        yield view.at_loader("SPLIT", "other-split", text, advice=_ADVICE, worst=8)


def _begun(epoch: EpochView) -> int:
    return min(seen.nth for seen in epoch.epoch.ranks.values())


def _is_part(view: View) -> bool:
    return view.facts.get("subset") is not None


def _over_starts(view: View, others: list[View]) -> Iterator[Finding]:
    evaluated, trained = _came(epochs_of(view)), _came([each for other in others for each in _trained(other)])
    both = sorted(set(evaluated) & set(trained))
    if any(evaluated[start].in_both(trained[start]) for start in both):
        # One start has it already: folds in turn, or the training samples evaluated on purpose.
        return
    parents = goes_on_with(view.summary)
    for start in both:
        known = before(start, parents)
        # Only what an earlier start split as well is split anew.
        earlier = [each for each in both if each in known or (not known and each < start)]
        shared = evaluated[start].in_both(merged(trained[each] for each in earlier))
        if shared:
            yield _found(view, others, start, evaluated[start], shared, bool(known))
            return


def _found(view: View, others: list[View], start: int, evaluated: Counts, shared: list[int], known: bool) -> Finding:
    many = different(evaluated.histogram())
    lines = listed([other.line for other in others], 3)
    text = (
        f"of {samples(many)} that are evaluated here after restart {start}, {len(shared):,} were trained on before it"
    )
    text += f" at line {lines} ({_some(shared)})"
    if known:
        text += ": each start splits again"
        return view.at_loader("SPLIT", "other-start", text, advice=_ADVICE, worst=8)
    right = "right if it trains one of its own, as for another fold"
    more = f"wrong if it continues with the model (then seed the split, or save it), {right}"
    return view.at_loader("note", "other-start", f"{text}: {more}")


def _some(shared: list[int]) -> str:
    return ", ".join(map(str, shared[:3])) + (", ..." if len(shared) > 3 else "")


def _by_index(view: View) -> bool:
    """Whether an index means one sample on all ranks and in all starts."""
    changed = any(facts.get("other_dataset") for facts in view.group.loaders.values())
    return view.facts.get("ids", "index") == "index" and not view.has_own_datasets and not changed


def _trains_on_the_same(view: View, other: View) -> bool:
    same = all(view.facts.get(name) == other.facts.get(name) for name in _SAME)
    known = view.facts.get("dataset_print") is not None
    return view.key != other.key and same and known and _by_index(other) and not looked_at(other)


def _trained(view: View) -> Iterator[EpochView]:
    """The epochs that are trained on: where optimizer steps are known, those that have some, or were cut short."""
    epochs = [epoch for epoch in epochs_of(view) if not epoch.evaluation]
    all_of_them = [epoch for group in view.summary.groups.values() for epoch in group.epochs.values()]
    steps = any(seen.facts.get("stepped") for epoch in all_of_them for seen in epoch.ranks.values())
    for epoch in epochs:
        if not steps or any(seen.facts.get("stepped") or not seen.how for seen in epoch.epoch.ranks.values()):
            yield epoch


def _came(epochs: list[EpochView]) -> Came:
    parts: dict[int, list[Counts]] = {}
    for epoch in epochs:
        parts.setdefault(epoch.key[0], []).append(epoch.epoch.counts)
    return {start: merged(counts) for start, counts in parts.items()}
