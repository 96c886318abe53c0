"""The checks of chapter 3: in which order samples come, and what has an influence on it."""

from collections import Counter
from math import comb, lgamma, log
from types import SimpleNamespace

from conformance.report.script.checks.common import epochs_of, missing_from, samples_of, times_of
from conformance.report.script.checks.partition import (
    lost_beyond_dropping,
    repeats_beyond_padding,
    too_much_padding,
    unbalanced,
)


def dataset_order(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-1: unshuffled, the samples of a rank ascend; padding may start again after them."""
    for epochs in epochs_of(runs["main"]):
        times = times_of(case, epochs)
        for rank, epoch in enumerate(epochs):
            one_batch = case.combined_batch == case.batch_size
            steps = [step if one_batch else sorted(step) for step in epoch.steps]
            samples = [index for step in steps for index in step if index in times]
            falls = [at for at in range(1, len(samples)) if samples[at] <= samples[at - 1]]
            if falls and any(times[index] < 2 for index in samples[falls[0] :]):
                return f"rank {rank} delivers {samples[falls[0]]} after {samples[falls[0] - 1]}"
    return ""


def layout(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-2: a rank holds one run of samples, or the samples r, r + R, r + 2R, ..., as claimed."""
    for epochs in epochs_of(runs["main"]):
        behind, times = 0, times_of(case, epochs)
        for rank, epoch in enumerate(epochs):
            samples = samples_of(epoch)
            if case.policy == "pad" and case.layout == "contiguous":
                # Of what comes twice either may be padding, which may stand anywhere: the others tell the runs.
                # What is foreign past the end is none of this clause's.
                past = max([behind, *(index + 1 for index in samples if times[index])]) >= case.samples
                samples = [index for index in samples if times[index] == 1 or not (times[index] or past)]
                around = range(min([behind, *samples]), max(samples, default=-1) + 1)
                if samples != [index for index in around if times[index] < 2 and index >= samples[0]]:
                    return f"rank {rank} holds {' '.join(map(str, samples))} beside its padding, which are no run"
                if samples and samples[0] < behind:
                    return f"rank {rank} holds {samples[0]}, which belongs before the rank before it"
                behind = max(behind, max(samples, default=-1) + 1)
                continue
            if case.combined_batch != case.batch_size and case.policy != "pad":
                samples.sort()
            start = max(behind, samples[0] if samples else 0)
            for position, index in enumerate(samples):
                right = start + position if case.layout == "contiguous" else rank + position * case.world_size
                if index != right and right < case.samples:
                    return f"rank {rank} holds {index} where {right} belongs"
                if index != right and case.layout == "contiguous" and times[index] == 1:
                    return f"rank {rank} holds {index}, which belongs before the rank before it"
            behind = start + len(samples)
    return ""


def as_exact_as_unshuffled(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-3, ORDER-4: a shuffled epoch repeats and loses no more than an unshuffled one."""
    unshuffled = deviations(case, epochs_of(runs["unshuffled"])[0])
    for epochs in epochs_of(runs["main"]):
        worse = any(here > there for here, there in zip(deviations(case, epochs), unshuffled, strict=True))
        for fault in (repeats_beyond_padding, lost_beyond_dropping, too_much_padding, unbalanced):
            sentence = fault(case, epochs)
            if sentence and worse:
                return sentence
    return ""


def deviations(case: SimpleNamespace, epochs: tuple[SimpleNamespace, ...]) -> tuple[int, int, int]:
    """How many samples are repeated, how many are missing, and how far the ranks' shares lie apart."""
    times = times_of(case, epochs)
    sizes = [len(samples_of(epoch)) for epoch in epochs]
    return times.total() - len(times), len(missing_from(case, epochs)), max(sizes) - min(sizes)


def same_order(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-5, ORDER-8, ORDER-9: both runs give the same order."""
    one, other = runs.values()
    for rank, (first, second) in enumerate(zip(one, other, strict=True)):
        # Where the second run begins at a later epoch, the last ones are compared.
        for here, there in zip(reversed(first.epochs), reversed(second.epochs), strict=False):
            same_samples = sorted(samples_of(here)) == sorted(samples_of(there))
            if not same_samples or (case.in_order and here.steps != there.steps):
                return f"epoch {here.number} of rank {rank} comes in another order the second time"
    return ""


def orders_of(ranks: list[SimpleNamespace]) -> list[str]:
    """The order of each epoch: the samples of rank 0 as they come, then those of rank 1, and so on."""
    return [str([samples_of(epoch) for epoch in epochs]) for epochs in epochs_of(ranks)]


def beyond_chance(case: SimpleNamespace, ranks: list[SimpleNamespace], ways: int, coincidences: int) -> bool:
    """Whether a fair shuffle does so, in one of this many ways, less than once in 10^9 runs."""
    first = [samples_of(epoch) for epoch in epochs_of(ranks)[0]]
    came = len({index for samples in first for index in samples if 0 <= index < case.samples})
    choices = lgamma(case.samples + 1) - lgamma(case.samples - came + 1) if case.in_order else 0.0
    if case.shuffle_claim == "buffered":
        # Even a buffer of two chooses at each sample but the last.
        choices = max(0, max(map(len, first)) - 1) * log(2)
    return log(ways) - choices * coincidences < log(1e-9)


def epochs_differ(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-6: another epoch gives another order."""
    orders = orders_of(runs["main"])
    equal = max(Counter(orders).values())
    if equal > 1 and beyond_chance(case, runs["main"], comb(len(orders), equal), equal - 1):
        return f"{equal} of {len(orders)} epochs have the same order"
    return ""


def seeds_differ(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-7: another seed gives another order."""
    one, other = orders_of(runs["main"]), orders_of(runs["seed+1"])
    equal = sum(here == there for here, there in zip(one, other, strict=True))
    if equal and beyond_chance(case, runs["main"], comb(len(one), equal), equal):
        return f"{equal} of {len(one)} epochs have the same order with the next seed"
    return ""


def seed_and_epoch_not_added(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-14: epoch e + 1 of a seed is not epoch e of the next seed."""
    later, other = orders_of(runs["main"])[1:], orders_of(runs["seed+1"])[:-1]
    equal = sum(here == there for here, there in zip(later, other, strict=True))
    if equal and beyond_chance(case, runs["main"], comb(len(later), equal), equal):
        return f"{equal} of {len(later)} epochs have the order of the epoch before with the next seed"
    return ""


def generators_not_reseeded(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-10: a global generator does not end in one state whatever state it had before."""
    return disturbed_generator(runs, reseeded=True)


def generators_not_drawn_from(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """ORDER-11: a global generator is where it was."""
    return disturbed_generator(runs, reseeded=False)


def disturbed_generator(runs: dict[str, list[SimpleNamespace]], reseeded: bool) -> str:
    """Which library's generator was moved, or put in one and the same state."""
    for rank, (one, other) in enumerate(zip(runs["main"], runs["random-state"], strict=True)):
        for library in vars(one.before):
            before, after = getattr(one.before, library), getattr(one.after, library)
            forgotten = before != getattr(other.before, library) and after == getattr(other.after, library)
            if after != before and forgotten == reseeded:
                return f"rank {rank}: {library}'s global generator {'is reseeded' if reseeded else 'has moved on'}"
    return ""
