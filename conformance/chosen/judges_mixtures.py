"""Chapter 11, mixtures: the judges of MIX-*, on sources that are read as one, by weights and a stopping rule."""

from collections import Counter
from itertools import pairwise
from math import log

from conformance.chosen.judging import (
    Epochs,
    claimed_policy,
    first_found,
    positions,
    wrong_length,
)
from conformance.chosen.scenario import (
    ChosenScenario,
    ends_with_the_last,
    rarity_of,
    sources_of,
    stopped_after,
    weights_of,
)
from conformance.contract import Claims, Policy
from conformance.loader.judging import as_assigned, counts_itself, ends, listed, remainder, show, usable
from conformance.trace import Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# Samples of each source: even a buffer of two, which chooses at each but the last, has 10^10 orders of them.
_ENOUGH = 35
# A count is too improbable: Chernoff's bound, small enough for any place at which an epoch may end.
_LEAST_CHANCE = log(1e-15)
# The run of a mixture that is not interrupted.
UNBROKEN = "unbroken"
_CIRCUMSTANCES = {"again": "in another process, with another PYTHONHASHSEED", "jump": "with the epoch set directly"}


def _mixes(claims: Claims) -> bool:
    return bool(claims.mixtures)


def _mixes_by_policy(claims: Claims) -> bool:
    return bool(claims.mixtures) and remainder(claims)


@clause("MIX-1", family="mixtures", applies=_mixes_by_policy, floor=20)
def nothing_twice(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample comes again only when its source has been through, which none has before the first is exhausted."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or not _is_plain(scenario, trace):
        return None
    if ends_with_the_last(scenario) and _readers(scenario) > 1:
        return None
    padded = most_padded(scenario, policy)

    def judge(epochs: Epochs) -> Finding | None:
        counts = _counts(scenario, epochs)
        for at, source in enumerate(sources_of(scenario)):
            total = sum(counts[index] for index in source)
            passes = -(-max(0, total - padded) // len(source)) if ends_with_the_last(scenario) else 1
            again = [index for index in source if counts[index] > passes]
            if sum(counts[index] - passes for index in again) > padded:
                rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
                note = f"sample {again[0]} of source {at} came {count(counts[again[0]], 'time')}"
                expected = f"each sample of source {at} {count(passes, 'time')} at most"
                why = f"{count(total, 'sample')} of its {len(source)} came, and {_rule(scenario)} is asked for"
                return Finding("too-often", expected, show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("MIX-2", family="mixtures", applies=_mixes_by_policy, floor=20)
def stops_as_asked(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The epoch ends when the first source is exhausted, or when all are; and not before, nor much later."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or is_too_small(scenario, claims) or _is_restarted(scenario):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    allowed = most_lost(scenario)

    def judge(epochs: Epochs) -> Finding | None:
        counts = _counts(scenario, epochs)
        lost = {at: [i for i in source if not counts[i]] for at, source in enumerate(sources_of(scenario))}
        early = sorted(at for at, samples in lost.items() if len(samples) > allowed)
        if ends_with_the_last(scenario):
            # The last one to be exhausted has not begun again, but for what it takes to see that it is.
            late = all(
                sum(counts[i] for i in source) > len(source) + max(1, allowed) for source in sources_of(scenario)
            )
        else:
            late = False
            early = early if len(early) == len(lost) else []
        if not early and not late:
            return None
        told = f"{listed(lost[early[0]])} of source {early[0]}: on no rank" if early else "every source came again"
        what = "all sources have" if ends_with_the_last(scenario) else "one source has"
        expected = f"an epoch that ends when {what} been through"
        lines = (*show(epochs), told)
        return Finding("stops-early" if early else "stops-late", expected, lines, f"{_rule(scenario)} is asked for")

    return first_found(trace.main, judge)


@clause("MIX-3", family="mixtures", applies=_mixes, floor=4)
def proportions(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The samples of each source are as many as its weight says, within what chance explains."""
    if not _is_plain(scenario, trace) or scenario.parts < 2 or not _is_large(scenario):
        return None

    def judge(epochs: Epochs) -> Finding | None:
        counts = _counts(scenario, epochs)
        shares = [sum(counts[index] for index in source) for source in sources_of(scenario)]
        told = _out_of_proportion(scenario, shares)
        why = f"of {sum(shares)} samples; so far from it a right mixture is less than once in 10^9 cases"
        return Finding("proportions", f"the weights {_percent(scenario)}", (told,), why) if told else None

    return first_found(trace.main, judge)


@clause("MIX-4", family="mixtures", applies=_mixes, floor=10, needs=("ranks",))
def ranks_alike(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Each rank has the same mixture, and ends with the others: by one step at the most, and by none as claimed."""
    if not _is_plain(scenario, trace) or scenario.world_size == 1:
        return None
    most = most_apart(scenario, claims)

    def judge(epochs: Epochs) -> Finding | None:
        steps = [len(epoch.steps) for epoch in epochs]
        if max(steps) - min(steps) > most:
            notes = {steps.index(each): count(each, "step") for each in (max(steps), min(steps))}
            expected = f"ranks that differ by {count(most, 'step')}" if most else "as many steps on every rank"
            why = f"{claimed_policy(scenario, claims)} is claimed" if not most else "all ranks follow one schedule"
            return Finding("unequal", expected, show(epochs, notes), why)
        for rank, epoch in enumerate(epochs):
            shares = [sum(index in source for index in epoch.samples) for source in sources_of(scenario)]
            told = _out_of_proportion(scenario, shares) if sum(shares) else ""
            if told:
                why = "what one rank lacks of a source, its steps never see"
                return Finding("rank-proportions", f"the weights {_percent(scenario)}", (f"rank {rank}: {told}",), why)
        return None

    return first_found(trace.main, judge)


@clause("MIX-5", family="mixtures", applies=_mixes, floor=10)
def repeatable(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The same request and epoch give the same steps, in another process and when the epoch is reached directly."""
    again = next((run for run in trace.runs[1:] if run.name in _CIRCUMSTANCES), None)
    if again is None or not usable(again) or not usable(trace.main):
        return None
    if again.name == "jump" and counts_itself(again):
        return None
    return _compared(claims, trace.main, again, f"the same steps {_CIRCUMSTANCES[again.name]}", "request and epoch")


@clause("MIX-6", family="mixtures", applies=lambda claims: _mixes(claims) and claims.in_order, floor=4)
def sources_in_order(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Unshuffled, one rank delivers the samples of each source in their order, and again from its beginning."""
    if scenario.shuffle or _readers(scenario) > 1 or not _is_plain(scenario, trace):
        return None

    def judge(epochs: Epochs) -> Finding | None:
        for at, source in enumerate(sources_of(scenario)):
            came = [index for index in epochs[0].samples if index in source]
            wrong = next((i for i, index in enumerate(came) if index != source[i % len(source)]), None)
            if wrong is not None:
                expected = f"sample {source[wrong % len(source)]} as number {wrong + 1} of source {at}"
                note = {0: f"sample {came[wrong]} is number {wrong + 1} of source {at}"}
                return Finding(
                    "source-order", expected, show(epochs, note), "shuffle=False: a source has its own order"
                )
        return None

    return first_found(trace.main, judge)


@clause("MIX-7", family="mixtures", applies=lambda claims: _mixes(claims) and claims.shuffle is not None, floor=3)
def other_epochs_and_seeds_differ(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Shuffled, another epoch and another seed give other steps."""
    if not scenario.shuffle or not _is_plain(scenario, trace) or min(map(len, sources_of(scenario))) < _ENOUGH:
        return None
    seeded = trace.variant("seed+1")
    pairs = [("epochs", one, other) for one, other in pairwise(positions(trace.main))]
    if seeded is not None and usable(seeded):
        pairs += [("seeds", one, other) for one, other in zip(positions(trace.main), positions(seeded), strict=True)]
    pairs = [each for each in pairs if any(epoch.samples for epoch in each[1])]
    for what, first, second in pairs:
        if [epoch.steps for epoch in first] == [epoch.steps for epoch in second]:
            lines = (*show(first[:1], label="one, "), *show(second[:1], label="the other, "))
            why = "a source was shuffled through, of which chance gives one order less than once in 10^10 times"
            return [Finding(f"same-{what}", f"two {what} in different orders", lines, why)]
    return [] if pairs else None


@clause("MIX-8", family="mixtures", applies=lambda claims: _mixes(claims) and bool(claims.resume), floor=8)
def resumes(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A mixture that was stopped in mid-epoch goes on from its state where it stopped, in every source."""
    if not _is_restarted(scenario):
        return None
    whole = trace.variant(UNBROKEN)
    if whole is None or not usable(whole):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    # A state of the last step may mean the next epoch (RESUME-4).
    if any(len(epoch.steps) == stopped_after(scenario) for epoch in whole.epoch(-1)):
        return None
    why = "the state says where each source is"
    return _compared(claims, trace.main, whole, "what comes without a restart", why, latest=1)


@clause("MIX-9", family="mixtures", applies=_mixes, floor=20)
def length_is_true(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """`len()` counts the steps of the mixture, or is not known."""
    if not _is_plain(scenario, trace):
        return None
    return first_found(trace.main, lambda epochs: wrong_length(claims, epochs))


def is_too_small(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether a loader may refuse sources that are so small."""
    least = claims.least_samples(scenario.world_size, scenario.combined_batch)
    return min(map(len, sources_of(scenario))) < max(1, least)


def most_padded(scenario: ChosenScenario, policy: Policy | None) -> int:
    """How many repeats padding explains."""
    return scenario.world_size * scenario.batch_size - 1 if policy == "pad" else 0


def most_lost(scenario: ChosenScenario) -> int:
    """How many samples of a source that has been through may not have come."""
    round_of_all = _readers(scenario) * scenario.batch_size
    # Where ranks or workers share each source, one may have a sample more of it than another.
    return round_of_all if _readers(scenario) > 1 else round_of_all - 1 if scenario.drop_last else 0


def most_apart(scenario: ChosenScenario, claims: Claims) -> int:
    """By how many steps ranks may differ."""
    return 0 if claims.policy(scenario.drop_last) in ("drop", "pad") else max(1, scenario.num_workers)


def _readers(scenario: ChosenScenario) -> int:
    """The ranks and workers that may each have a part of each source."""
    return scenario.world_size * max(1, scenario.num_workers)


def _is_restarted(scenario: ChosenScenario) -> bool:
    return bool(stopped_after(scenario))


def _is_plain(scenario: ChosenScenario, trace: Trace) -> bool:
    """Whether an epoch was read as it comes: what a restart makes of it is MIX-8's matter."""
    return usable(trace.main) and not _is_restarted(scenario)


def _compared(claims: Claims, main: Run, other: Run, expected: str, why: str, latest: int = 0) -> Verdict:
    """Whether the epochs of two runs are alike, or only so many of the latest."""
    exercised = False
    for back in range(1, (latest or len(other.ranks[0].epochs)) + 1):
        pairs = zip(as_assigned(claims, main.epoch(-back)), as_assigned(claims, other.epoch(-back)), strict=True)
        for rank, (one, two) in enumerate(pairs):
            exercised = exercised or len(two.samples) > 1
            same = one.steps == two.steps if claims.in_order else sorted(one.samples) == sorted(two.samples)
            if not same:
                labels = (f"here, rank {rank} as ", f"{other.name}, rank {rank} as ")
                lines = (*show((one,), label=labels[0]), *show((two,), label=labels[1]))
                return [Finding(f"differs-{other.name}", expected, lines, why)]
    return [] if exercised else None


def _counts(scenario: ChosenScenario, epochs: Epochs) -> Counter[int]:
    return Counter(index for epoch in epochs for index in epoch.samples if 0 <= index < scenario.samples)


def _rule(scenario: ChosenScenario) -> str:
    return f'stop="{"all" if ends_with_the_last(scenario) else "first"}_exhausted"'


def _is_large(scenario: ChosenScenario) -> bool:
    return scenario.samples >= 100 * scenario.parts


def _percent(scenario: ChosenScenario) -> str:
    return ", ".join(f"{weight:.2%}" if rarity_of(scenario) else f"{weight:.0%}" for weight in weights_of(scenario))


def _out_of_proportion(scenario: ChosenScenario, shares: list[int]) -> str:
    """The source whose share of what came is improbable, in words; or ""."""
    total = sum(shares)
    for at, (hits, weight) in enumerate(zip(shares, weights_of(scenario), strict=True)):
        if total and -total * _divergence(hits / total, weight) < _LEAST_CHANCE:
            return f"{hits} samples of source {at} in {total}, {hits / total:.{2 if rarity_of(scenario) else 1}%}"
    return ""


def _divergence(rate: float, share: float) -> float:
    """Chernoff's exponent of a binomial rate that is so far from its share."""
    parts = ((rate, share), (1 - rate, 1 - share))
    return sum(here * log(here / there) for here, there in parts if here > 0)
