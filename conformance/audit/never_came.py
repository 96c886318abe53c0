"""What never came, over all epochs: decides whether it is lost for good, or other samples are missing each time."""

from dataclasses import replace
from itertools import pairwise
from math import comb, exp, factorial, prod

from conformance.audit.counts import Counts, different, merged
from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.orders import differ
from conformance.audit.titles import by_epoch
from conformance.audit.view import View
from conformance.audit.words import samples

LOST, DROPPED = "lost", "dropped"
# A tail of other samples each time is that of a batch sampler which drops what fills no batch: so many batches of each
# rank at the most, one of each bucket, and no more than this share of the samples.
_BATCHES, _SHARE = 8, 1 / 8
_EPOCHS = 3
_CHANCE, _MOST = 1e-3, 100
_SHOWN = 6


def over_epochs(view: View, found: list[Finding]) -> list[Finding]:
    """The findings of a loader, each told once, in which what is lost is looked at over all its epochs."""
    lost = [_looked_at(view, each) if each.key == LOST and each.id != "note" else each for each in found]
    return [_always_dropped(view, each) if each.key == DROPPED else each for each in lost]


def _always_dropped(view: View, note: Finding) -> Finding:
    """A few samples that are dropped are others each time where the order is: the same ones are never trained on."""
    epochs = [epoch for epoch in epochs_of(view) if epoch.whole and not epoch.evaluation]
    missing = {epoch.histogram.get(0, 0) for epoch in epochs}
    ordered = any(not differ(one, other) for one, other in pairwise(epochs))
    if len(epochs) < _EPOCHS or len(missing) != 1 or ordered or view.by_content or view.has_own_datasets:
        return note
    came = merged(epoch.epoch.counts for epoch in epochs)
    never = (view.expected or 0) - different(came.histogram())
    if {never} != missing or never < 1:
        return note
    # That they are the same ones again by chance: for one sample of n, 1 in n for each further epoch.
    if comb(view.expected or 1, never) ** (1.0 - len(epochs)) > _CHANCE:
        return note
    text = f"the same {samples(never)} of {view.expected:,} came in none of {len(epochs)} epochs, each in another order"
    told = _for_good(view, note, never, epochs, came)
    advice = "drop after the shuffle, or other ones each time: these are never trained on"
    return replace(told, id="PART-2", key="always-dropped", sentence=text, advice=advice, worst=7)


def _looked_at(view: View, finding: Finding) -> Finding:
    epochs = [epoch for epoch in epochs_of(view) if epoch.rows]
    those = [epoch for epoch in epochs if epoch.key in finding.epochs]
    indices = all(epoch.epoch.counts.total for epoch in epochs) and not view.by_content
    indices = indices and not any(epoch.has_copies for epoch in epochs)
    if len(those) < 2 or view.expected is None or view.has_own_datasets or not indices:
        return finding
    came = merged(epoch.epoch.counts for epoch in epochs)
    never = view.expected - different(came.histogram())
    several = len(by_epoch(view))
    if not _by_chance(never, those):
        return _for_good(view, finding, never, those, came)
    told = f"as each of the {view.expected:,} came in one of {several} epochs at least"
    told = f"by which {samples(never)} came in none of {several} epochs" if never > 0 else told
    excerpt = tuple(line.replace("not on any rank:", f"not in {those[0].name}:") for line in finding.excerpt)
    if len(those) >= _EPOCHS and view.own_batches and all(map(_is_tail, those)):
        return replace(
            finding, id="note", key="tail", sentence=f"{finding.sentence}: a tail of others each time, {told}"
        )
    return replace(finding, sentence=f"{finding.sentence}: others each time, {told}", excerpt=excerpt)


def _for_good(view: View, finding: Finding, never: int, those: list[EpochView], came: Counts) -> Finding:
    """What came in no epoch is named; what is missing in each of them beside it is counted."""
    several = len(by_epoch(view))
    text = f"{samples(never)} of {view.expected or 0:,} came in none of {several} epochs"
    others = sorted({epoch.histogram.get(0, 0) - never for epoch in those} - {0})
    if others:
        span = f"{others[0]:,}" if len(others) == 1 else f"{others[0]:,} to {others[-1]:,}"
        where = "each" if len(those) == several else f"{len(those)} of them"
        text += f", and {span} others were missing in {where}"
    # Which indices a subset has is not in the record.
    some = came.first(0, 0, _SHOWN) if view.facts.get("subset") is None else []
    more = ", ..." if never > len(some) else ""
    excerpt = (f"in no epoch: {', '.join(map(str, some))}{more}",) if some else ()
    return replace(finding, sentence=text, excerpt=excerpt)


def _by_chance(never: int, those: list[EpochView]) -> bool:
    """Whether so few are missing in all of these epochs as if others were drawn in each of them."""
    expected = those[0].view.expected or 1
    missing = [epoch.histogram.get(0, 0) for epoch in those]
    if max(missing) <= never:  # the same ones each time
        return False
    mean = expected * prod(number / expected for number in missing)
    fewer = sum(exp(-mean) * mean**many / factorial(many) for many in range(min(never, _MOST)))
    return never <= 0 or (never < _MOST and 1 - fewer > _CHANCE)


def _is_tail(epoch: EpochView) -> bool:
    lost, expected = epoch.histogram.get(0, 0), epoch.view.expected or 0
    return lost < _BATCHES * epoch.full_batch * len(epoch.ranks) and lost <= expected * _SHARE
