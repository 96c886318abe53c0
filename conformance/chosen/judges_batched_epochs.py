"""Chapter 11, batches: the judges of epochs whose steps were chosen: what is lost and repeated, and in which order."""

from collections import Counter
from itertools import pairwise

from conformance.chosen.batches import (
    ENOUGH_STEPS,
    amount,
    counts_of,
    is_too_small,
    most_lost,
    most_repeated,
    parts_of,
    weight,
)
from conformance.chosen.judging import (
    Epochs,
    claimed_policy,
    first_found,
    positions,
    wrong_length,
)
from conformance.chosen.scenario import ChosenScenario, too_large
from conformance.contract import Claims
from conformance.loader.judging import ends, listed, remainder, show, usable
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("GROUP-3", family="batches", applies=lambda claims: bool(claims.batches) and remainder(claims), floor=30)
def bounded_loss(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample is lost but what the policy drops: less than one step of all ranks, of each group."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or is_too_small(scenario, claims):
        return None
    if trace.main.failed:
        return None if too_large(scenario) else ends(trace.main, ())

    def judge(epochs: Epochs) -> Finding | None:
        counts = counts_of(scenario, epochs)
        for name, members in parts_of(scenario).items():
            lost = [index for index in members if not counts[index]]
            most = most_lost(scenario, policy)
            if weight(scenario, lost) > most:
                expected = f"at most {amount(scenario, most)} of {name} lost" if most else "every sample"
                lines = (*show(epochs), f"{listed(lost)} of {name}: on no rank")
                return Finding("lost", expected, lines, f"{claimed_policy(scenario, claims)} is claimed")
        return None

    return first_found(trace.main, judge)


@clause("GROUP-4", family="batches", applies=lambda claims: bool(claims.batches) and remainder(claims), floor=30)
def bounded_padding(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample is repeated but as padding: less than one step of all ranks, of each group."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or not usable(trace.main):
        return None

    def judge(epochs: Epochs) -> Finding | None:
        counts = counts_of(scenario, epochs)
        for name, members in parts_of(scenario).items():
            again = [index for index in members for _ in range(counts[index] - 1)]
            most = most_repeated(scenario, policy)
            if weight(scenario, again) > most:
                expected = f"at most {amount(scenario, most)} of {name} repeated" if most else "each sample once"
                rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
                lines = show(epochs, {rank: f"{listed(sorted(set(again)))} again"})
                return Finding("repeated", expected, lines, f"{claimed_policy(scenario, claims)} is claimed")
        return None

    return first_found(trace.main, judge)


def _balances(claims: Claims) -> bool:
    return bool(claims.batches) and bool({claims.when_dropping, claims.when_keeping} & {"drop", "pad"})


@clause("GROUP-5", family="batches", applies=_balances, floor=20, needs=("ranks",))
def equal_steps(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Under "drop" and "pad" all ranks have as many steps, however many groups there are."""
    if claims.policy(scenario.drop_last) not in ("drop", "pad"):
        return None
    if scenario.world_size == 1 or not usable(trace.main):
        return None

    def judge(epochs: Epochs) -> Finding | None:
        steps = [len(epoch.steps) for epoch in epochs]
        if len(set(steps)) == 1:
            return None
        notes = {steps.index(each): count(each, "step") for each in (max(steps), min(steps))}
        why = (
            f"{claimed_policy(scenario, claims)} is claimed, and a rank with a step more waits for the others for ever"
        )
        return Finding("unequal", "as many steps on every rank", show(epochs, notes), why)

    return first_found(trace.main, judge)


@clause("GROUP-8", family="batches", applies=lambda claims: bool(claims.batches), floor=40)
def reads_once(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample is read more often than it is delivered; what is dropped or skipped may be read once an epoch.

    One sample more may be read by a loader, to learn what samples are like.
    """
    if not usable(trace.main):
        return None
    for rank in trace.main.ranks:
        reads = Counter(read.index for read in rank.reads)
        delivered = Counter(rank_index for epoch in rank.epochs for rank_index in epoch.samples)
        allowed = {index: max(delivered[index], len(rank.epochs)) for index in reads}
        more = sorted(index for index in reads if reads[index] > allowed[index])
        if sum(reads[index] - allowed[index] for index in more) > 1:
            told = f"sample {more[0]} was read {count(reads[more[0]], 'time')}"
            line = f"rank {rank.rank}: {told}, delivered {count(delivered[more[0]], 'time')}"
            why = "sizes and groups are told, so that no sample has to be read to be put off"
            return [Finding("read-more", "no more reads of a sample than deliveries", (line,), why)]
    return []


@clause("GROUP-10", family="batches", applies=lambda claims: bool(claims.batches), floor=40)
def length_is_true(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """`len()` counts the steps of the epoch that comes, in however many groups they are."""
    if not usable(trace.main):
        return None
    return first_found(trace.main, lambda epochs: wrong_length(claims, epochs))


def _shuffles(claims: Claims) -> bool:
    return bool(claims.batches) and claims.shuffle is not None


@clause("GROUP-11", family="batches", applies=_shuffles, floor=8)
def repeatable(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed and epoch make the same steps in another process."""
    again = trace.variant("again")
    if not scenario.shuffle or again is None or not usable(again) or not usable(trace.main):
        return None
    for position in range(scenario.epochs):
        for rank, (one, other) in enumerate(zip(trace.main.epoch(position), again.epoch(position), strict=True)):
            if _composed(claims, one) != _composed(claims, other):
                lines = (
                    *show((one,), label=f"first, rank {rank} as "),
                    *show((other,), label=f"again, rank {rank} as "),
                )
                why = "request and epoch are the same; only the process, and its PYTHONHASHSEED, is another"
                return [Finding("not-repeatable", "the same steps both times", lines, why)]
    return []


@clause("GROUP-12", family="batches", applies=_shuffles, floor=4)
def other_epochs_and_seeds_differ(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Another epoch, and another seed, make other steps, or the same ones in another order."""
    if not scenario.shuffle or not usable(trace.main):
        return None
    seeded = trace.variant("seed+1")
    pairs = [("epochs", one, other) for one, other in pairwise(positions(trace.main))]
    if seeded is not None and usable(seeded):
        pairs += [("seeds", trace.main.epoch(at), seeded.epoch(at)) for at in range(scenario.epochs)]
    pairs = [each for each in pairs if sum(len(epoch.steps) for epoch in each[1]) >= ENOUGH_STEPS]
    for what, first, second in pairs:
        if [epoch.steps for epoch in first] == [epoch.steps for epoch in second]:
            lines = (*show(first[:1], label="one, "), *show(second[:1], label="the other, "))
            why = f"{ENOUGH_STEPS} steps in one order come so again less than once in 10^9 shuffles"
            return [Finding(f"same-{what}", f"two {what} in different orders", lines, why)]
    return [] if pairs else None


def _composed(claims: Claims, epoch: Epoch) -> object:
    return epoch.steps if claims.in_order else sorted(map(sorted, epoch.steps))
