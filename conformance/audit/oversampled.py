"""Samples that the sampler gives again: decides whether a part of a ConcatDataset is repeated as a whole, as one does
to have more of it in each batch, or some are once an epoch has shown which.
"""

from collections.abc import Iterator

import numpy as np

from conformance.audit.drawn import TORCHS_OWN
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.excerpts import first_again, which_again
from conformance.audit.finding import Finding
from conformance.audit.words import listed, samples

_ADVICE = "look at the sampler: it gives indices twice; if that is meant, say so: # loaderspec: ignore PART-1, why"
_NAMES = "look for copies in the dataset, and for a __getitem__ that gives another sample than was asked for"
# A pass over a part that is not the first one has at least this share of it: fewer may be a tail that comes twice.
_SHARE = 1 / 4
_MANY = 1 / 20
Part = tuple[int, int]  # its first index, and the one behind its last


def judge(epoch: EpochView) -> Iterator[Finding]:
    """Of an epoch in which samples came again: a note on whole parts, or a finding where one process alone reads."""
    if not epoch.again or not epoch.epoch.counts.total or epoch.view.by_content or epoch.view.iterable:
        return
    whole = _whole_parts(epoch)
    listed_again = epoch.view.facts.get("listed", 0) - (epoch.view.expected or 0)
    if listed_again > 0 and epoch.rows == epoch.view.facts["listed"]:
        text = f"the subset lists {samples(epoch.again)} more than once, and an epoch has each as often"
        yield epoch.at_loop("note", "listed-again", f"{text}: right if they are drawn with replacement")
    elif whole:
        yield epoch.at_loop("note", "oversampled", _told(epoch, whole))
    elif _weighs(epoch):
        text = f"all samples came, {epoch.again:,} of them more than once (none in the first epoch)"
        yield epoch.at_loop("note", "weighed", f"{text}: right if the sampler gives more of some by what was learnt")
    elif epoch.view.own and epoch.view.world_size == 1 and epoch.view.facts.get("kind") == "map":
        text, advice = f"the sampler gave {samples(epoch.again)} of {epoch.came:,} more than once", _ADVICE
        if epoch.has_copies:
            text, advice = f"{samples(epoch.again)} of {epoch.came:,} came more than once", _NAMES
        text, excerpt = f"{text}: {which_again(epoch)}{of_copies(epoch)}", first_again(epoch)
        yield epoch.view.at_loader(
            "PART-1", "again", text, excerpt=excerpt, advice=advice, epochs=(epoch.key,), worst=8
        )


def _weighs(epoch: EpochView) -> bool:
    """Whether a sampler gives many samples again, and lacks none, that began with each of them once.

    Of samples that are dealt out among ranks in an order that holds some twice, many come twice to one rank; parts that
    overlap give each once to a rank.
    """
    expected, sampler = epoch.view.expected, epoch.view.facts.get("sampler")
    is_own = sampler is not None and sampler not in TORCHS_OWN
    if not (is_own and expected and epoch.again >= _MANY * expected and _is_all(epoch)):
        return False
    if epoch.repeats.known != epoch.again or 2 * len(epoch.ranks) * epoch.repeats.within_a_rank < epoch.again:
        return False
    first = next(each for each in epochs_of(epoch.view) if each.key[0] == epoch.key[0])
    return _is_all(first) and not first.again


def _is_all(epoch: EpochView) -> bool:
    return epoch.epoch.whole and epoch.came == epoch.view.expected


def of_copies(epoch: EpochView) -> str:
    """What else it may be, where samples are known by a name that several of them may have."""
    if not epoch.has_copies or epoch.view.iterable:
        return ""
    expected = epoch.view.expected or 0
    lost = f" (then {samples(expected - epoch.came)} never came)" if epoch.whole and epoch.rows == expected else ""
    return f"; the dataset holds copies of them, the sampler repeats them, or they came in place of others{lost}"


def _whole_parts(epoch: EpochView) -> list[Part]:
    """The parts of a ConcatDataset that began again as a whole; [] if other samples came again, or all parts."""
    ends = epoch.view.facts.get("parts")
    if not isinstance(ends, list) or len(ends) < 2 or epoch.copies > 1:
        return []
    bounds = [(first, last) for first, last in zip([0, *ends[:-1]], ends, strict=True) if first < last]
    spans = {part: epoch.epoch.counts.span(*part) for part in bounds}
    again = [part for part in bounds if spans[part][1] > 1]
    whole = all(spans[part][0] > 1 or (spans[part] == (1, 2) and _in_passes(epoch, part)) for part in again)
    return again if whole and len(again) < len(bounds) else []


def _in_passes(epoch: EpochView, part: Part) -> bool:
    """Whether no sample of a part came again before all of it had come, on the one rank that reads it."""
    witnesses = epoch.view.group.witnesses
    rows = witnesses.of_epoch(epoch.key)
    rows = rows[(rows[:, 0] >= part[0]) & (rows[:, 0] < part[1])]
    if len(epoch.epoch.ranks) > 1 or not witnesses.keeps_all or len(rows) < (1 + _SHARE) * (part[1] - part[0]):
        return False
    steps = rows[np.lexsort((rows[:, 5], rows[:, 0]))]
    is_first = np.append(True, steps[1:, 0] != steps[:-1, 0])
    # One pass may end, and another one begin, within a batch.
    return bool(steps[~is_first, 5].min() >= steps[is_first, 5].max())


def _told(epoch: EpochView, parts: list[Part]) -> str:
    spans = [epoch.epoch.counts.span(*part) for part in parts]
    least, most = min(low for low, _ in spans), max(high for _, high in spans)
    times = f"{least} times" if least == most else f"{least} to {most} times"
    which = listed([f"{first} to {last - 1}" for first, last in parts], 3)
    kind = "one part" if len(parts) == 1 else f"{len(parts)} parts"
    many = samples(sum(last - first for first, last in parts))
    text = f"of the ConcatDataset only {kind} ({which}, {many}) came again, {times}"
    return f"{text}: right if it is meant to weigh more"
