"""Chapter 11, batches: the judges of what a step holds whose members were chosen by group or by size."""

from collections import Counter

from conformance.chosen.batches import claims_batches, counts_of, is_judged, is_too_small, known
from conformance.chosen.judging import (
    Epochs,
    first_found,
    in_words,
)
from conformance.chosen.scenario import ChosenScenario, groups_of, sizes_of, too_large
from conformance.contract import Claims
from conformance.loader.judging import ends, listed, show
from conformance.trace import Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


@clause("GROUP-1", family="batches", applies=claims_batches("grouped"), floor=20, needs=("batch_size",))
def one_group_a_step(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """All samples of a step are of one group."""
    groups = groups_of(scenario)
    several = len(set(groups)) > 1 and scenario.batch_size > 1
    if not is_judged(scenario, claims, trace, "grouped") or not several:
        return None

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            for step in epoch.steps:
                mine = sorted({groups[index] for index in known(scenario, step)})
                if len(mine) > 1:
                    note = f"{' '.join(map(str, step))} are of the groups {', '.join(map(str, mine))}"
                    why = f"request.groups is {in_words(groups)}"
                    return Finding("mixed", "steps of one group each", show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("GROUP-2", family="batches", applies=claims_batches("grouped"), floor=20)
def full_steps_but_one(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Steps hold N samples; of each group at most one on each rank is smaller, and none under drop_last."""
    if not is_judged(scenario, claims, trace, "grouped"):
        return None
    groups, size = groups_of(scenario), scenario.batch_size

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            smaller: Counter[int] = Counter()
            for step in epoch.steps:
                mine = {groups[index] for index in known(scenario, step)}
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


@clause("GROUP-6", family="batches", applies=claims_batches("budget"), floor=20)
def within_the_budget(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The sizes of a step add up to the budget at most; what is too large stands alone in its step, if anywhere."""
    if not is_judged(scenario, claims, trace, "budget"):
        return None
    sizes, large = sizes_of(scenario), too_large(scenario)

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            for step in epoch.steps:
                total = sum(sizes[index] for index in known(scenario, step))
                if total > scenario.budget and not (len(step) == 1 and step[0] in large):
                    note = f"{' '.join(map(str, step))} have {total}"
                    why = f"request.sizes is {in_words(sizes)}"
                    return Finding("over", f"at most {scenario.budget} a step", show(epochs, {rank: note}), why)
        return None

    return first_found(trace.main, judge)


@clause("GROUP-7", family="batches", applies=lambda claims: "budget" in claims.batches, floor=8)
def too_large_as_claimed(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample that is larger than the budget is skipped, refused or alone, as claimed."""
    large = too_large(scenario)
    if scenario.about != "budget" or not large or is_too_small(scenario, claims):
        return None
    refuses = claims.oversized in (None, "refuse")
    if trace.main.failed:
        return ends(trace.main, ("raised",) if refuses else ())
    if claims.oversized == "refuse":
        lines = (*show(trace.main.epoch(0)), "no error")
        why = 'oversized="refuse" is claimed'
        return [Finding("not-refused", f"an error for {listed(large)}", lines, why)]

    def judge(epochs: Epochs) -> Finding | None:
        counts = counts_of(scenario, epochs)
        for index in large:
            if (claims.oversized == "skip" and counts[index]) or (claims.oversized == "alone" and not counts[index]):
                told = "skipped" if claims.oversized == "skip" else "in a step of its own"
                lines = (*show(epochs), f"sample {index} came {count(counts[index], 'time')}")
                return Finding("oversized", f"{listed(large)} {told}", lines, f'oversized="{claims.oversized}"')
        return None

    return first_found(trace.main, judge)


@clause("GROUP-9", family="batches", applies=claims_batches("at_least"), floor=20)
def large_enough(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A step is as large as asked for, and ends with the sample that makes it so; a rest may be alone or in another."""
    if not is_judged(scenario, claims, trace, "at_least"):
        return None
    sizes = sizes_of(scenario)
    above = scenario.budget + max(sizes, default=0)

    def judge(epochs: Epochs) -> Finding | None:
        for rank, epoch in enumerate(epochs):
            smaller = larger = 0
            for step in epoch.steps:
                total = sum(sizes[index] for index in known(scenario, step))
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
