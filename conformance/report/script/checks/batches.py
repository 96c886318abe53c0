"""The checks of chapter 11 for steps whose members are chosen, by group or by size."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, failure_in, samples_of, times_of
from conformance.report.script.judge import give_up


def one_group_a_step(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-1: all samples of a step are of one group."""
    for epochs in epochs_of(runs["main"]):
        for step in (step for epoch in epochs for step in epoch.steps):
            mine = sorted({case.groups[index] for index in step if 0 <= index < case.samples})
            if len(mine) > 1:
                return f"samples {' '.join(map(str, step))} come in a step, and are of the groups {mine}"
    return ""


def full_steps_but_one(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-2: steps are full; of each group one on each rank may be smaller, and none under drop_last."""
    for epoch in (epoch for epochs in epochs_of(runs["main"]) for epoch in epochs):
        smaller: Counter[int] = Counter()
        for step in epoch.steps:
            mine = {case.groups[index] for index in step if 0 <= index < case.samples}
            smaller.update(mine if len(step) < case.batch_size else ())
            few = len(step) < case.batch_size and (case.drop_last or any(smaller[each] > 1 for each in mine))
            if few or not 0 < len(step) <= case.batch_size:
                return f"a step holds {len(step)} samples, and {case.batch_size} are asked for of each group"
    return ""


def loss_of_each_group(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-3: no sample is lost but what the policy drops: less than one step of all ranks, of each group."""
    if failure_in(runs["main"]) and case.too_large:
        give_up(f"the loader {failure_in(runs['main'])}")
    if failure_in(runs["main"]):
        return f"the loader {failure_in(runs['main'])}"
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for name, members in case.parts_of_all.items():
            lost = [index for index in members if not times[index]]
            amount = sum(case.amounts[index] for index in lost)
            if amount > case.most_lost:
                return f"of {name}, {lost[:8]} come on no rank: {amount} lost, and at most {case.most_lost} may be"
    return ""


def padding_of_each_group(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-4: no sample is repeated but as padding: less than one step of all ranks, of each group."""
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for name, members in case.parts_of_all.items():
            again = [index for index in members if times[index] > 1]
            amount = sum((times[index] - 1) * case.amounts[index] for index in again)
            if amount > case.most_repeated:
                return f"of {name}, {again[:8]} come again: {amount} more, and padding explains {case.most_repeated}"
    return ""


def within_the_budget(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-6: the sizes of a step add up to the budget at most; what is too large may stand alone in its step."""
    for epoch in (epoch for epochs in epochs_of(runs["main"]) for epoch in epochs):
        for step in epoch.steps:
            total = sum(case.sizes[index] for index in step if 0 <= index < case.samples)
            if total > case.budget and not (len(step) == 1 and step[0] in case.too_large):
                return (
                    f"the sizes of samples {' '.join(map(str, step))} add up to {total}, and to {case.budget} at most"
                )
    return ""


def too_large_as_claimed(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-7: a sample that is larger than the budget is skipped, refused or alone, as claimed."""
    failures = [rank.failure for rank in runs["main"] if rank.failure]
    refuses = case.oversized in (None, "refuse")
    wrong = [failure for failure in failures if failure.kind != "raised" or not refuses]
    if wrong:
        return f"{wrong[0].kind} {wrong[0].message}"
    if failures:
        return ""
    if case.oversized == "refuse":
        return f"samples {case.too_large} are larger than the budget, and that is no error"
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for index in case.too_large:
            if case.oversized and (case.oversized == "skip") == (times[index] > 0):
                return f"sample {index} is larger than the budget, and {'comes' if times[index] else 'does not come'}"
    return ""


def no_read_to_put_off(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-8: no sample is read more often than it is delivered, or than there are epochs; but for one."""
    for position, rank in enumerate(runs["main"]):
        read = Counter(each.index for each in rank.reads)
        came = Counter(index for epoch in rank.epochs for index in samples_of(epoch))
        more = {index: read[index] - max(came[index], len(rank.epochs)) for index in sorted(read)}
        if sum(each for each in more.values() if each > 0) > 1:
            index = next(index for index in more if more[index] > 0)
            return f"rank {position} reads sample {index} {read[index]} times and delivers it {came[index]} times"
    return ""


def large_enough(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-9: a step is as large as asked for, and ends with the sample that makes it so; a rest may be alone."""
    above, rests = case.budget + max(case.sizes, default=0), 0 if case.drop_last else 1
    for epoch in (epoch for epochs in epochs_of(runs["main"]) for epoch in epochs):
        totals = [sum(case.sizes[index] for index in step if 0 <= index < case.samples) for step in epoch.steps]
        small, large = [each for each in totals if each < case.budget], [each for each in totals if each >= above]
        if len(small) > rests or len(large) > rests or max(totals, default=0) >= above + rests * case.budget:
            return f"the sizes of the steps are {totals}, and each is to be {case.budget} or more and below {above}"
    return ""


def same_members(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-11: the same seed and epoch make the same steps in another process."""
    for rank, (one, other) in enumerate(zip(runs["main"], runs["again"], strict=True)):
        for here, there in zip(one.epochs, other.epochs, strict=True):
            same = sorted(map(sorted, here.steps)) == sorted(map(sorted, there.steps))
            if not same or (case.in_order and here.steps != there.steps):
                return f"epoch {here.number} of rank {rank} has other steps the second time"
    return ""


def other_steps_each_time(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """GROUP-12, STREAM-2, STREAM-3, MIX-7: another epoch and another seed give other steps, or another order."""
    main, *others = [[[epoch.steps for epoch in epochs] for epochs in epochs_of(ranks)] for ranks in runs.values()]
    pairs = [("epochs", *pair) for pair in pairwise(main)]
    pairs += [("seeds", *pair) for other in others for pair in zip(main, other, strict=True)]
    found = (what for what, one, other in pairs if one == other and sum(map(len, one)) >= case.least_steps)
    return next((f"two {what} have the same steps in the same order" for what in found), "")
