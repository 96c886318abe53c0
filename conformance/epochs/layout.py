"""Chapter 3, unshuffled epochs: the judges of ORDER-1 and ORDER-2."""

from collections import Counter

from conformance.contract import Claims
from conformance.loader.judging import known_samples, remainder, show, usable
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Trace
from conformance.trial.clause import Finding, Verdict, clause


@clause("ORDER-1", applies=lambda claims: claims.in_order, floor=60)
def dataset_order(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Unshuffled, a rank's samples ascend; padding may start again after them."""
    if scenario.shuffle or not usable(trace.main):
        return None
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        counts = known_samples(scenario, epochs)
        for rank, epoch in enumerate(epochs):
            # What is foreign has no place in the order; PART-5 names it.
            within = [index for step in epoch.steps for index in _within(scenario, step, counts)]
            samples = [index for index in within if index in counts]
            exercised = exercised or len(samples) > 1
            descent = next((i for i in range(1, len(samples)) if samples[i] <= samples[i - 1]), None)
            if descent is not None and any(counts[index] < 2 for index in samples[descent:]):
                note = f"{samples[descent]} after {samples[descent - 1]}"
                why = "shuffle=False is asked for"
                return [
                    Finding("unshuffled-order", "samples in the order of the dataset", show(epochs, {rank: note}), why)
                ]
    return [] if exercised else None


def _within(scenario: Scenario, step: tuple[int, ...], counts: Counter[int]) -> tuple[int, ...]:
    # What is inside a combined batch is judged by BATCH-3; but padding stands where it stands.
    padding = any(counts[index] > 1 for index in step)
    return step if padding or not scenario.has_device_factors else tuple(sorted(step))


@clause("ORDER-2", applies=lambda claims: claims.layout is not None and remainder(claims), floor=60)
def layout(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The unshuffled shard of each rank is the run, or the stride, that is claimed."""
    if (
        scenario.shuffle
        or scenario.world_size == 1
        or claims.policy(scenario.drop_last) is None
        or not usable(trace.main)
    ):
        return None
    # Steps that come as they are ready are put in order; but where padding begins in them can't be told.
    pads = claims.policy(scenario.drop_last) == "pad"
    if pads and (not claims.in_order or (claims.layout == "contiguous" and _drops_a_rest(scenario))):
        return None
    misplaced = _misplaced_in_runs if claims.layout == "contiguous" else _misplaced_in_strides
    exercised = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        exercised = exercised or any(len(epoch.samples) > 1 for epoch in epochs)
        found = misplaced(scenario, claims, epochs)
        if found:
            rank, index, expected = found
            rule = (
                "one run of consecutive samples a rank"
                if claims.layout == "contiguous"
                else "rank r holds r, r+R, r+2R, ..."
            )
            due = expected if expected < scenario.samples else "nothing more"
            note = f"{index}, where {due} belongs"
            return [Finding("layout", rule, show(epochs, {rank: note}), f'layout="{claims.layout}" is claimed')]
    return [] if exercised else None


def _drops_a_rest(scenario: Scenario) -> bool:
    """Whether a filled-up shard loses its rest: padding may then be all that came of a sample, so nothing tells it."""
    return scenario.drop_last and -(-scenario.samples // scenario.world_size) % scenario.combined_batch > 0


def _in_order(scenario: Scenario, claims: Claims, epoch: Epoch) -> list[int]:
    # The order inside a combined batch is judged by BATCH-3, that of the whole rank by ORDER-1.
    if not claims.in_order or (scenario.has_device_factors and claims.policy(scenario.drop_last) != "pad"):
        return sorted(epoch.samples)
    return list(epoch.samples)


def _misplaced_in_strides(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> tuple[int, int, int] | None:
    for rank, epoch in enumerate(epochs):
        for position, index in enumerate(_in_order(scenario, claims, epoch)):
            expected = rank + position * scenario.world_size
            if index != expected and expected < scenario.samples:
                return rank, index, expected
    return None


def _misplaced_in_runs(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> tuple[int, int, int] | None:
    if claims.policy(scenario.drop_last) == "pad":
        return _misplaced_beside_padding(scenario, claims, epochs)
    behind, counts = 0, known_samples(scenario, epochs)
    for rank, epoch in enumerate(epochs):
        samples = _in_order(scenario, claims, epoch)
        # Each begins anywhere after the one before.
        start = max(behind, samples[0]) if samples else behind
        for position, index in enumerate(samples):
            # After the end of the dataset PART-1 names what comes again, and PART-5 what is foreign.
            if index != start + position and (start + position < scenario.samples or counts[index] == 1):
                return rank, index, start + position
        # Not after its last sample, which may be one that comes again.
        behind = start + len(samples)
    return None


def _misplaced_beside_padding(
    scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]
) -> tuple[int, int, int] | None:
    """Where padding may stand anywhere, each rank has one run all the same: what is left of it without repeats.

    Of a sample that comes twice either may be the padding. So runs are looked for that follow one another, rank by
    rank, and hold all the different samples that came. What is foreign past the end of the dataset is PART-5's.
    """
    counts, size = known_samples(scenario, epochs), scenario.samples
    # By the place after the last run: how many samples the runs so far hold, at most.
    held = {0: 0}
    for rank, epoch in enumerate(epochs):
        samples = _in_order(scenario, claims, epoch)
        runs = _possible_runs(samples, counts, size)
        nothing = all(counts[index] != 1 for index in samples)
        reached: dict[int, int] = {}
        for behind, number in held.items():
            for first, end in [*runs, (size, size)] if nothing and max([behind, *samples]) >= size else runs:
                if first >= behind or first == end:
                    place = max(behind, end)
                    reached[place] = max(reached.get(place, 0), number + end - first)
        if not reached:
            return rank, *_first_misplaced(samples, counts, min(held))
        held = reached
    if max(held.values()) >= len(counts):
        return None
    return next(
        (rank, *_first_misplaced(_in_order(scenario, claims, epoch), Counter(), 0))
        for rank, epoch in enumerate(epochs)
        if epoch.samples
    )


def _possible_runs(samples: list[int], counts: Counter[int], size: int) -> list[tuple[int, int]]:
    """The runs (first, end) that these samples may be with padding before, within and after; (0, 0): padding alone."""
    found = []
    for at, first in enumerate(samples):
        end = first
        for index in samples[at:]:
            if index == end and end < size:
                end += 1
            elif counts[index] == 1 or (counts[index] == 0 and end < size):
                break
        else:
            if first < size:
                found.append((first, end))
        if counts[first] < 2:
            return found
    return [*found, (0, 0)]


def _first_misplaced(samples: list[int], counts: Counter[int], behind: int) -> tuple[int, int]:
    """The first sample that is neither the next of its rank's run nor a repeat, and what belongs there."""
    expected = max(behind, samples[0])
    for index in samples:
        if index == expected:
            expected += 1
        elif counts[index] < 2:
            return index, expected
    return samples[-1], expected
