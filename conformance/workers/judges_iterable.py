"""Chapter 4, workers over an iterable dataset: the judges of WORK-3 to WORK-6."""

from collections import Counter

from conformance.contract import Claims
from conformance.loader.judging import ends, listed, missing, repeated, show, usable
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


def _splits(claims: Claims) -> bool:
    return claims.iterable_workers != "replicated"


@clause("WORK-3", family="iterable", dataset="iterable", applies=_splits, floor=8)
def split_over_workers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Over all workers and ranks each element comes once; drop_last may lose some, which is judged by WORK-5."""
    if scenario.samples < max(1, claims.least_samples(scenario.world_size, scenario.combined_batch)):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    claim = 'iterable_workers="split" is claimed' if claims.iterable_workers else "the dataset gives each element once"
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        # What ranks with equal steps lose or repeat is EQUAL-2's matter.
        evens = claims.equal_steps and scenario.world_size > 1
        again = [] if evens and claims.policy(scenario.drop_last) == "pad" else repeated(scenario, epochs)
        lost = [] if scenario.drop_last or evens else missing(scenario, epochs)
        if again:
            rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
            lines = show(epochs, {rank: f"sample {again[0]} again"})
            return [Finding("repeated", "each element once", lines, claim)]
        if lost:
            lines = (*show(epochs), f"{listed(lost)}: on no rank")
            return [Finding("lost", "each element once", lines, claim)]
    return []


@clause(
    "WORK-4",
    family="iterable",
    dataset="iterable",
    applies=lambda claims: claims.iterable_workers == "replicated",
    floor=6,
)
def replicated_over_workers(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Each worker of each rank delivers every element once; drop_last may lose some, which is judged by WORK-5."""
    if scenario.samples < max(1, claims.least_samples(scenario.world_size, scenario.combined_batch)):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    copies = max(1, scenario.num_workers)
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        for rank, epoch in enumerate(epochs):
            counts = Counter(epoch.samples)
            enough = 0 if scenario.drop_last else copies
            wrong = next((each for each in range(scenario.samples) if not enough <= counts[each] <= copies), None)
            if wrong is not None:
                note = f"sample {wrong} came {count(counts[wrong], 'time')}"
                why = 'iterable_workers="replicated" is claimed: each worker reads a copy of the dataset'
                return [Finding("copies", f"each element {count(copies, 'time')}", show(epochs, {rank: note}), why)]
    return []


@clause("WORK-5", family="iterable", dataset="iterable", applies=lambda claims: claims.drops is None, floor=6)
def bounded_loss_per_worker(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Under drop_last a worker loses less than one step."""
    if not scenario.drop_last or scenario.samples == 0 or not usable(trace.main):
        return None
    # What is dropped for ranks to be equal is EQUAL-2's matter.
    if claims.equal_steps and scenario.world_size > 1:
        return None
    workers = max(1, scenario.num_workers)
    replicated = claims.iterable_workers == "replicated"
    copies = workers * scenario.world_size if replicated else 1
    limit = workers * scenario.world_size * (scenario.combined_batch - 1)
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        lost = _lacking(scenario, epochs, workers) if replicated else len(missing(scenario, epochs))
        if lost > limit:
            expected = f"at most {limit} of {scenario.samples * copies} elements dropped"
            parts = (
                f"{count(scenario.world_size, 'rank')} x {workers} workers"
                if scenario.num_workers
                else count(scenario.world_size, "rank")
            )
            why = f"{parts}, each drops less than a step of {scenario.combined_batch}"
            return [Finding("dropped-too-many", expected, (*show(epochs), f"{count(lost, 'element')} dropped"), why)]
    return []


def _lacking(scenario: Scenario, epochs: tuple[Epoch, ...], workers: int) -> int:
    """How many of the copies of all workers of all ranks did not come; one too many elsewhere is none of them."""
    found = [Counter(epoch.samples) for epoch in epochs]
    return sum(max(0, workers - counts[index]) for counts in found for index in range(scenario.samples))


@clause("WORK-6", family="iterable", dataset="iterable", applies=lambda claims: claims.in_order, floor=6)
def order_within_a_worker(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What one worker read arrives in the order in which it read it."""
    if not usable(trace.main):
        return None
    again = [_padding(scenario, claims, trace.main.epoch(position)) for position in range(scenario.epochs)]
    pairs = [
        (rank, epoch, again[position])
        for rank in trace.main.ranks
        for position, epoch in enumerate(rank.epochs)
        if len(epoch.samples) > 1
    ]
    for rank, epoch, padding in pairs:
        once = [index for index in epoch.samples if index not in padding]
        told = _overtaken(rank, epoch.number, once) or _not_to_be_dealt_out(once, max(1, scenario.num_workers))
        if told:
            why = "in_order: a worker's elements are not overtaken by its later ones"
            expected = "elements in the order in which a worker read them"
            return [Finding("worker-order", expected, (*show((epoch,), label=f"rank {rank.rank}, as "), told), why)]
    return [] if pairs else None


def _padding(scenario: Scenario, claims: Claims, epochs: tuple[Epoch, ...]) -> frozenset[int]:
    """What comes again so that ranks have equal steps: it stands where a rank is filled up, whenever it was read."""
    pads = claims.equal_steps and scenario.world_size > 1 and claims.policy(scenario.drop_last) == "pad"
    return frozenset(repeated(scenario, epochs)) if pads else frozenset()


def _overtaken(rank: RankRun, number: int, samples: list[int]) -> str:
    each = _read_by_each(rank, number)
    times = Counter(index for indices in each.values() for index in indices)
    for process, indices in each.items():
        # An element that several workers read, or one worker twice, can't be traced to one read.
        mine = [index for index in indices if times[index] == 1]
        arrived = [index for index in samples if index in mine]
        if arrived != [index for index in mine if index in arrived]:
            read, came = (" ".join(map(str, part)) for part in (mine, arrived))
            return f"{f'worker {process - 1}' if process else 'the rank'} read {read}, and {came} arrived"
    return ""


def _not_to_be_dealt_out(samples: list[int], workers: int) -> str:
    """Whether no way of dealing the elements out to the workers gives each of them ascending ones."""
    last: list[int] = []  # of each worker
    for index in samples:
        # Whoever has the latest element before this one takes it: that leaves the others most room.
        before = [at for at, latest in enumerate(last) if latest < index]
        if before:
            last[max(before, key=lambda at: last[at])] = index
        elif len(last) < workers:
            last.append(index)
        else:
            behind = " ".join(map(str, sorted(last, reverse=True)))
            return f"{index} came after {behind}, and {count(workers, 'reader')} can't have read that in order"
    return ""


def _read_by_each(rank: RankRun, number: int) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for read in rank.reads:
        if read.epoch == number:
            found.setdefault(read.process, []).append(read.index)
    return found
