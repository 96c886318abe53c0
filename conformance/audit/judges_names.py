"""Samples that one loader trains on, and by which another one evaluates: decides it by the names that the user gives.

An id in two datasets is one sample, unless each dataset counts its own anew: then nobody is accused.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from conformance.audit.counts import Counts, different
from conformance.audit.digests import Digests
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.looks import looked_at
from conformance.audit.view import View
from conformance.audit.words import id_name, samples

_ADVICE = "split by this id, so that all samples of one are on one side: GroupShuffleSplit, or a hash of the id"
_CHANCE = 1e-4
_MOST = 1 << 22  # deliveries of a loader are looked at, of an epoch alone if all of them are more
# Of a text that no other dataset has by counting its own: a whole path, an address, a digest.
_UNIQUE = re.compile(r"^(/|[A-Za-z]:\\|\w+://)|[0-9a-fA-F-]{16}")


@dataclass(frozen=True)
class Names:
    """The samples that a loader gave in one start of the job."""

    counts: Counts
    digests: Digests

    @property
    def number(self) -> int:
        """How many there are."""
        told = (self.counts.histogram() if self.counts.total else {}, self.digests.histogram())
        return sum(number for each in told for times, number in each.items() if times)


def judge_view(view: View) -> Iterator[Finding]:
    """Of a loader that evaluates: which of its samples are trained on, in the same start."""
    if not _is_named(view) or not view.evaluates:
        return
    for other in _training(view):
        for start in sorted({key[0] for key in view.group.epochs} & {key[0] for key in other.group.epochs}):
            evaluated, trained = _names(view, start), _names(other, start)
            shared = _in_both(view, evaluated, trained)
            if shared:
                yield _found(view, other, evaluated, trained, shared)
                break


def _training(view: View) -> list[View]:
    """The loaders whose samples have names of one kind with this one's, and that are trained on beside it."""
    others = [each for each in view.all_loaders() if _is_named(each) and not each.evaluates and not looked_at(each)]
    apart = [each for each in others if each.key != view.key and not view.is_of_another_fold(each)]
    return [each for each in apart if not view.shares_indices(each)]


def in_both(view: View, other: View) -> list[str]:
    """What the samples are called that both loaders gave, in any starts; [] if they have no names of the user's."""
    if not _is_named(view) or not _is_named(other):
        return []
    return _in_both(view, _names(view), _names(other))


def by_field(view: View) -> str:
    """`` (by case)``: how the user says who a sample is."""
    named = view.facts.get("named")
    return f" (by {str(named).removeprefix('field ')})" if isinstance(named, str) else ""


def _in_both(view: View, one: Names, other: Names) -> list[str]:
    words = one.digests.in_both(other.digests)
    indices = one.counts.in_both(other.counts) if one.counts.total and other.counts.total else []
    if view.hashed:
        return [id_name(word[:8].hex(), view.summary.texts) for word in words]
    return [str(each) for each in indices] + [str(int.from_bytes(word[8:], "little", signed=True)) for word in words]


def _is_named(view: View) -> bool:
    """Whether the user says who a sample is, and the loader is one and the same over the whole record."""
    changed = any(facts.get("other_dataset") for facts in view.group.loaders.values())
    return view.facts.get("ids") == "named" and bool(view.group.epochs) and not changed and not looked_at(view)


def _names(view: View, start: int | None = None) -> Names:
    epochs = [epoch for epoch in epochs_of(view) if start is None or epoch.key[0] == start]
    if sum(epoch.rows for epoch in epochs) > _MOST:
        epochs = [max(epochs, key=lambda epoch: epoch.rows)]
    counts, digests = Counts(), Digests()
    for epoch in epochs:
        counts.merge(epoch.epoch.counts)
        digests.merge(epoch.epoch.digests)
    return Names(counts, digests)


def _found(view: View, other: View, evaluated: Names, trained: Names, shared: list[str]) -> Finding:
    which = ", ".join(shared[:3]) + (", ..." if len(shared) > 3 else "")
    many = evaluated.number
    trained_on = f"{len(shared):,} {'is' if len(shared) == 1 else 'are'} trained on at line {other.line}: {which}"
    text = f"of {samples(many)} that are evaluated here{by_field(view)}, {trained_on}"
    why = _may_be_right(view, other, evaluated, trained, shared)
    if why:
        return view.at_loader("note", "names", f"{text}; {why}")
    return view.at_loader("SPLIT", "names", text, advice=_ADVICE, worst=8)


def _may_be_right(view: View, other: View, evaluated: Names, trained: Names, shared: list[str]) -> str:
    """Why it may be right that they have samples in common; "" if it can't be."""
    same = all(view.facts.get(name) == other.facts.get(name) for name in ("dataset_print", "length", "subset_print"))
    if same or len(shared) == evaluated.number or not any(map(_whole, epochs_of(other))):
        return "right if it is measured on purpose how well what is trained on is known"
    one_dataset = all(view.facts.get(name) == other.facts.get(name) for name in ("dataset", "dataset_print", "length"))
    if one_dataset or _one_numbering(view, evaluated, trained, shared):
        return ""
    return "right if each of the two datasets counts its own"


def _whole(epoch: EpochView) -> bool:
    return epoch.epoch.whole


def _one_numbering(view: View, one: Names, other: Names, shared: list[str]) -> bool:
    """Whether ids of two datasets are of one kind: numbers that do not begin anew, or texts that are hardly counted."""
    if view.hashed:
        return all(_UNIQUE.search(each) for each in shared[:100])
    if one.digests.total or other.digests.total:
        return False
    (first, _), (later, share) = sorted([_range(one.counts), _range(other.counts)])
    # One that counts anew begins with 0 or 1, or leaves out the first numbers as it leaves out others.
    late = later - first - 1
    return late > 0 and (share >= 1 or late * log(1 - share) < log(_CHANCE))


def _range(counts: Counts) -> tuple[int, float]:
    """The lowest number, and which share of the numbers from there up to the highest there is."""
    came = different(counts.histogram())
    first = counts.first(1, limit=1)[0]
    return first, came / (counts.length - first)
