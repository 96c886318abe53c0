"""Chapter 11, batches: the judges of GROUP-*, on steps whose members were chosen by group or by size."""

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from conformance.chosen.judging import (
    Epochs,
    claimed_policy,
    first_found,
    in_words,
    positions,
    wrong_length,
)
from conformance.chosen.scenario import ChosenScenario, groups_of, sizes_of, too_large
from conformance.contract import Claims, Policy
from conformance.loader.judging import ends, listed, remainder, show, usable
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# So many steps in one order: that they come so again has a chance below 10^-9 (13! is 6 * 10^9).
ENOUGH_STEPS = 13


def _claims(*names: str) -> Callable[[Claims], bool]:
    return lambda claims: bool({*names} & {*claims.batches})


def may_refuse(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether an error is a right answer to what no budget has room for."""
    return scenario.about == "budget" and bool(too_large(scenario)) and claims.oversized in (None, "refuse")


def _is_judged(scenario: ChosenScenario, claims: Claims, trace: Trace, *about: str) -> bool:
    return usable(trace.main) and scenario.about in about


@clause("GROUP-1", family="batches", applies=_claims("grouped"), floor=20, needs=("batch_size",))
def one_group_a_step(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """All samples of a step are of one group."""
    groups = groups_of(scenario)
    several = len(set(groups)) > 1 and scenario.batch_size > 1
    if not _is_judged(scenario, claims, trace, "grouped") or not several:
        return None

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            for step in epoch.steps:
                mine = sorted({groups[index] for index in _known(scenario, step)})
                if len(mine) > 1:
                    note = f"{' '.join(map(str, step))} are of the groups {', '.join(map(str, mine))}"
                    why = f"request.groups is {in_words(groups)}"
                    return Finding("mixed", "steps of one group each", show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("GROUP-2", family="batches", applies=_claims("grouped"), floor=20)
def full_steps_but_one(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Steps hold N samples; of each group at most one on each rank is smaller, and none under drop_last."""
    if not _is_judged(scenario, claims, trace, "grouped"):
        return None
    groups, size = groups_of(scenario), scenario.batch_size

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            smaller: Counter[int] = Counter()
            for step in epoch.steps:
                mine = {groups[index] for index in _known(scenario, step)}
                smaller.update(mine if len(step) < size else ())
                few = len(step) < size and (scenario.drop_last or any(smaller[each] > 1 for each in mine))
                if len(step) > size or few or not step:
                    note = f"a step of {count(len(step), 'sample')}"
                    rest = "" if scenario.drop_last else ", but one of each group"
                    expected = f"steps of {count(size, 'sample')}{rest}"
                    why = f"drop_last={scenario.drop_last}: only the rest of a group may make a smaller step"
                    return Finding("wrong-size", expected, show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("GROUP-3", family="batches", applies=lambda claims: bool(claims.batches) and remainder(claims), floor=30)
def bounded_loss(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """No sample is lost but what the policy drops: less than one step of all ranks, of each group."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or _is_too_small(scenario, claims):
        return None
    if trace.main.failed:
        return None if too_large(scenario) else ends(trace.main, ())

    def judge(epochs: Epochs) -> Finding | None:
        counts = _counts(scenario, epochs)
        for name, members in parts_of(scenario).items():
            lost = [index for index in members if not counts[index]]
            most = most_lost(scenario, policy)
            if _weight(scenario, lost) > most:
                expected = f"at most {_amount(scenario, most)} of {name} lost" if most else "every sample"
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
        counts = _counts(scenario, epochs)
        for name, members in parts_of(scenario).items():
            again = [index for index in members for _ in range(counts[index] - 1)]
            most = most_repeated(scenario, policy)
            if _weight(scenario, again) > most:
                expected = f"at most {_amount(scenario, most)} of {name} repeated" if most else "each sample once"
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


@clause("GROUP-6", family="batches", applies=_claims("budget"), floor=20)
def within_the_budget(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The sizes of a step add up to the budget at most; what is too large stands alone in its step, if anywhere."""
    if not _is_judged(scenario, claims, trace, "budget"):
        return None
    sizes, large = sizes_of(scenario), too_large(scenario)

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            for step in epoch.steps:
                total = sum(sizes[index] for index in _known(scenario, step))
                if total > scenario.budget and not (len(step) == 1 and step[0] in large):
                    note = f"{' '.join(map(str, step))} have {total}"
                    why = f"request.sizes is {in_words(sizes)}"
                    return Finding("over", f"at most {scenario.budget} a step", show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("GROUP-7", family="batches", applies=lambda claims: "budget" in claims.batches, floor=8)
def too_large_asclaimed_policy(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample that is larger than the budget is skipped, refused or alone, as claimed."""
    large = too_large(scenario)
    if scenario.about != "budget" or not large or _is_too_small(scenario, claims):
        return None
    refuses = claims.oversized in (None, "refuse")
    if trace.main.failed:
        return ends(trace.main, ("raised",) if refuses else ())
    if claims.oversized == "refuse":
        lines = (*show(trace.main.epoch(0)), "no error")
        why = 'oversized="refuse" is claimed'
        return [Finding("not-refused", f"an error for {listed(large)}", lines, why)]

    def judge(epochs: Epochs) -> Finding | None:
        counts = _counts(scenario, epochs)
        for index in large:
            if (claims.oversized == "skip" and counts[index]) or (claims.oversized == "alone" and not counts[index]):
                told = "skipped" if claims.oversized == "skip" else "in a step of its own"
                lines = (*show(epochs), f"sample {index} came {count(counts[index], 'time')}")
                return Finding("oversized", f"{listed(large)} {told}", lines, f'oversized="{claims.oversized}"')
        return None

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


@clause("GROUP-9", family="batches", applies=_claims("at_least"), floor=20)
def large_enough(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A step is as large as asked for, and ends with the sample that makes it so; a rest may be alone or in another."""
    if not _is_judged(scenario, claims, trace, "at_least"):
        return None
    sizes = sizes_of(scenario)
    above = scenario.budget + max(sizes, default=0)

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            smaller = larger = 0
            for step in epoch.steps:
                total = sum(sizes[index] for index in _known(scenario, step))
                smaller += total < scenario.budget
                # A rest may also be put to one of the others.
                larger += total >= above
                rests = 0 if scenario.drop_last else 1
                if smaller > rests or larger > rests or total >= above + rests * scenario.budget:
                    note = f"{' '.join(map(str, step))} have {total}"
                    expected = f"{scenario.budget} or more a step, and less than {above}"
                    why = f"drop_last={scenario.drop_last}, request.sizes is {in_words(sizes)}"
                    return Finding(
                        "too-little" if total < above else "too-much", expected, show(epochs, {rank: note}), why
                    )
        return None

    return first_found(trace.main, judge)


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


# --- what is allowed ------------------------------------------------------------------------------------------------


def _is_too_small(scenario: ChosenScenario, claims: Claims) -> bool:
    return scenario.samples < claims.least_samples(scenario.world_size, scenario.combined_batch)


def parts_of(scenario: ChosenScenario) -> dict[str, list[int]]:
    """What is counted by itself: each group, or all that any step has room for."""
    if scenario.about != "grouped":
        large = too_large(scenario) if scenario.about == "budget" else []
        return {"the samples": [index for index in range(scenario.samples) if index not in large]}
    parts: dict[str, list[int]] = {}
    for index, group in enumerate(groups_of(scenario)):
        parts.setdefault(f"group {group}", []).append(index)
    return parts


def _weight(scenario: ChosenScenario, samples: list[int]) -> int:
    """How much these samples are: so many, or so large."""
    sizes = sizes_of(scenario) if scenario.about != "grouped" else ()
    return sum(sizes[index] for index in samples) if sizes else len(samples)


def _amount(scenario: ChosenScenario, number: int) -> str:
    return count(number, "sample") if scenario.about == "grouped" else f"{number} in size"


def _step(scenario: ChosenScenario) -> int:
    """The most that a step holds."""
    if scenario.about == "at_least":
        return scenario.budget + max(sizes_of(scenario), default=0) - 1
    return scenario.batch_size if scenario.about == "grouped" else scenario.budget


def most_lost(scenario: ChosenScenario, policy: Policy) -> int:
    """The most that may be lost of a part: in samples of a group, else in size."""
    dropped = scenario.world_size - 1 if policy == "drop" else 0
    if not scenario.drop_last:
        # The last step may hold a rest as well that is too small for a step of its own.
        rest = scenario.budget - 1 if scenario.about == "at_least" else 0
        return dropped * (_step(scenario) + rest)
    if scenario.about == "grouped":
        return scenario.world_size * scenario.batch_size - 1
    return dropped * _step(scenario) + scenario.world_size * (scenario.budget - 1)


def most_repeated(scenario: ChosenScenario, policy: Policy) -> int:
    return scenario.world_size * _step(scenario) - 1 if policy == "pad" else 0


# --- what came ------------------------------------------------------------------------------------------------------


def _known(scenario: ChosenScenario, step: tuple[int, ...]) -> list[int]:
    """The samples of a step that are some; foreign ones are PART-5's matter."""
    return [index for index in step if 0 <= index < scenario.samples]


def _counts(scenario: ChosenScenario, epochs: Epochs) -> Counter[int]:
    return Counter(index for epoch in epochs for step in epoch.steps for index in _known(scenario, step))
