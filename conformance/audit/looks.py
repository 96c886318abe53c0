"""Looks at a batch before the training: decides what was only looked at, so that little is learnt from it."""

from conformance.audit.epochs import EpochView
from conformance.audit.view import View

# So many epochs are left after so many steps by who only looks at a loader; what says which samples it has.
_LOOKS, _LOOK = 8, 4
_SAMPLES = ("dataset_print", "length", "subset_print", "ids")


def looked_at(view: View) -> bool:
    """Whether a loader was only looked at: each of few epochs was left at once, and what is trained on is elsewhere."""
    seen = [seen for epoch in view.group.epochs.values() for seen in epoch.ranks.values()]
    if not seen or len(view.group.epochs) > _LOOKS or any(one.how != "left" for one in seen):
        return False
    steps = max(one.steps for one in seen)
    return steps <= 1 or (steps <= _LOOK and _steps_elsewhere(view) > steps)


def ahead(epoch: EpochView) -> list[int]:
    """Ranks that only looked at an earlier epoch, which others read on: they are one epoch ahead."""
    epochs = epoch.view.group.epochs
    before = [epochs[key] for key in epochs if key[0] == epoch.key[0] and key < epoch.key]
    some = [each for each in before if any(seen.steps > 1 for seen in each.ranks.values())]
    return sorted({rank for each in some for rank, seen in each.ranks.items() if seen.only_looked_at})


def _steps_elsewhere(view: View) -> int:
    """The most steps that an epoch of another loader of the same samples has."""
    if view.facts.get("dataset_print") is None:
        return 0
    others = [View(key, group, view.summary) for key, group in view.summary.groups.items() if key != view.key]
    same = [other for other in others if all(other.facts.get(name) == view.facts.get(name) for name in _SAMPLES)]
    epochs = [epoch for other in same for epoch in other.group.epochs.values()]
    return max((seen.steps for epoch in epochs for seen in epoch.ranks.values()), default=0)
