"""Chapter 11, subsets: the judges of SUBSET-*, on parts of a dataset, and on two loaders in one process."""

from collections import Counter
from collections.abc import Iterator

from conformance.chosen.judging import Epochs, claimed_policy, in_words, positions, wrong_length
from conformance.chosen.scenario import ChosenScenario, has_second, indices_of, indices_of_second
from conformance.contract import Claims, Policy
from conformance.loader.judging import as_assigned, ends, listed, remainder, show, usable
from conformance.trace import Run, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# The runs in which each of two loaders is read alone.
ALONE = ("first", "second")


def _subsets(claims: Claims) -> bool:
    return claims.subsets


@clause("SUBSET-1", family="subsets", applies=_subsets, floor=20)
def nothing_else(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """What is delivered, and read, are samples of the subset.

    One other may be read by a loader, to learn what samples are like.
    """
    if not usable(trace.main) or not _leaves_something_out(scenario):
        return None
    for indices, epochs in _shares(scenario, trace.main):
        for rank, epoch in enumerate(epochs):
            foreign = [index for index in epoch.samples if 0 <= index < scenario.samples and index not in indices]
            if foreign:
                lines = show(epochs, {rank: f"sample {foreign[0]} is not in the subset"})
                why = f"request.indices is {in_words(indices)}"
                return [Finding("not-in-subset", f"samples of {in_words(indices)}", lines, why)]
    mine = {*indices_of(scenario), *(indices_of_second(scenario) if has_second(scenario) else ())}
    for run in trace.main.ranks:
        other = sorted({read.index for read in run.reads} - mine)
        if len(other) > 1:
            line = f"rank {run.rank}: {listed(other)} read, and delivered to nobody"
            return [Finding("read-outside", f"reads of {in_words(sorted(mine))}", (line,), "the rest is another's")]
    return []


@clause("SUBSET-2", family="subsets", applies=lambda claims: claims.subsets and remainder(claims), floor=20)
def whole_subset(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A subset is delivered as a dataset of so many samples is: nothing lost, nothing twice, but by the policy."""
    policy = claims.policy(scenario.drop_last)
    if policy is None or is_too_small(scenario, claims):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    dropped, padded = most_dropped(scenario, policy), most_padded(scenario, policy)
    for indices, epochs in _shares(scenario, trace.main):
        counts = Counter(index for epoch in epochs for index in epoch.samples if index in indices)
        lost = [index for index in indices if not counts[index]]
        again = sorted(index for index in counts if counts[index] > 1)
        if len(lost) > dropped:
            expected = f"at most {count(dropped, 'sample')} lost" if dropped else "every sample of the subset"
            lines = (*show(epochs), f"{listed(sorted(lost))}: on no rank")
            return [Finding("lost", expected, lines, f"{claimed_policy(scenario, claims)} is claimed")]
        if counts.total() - len(counts) > padded:
            expected = f"at most {count(padded, 'repeat')}" if padded else "each sample once"
            rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
            lines = show(epochs, {rank: f"sample {again[0]} again"})
            return [Finding("repeated", expected, lines, f"{claimed_policy(scenario, claims)} is claimed")]
    return []


@clause("SUBSET-3", family="subsets", applies=lambda claims: claims.subsets and claims.in_order, floor=10)
def order_of_the_indices(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Unshuffled, one rank delivers the samples in the order of the indices."""
    if scenario.shuffle or scenario.world_size > 1 or not usable(trace.main):
        return None
    exercised = False
    for indices, epochs in _shares(scenario, trace.main):
        came = [index for index in epochs[0].samples if index in indices]
        places = [indices.index(index) for index in dict.fromkeys(came)]
        exercised = exercised or len(places) > 1
        if places != sorted(places):
            lines = show(epochs)
            why = f"request.indices is {in_words(indices)}, and shuffle=False"
            return [Finding("subset-order", f"the order {in_words(indices)}", lines, why)]
    return [] if exercised else None


@clause("SUBSET-4", family="subsets", applies=_subsets, floor=10)
def two_loaders_apart(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Two loaders in one process, over complements or over one dataset, each deliver what they deliver alone."""
    if not has_second(scenario) or not usable(trace.main):
        return None
    exercised = False
    for at, name in enumerate(ALONE):
        alone = trace.variant(name)
        if alone is None or not usable(alone):
            continue
        for number in range(scenario.epochs):
            both = as_assigned(claims, trace.main.epoch(at * scenario.epochs + number))
            pairs = zip(both, as_assigned(claims, alone.epoch(number)), strict=True)
            for rank, (one, other) in enumerate(pairs):
                exercised = exercised or bool(other.samples)
                same = one.steps == other.steps if claims.in_order else sorted(one.samples) == sorted(other.samples)
                if not same:
                    labels = (f"beside the other, rank {rank} as ", f"alone, rank {rank} as ")
                    lines = (*show((one,), label=labels[0]), *show((other,), label=labels[1]))
                    why = f"the {name} loader, epoch {number}: what another loader does is nothing to it"
                    return [Finding("not-apart", "the same as alone", lines, why)]
    return [] if exercised else None


@clause("SUBSET-5", family="subsets", applies=_subsets, floor=20)
def nothing_in_place(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Indices and dataset are the caller's: after all epochs they are as they were."""
    if not usable(trace.main):
        return None
    for rank in trace.main.ranks:
        touched = rank.remark("touched")
        if touched:
            line = f"rank {rank.rank}: {touched}"
            why = "the caller, and other loaders, use the same list and the same dataset"
            return [Finding("touched", "indices and dataset as they were", (line,), why)]
    return []


@clause("SUBSET-6", family="subsets", applies=_subsets, floor=20)
def length_is_true(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """`len()` counts the steps of the subset."""
    if not usable(trace.main):
        return None
    found = (wrong_length(claims, epochs) for epochs in positions(trace.main))
    return next(([finding] for finding in found if finding), [])


def most_dropped(scenario: ChosenScenario, policy: Policy) -> int:
    """How many samples of a subset may be lost."""
    if scenario.drop_last:
        return scenario.world_size * scenario.batch_size - 1
    return scenario.world_size - 1 if policy == "drop" else 0


def most_padded(scenario: ChosenScenario, policy: Policy) -> int:
    """How many repeats padding explains."""
    return scenario.world_size * scenario.batch_size - 1 if policy == "pad" else 0


def is_too_small(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether a loader may refuse a subset of so few samples."""
    least = claims.least_samples(scenario.world_size, scenario.combined_batch)
    lengths = [len(indices_of(scenario)), *([len(indices_of_second(scenario))] if has_second(scenario) else [])]
    return min(lengths) < least


def _leaves_something_out(scenario: ChosenScenario) -> bool:
    return len(indices_of(scenario)) < scenario.samples


def _shares(scenario: ChosenScenario, run: Run) -> Iterator[tuple[list[int], Epochs]]:
    """Each epoch over all ranks, with the indices that it was to have: those of a second loader come behind."""
    for at, epochs in enumerate(positions(run)):
        yield (indices_of(scenario) if at < scenario.epochs else indices_of_second(scenario)), epochs
