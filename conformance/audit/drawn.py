"""Drawing with replacement by a sampler of the user's own: decides by what came whether ranks got such draws.

Each draw is a sample of its own, whatever was drawn before, so that any order of what all ranks got is as likely as
another. However samples are weighted, it follows that
- two copies of a sample lie on one rank, and near each other, as often as any two deliveries do (`spread`);
- of the samples that came j - 1, j or j + 1 times, those that came j times are at most a share of
  1 / (1 + 2 sqrt(j / (j + 1))), which is that of a Poisson count where it is largest;
- as many pairs of copies come as if all samples were equally likely, or more.
What misses one of these by more than chance is no such drawing.
"""

from collections import Counter
from collections.abc import Iterator
from math import log, sqrt

from conformance.audit.epochs import EpochView, epochs_of
from conformance.audit.finding import Finding
from conformance.audit.spread import CHANCE, Spread, spread_out
from conformance.audit.words import samples
from conformance.epochs.chances import improbable

_EPOCHS = 8  # are looked at together: the one that is judged, and others beside it
# These give no rank a sample twice.
TORCHS_OWN = {
    "SequentialSampler",
    "RandomSampler",
    "DistributedSampler",
    "SubsetRandomSampler",
    "SeedableRandomSampler",
}


def judge(epoch: EpochView) -> Iterator[Finding]:
    """A note, if what came again to several ranks came as often, and where, as in drawing with replacement."""
    view, several = epoch.view, len(epoch.ranks) > 1 and min(epoch.ranks) >= 0
    of_users = not view.iterable and not view.own_batches and view.facts.get("sampler") not in TORCHS_OWN
    if not several or not of_users or view.by_content or not epoch.again:
        return
    others = [each for each in epochs_of(view) if each.key != epoch.key and each.ranks.keys() == epoch.ranks.keys()]
    those = [epoch, *others[: _EPOCHS - 1]]
    goes_on = view.expected is not None and any(_goes_on(each, view.expected) for each in those)
    one_pass = (view.expected or 0) / len(epoch.ranks) if goes_on else None
    if not too_even(those) and spread_out([Spread(each) for each in those], one_pass):
        text = f"{samples(epoch.again)} came more than once, as often and where drawing with replacement has it"
        says = ", the sampler says it by replacement = True" if view.facts.get("kind") == "map" else " it is right"
        yield epoch.at_loop("note", "drawn", f"{text}: if that is meant{says}")


def _goes_on(epoch: EpochView, expected: int) -> bool:
    """Whether ranks may have begun another pass of a stream that does not end."""
    return epoch.rows > expected and not epoch.epoch.whole


def too_even(epochs: list[EpochView]) -> bool:
    """Whether samples came more evenly often than in any drawing."""
    times: Counter[int] = Counter()
    pairs, least = 0.0, 0.0
    expected = epochs[0].view.expected
    for epoch in epochs:
        times.update(epoch.histogram)
        times[0] += 0 if 0 in epoch.histogram or not expected else max(0, expected - epoch.came)
        pairs += sum(number * each * (each - 1) / 2 for each, number in epoch.histogram.items())
        least += epoch.rows * (epoch.rows - 1) / 2 / expected if expected else 0
    # Chernoff's bound on the lower tail: such pairs vary less than Poisson counts do.
    if pairs < least and pairs - least - (pairs * log(pairs / least) if pairs else 0) < CHANCE:
        return True
    # How many never came is known where it is known how many there are.
    for each in [each for each in times if each > (0 if expected else 1)]:
        beside = times[each - 1] + times[each] + times[each + 1]
        most = 1 / (1 + 2 * sqrt(each / (each + 1)))
        if times[each] > most * beside and improbable(times[each], beside, most, CHANCE):
            return True
    return False
