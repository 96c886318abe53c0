"""Folds: decides whether evaluations that one line made have each sample of a dataset once.

A permutation that is drawn again for each fold makes parts that overlap: some samples are never held out.
"""

from collections.abc import Iterator

from conformance.audit.counts import different, merged
from conformance.audit.epochs import epochs_of
from conformance.audit.finding import Finding
from conformance.audit.judges_subsets import one_dataset
from conformance.audit.view import View
from conformance.audit.words import samples
from conformance.trial.words import count

_FOLDS = 3  # and more


def judge_view(view: View) -> Iterator[Finding]:
    """A note, told of the first fold: repeated random splits leave some out as well, and are right."""
    folds = [other for other in view.all_loaders() if other.key[:2] == view.key[:2]]
    length = view.facts.get("length")
    if view.key != folds[0].key or len(folds) < _FOLDS or not isinstance(length, int) or not all(map(_is_fold, folds)):
        return
    if not all(one_dataset(view, fold) for fold in folds[1:]) or sum(fold.expected or 0 for fold in folds) != length:
        return
    told = merged(epochs_of(fold)[0].epoch.counts for fold in folds).histogram()
    never = length - different(told)
    again = sum(number for times, number in told.items() if times > 1)
    if never > 0 and again:
        text = f"the {count(len(folds), 'evaluation')} of this line have {length:,} places, and hold out {again:,} of "
        text += f"{samples(length)} several times and {never:,} never: right for random splits, wrong for folds"
        yield view.at_loader("note", "folds", text)


def _is_fold(view: View) -> bool:
    """Whether it evaluates all of a subset, by index."""
    epochs = epochs_of(view)
    return view.evaluates and not view.by_content and isinstance(view.facts.get("subset"), int) and epochs[0].whole
