"""Chapter 11, shuffled streams: the judges of STREAM-*, on iterable datasets, shuffled or by themselves."""

from collections import Counter
from itertools import pairwise
from math import lgamma, log

from conformance.chosen.judging import Epochs, positions
from conformance.chosen.scenario import ChosenScenario, has_own_epoch, shards_of
from conformance.contract import Claims
from conformance.loader.judging import as_assigned, comparable, counts_itself, ends, listed, show, usable
from conformance.trace import Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count

# The odds against two orders that are equal by chance, as a logarithm.
_BEYOND_CHANCE = log(1e10)
_CIRCUMSTANCES = {
    "again": "in another process, with another PYTHONHASHSEED",
    "jump": "with the epoch set directly, the earlier ones not read",
}


def shuffles_streams(claims: Claims) -> bool:
    """Whether anything is promised of a shuffled stream."""
    return claims.stream_shuffle is not None


def tells_epochs(claims: Claims) -> bool:
    """Whether a dataset that has an epoch of its own is told of it."""
    return "set_epoch" in claims.hooks


@clause("STREAM-1", family="streams", dataset="iterable", applies=shuffles_streams, floor=4)
def repeatable(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """The same seed and epoch give the same order, in another process and when the epoch is reached directly."""
    again = next((run for run in trace.runs[1:] if run.name in _CIRCUMSTANCES), None)
    if not scenario.shuffle or again is None or not usable(trace.main) or not usable(again):
        return None
    if again.name == "jump" and counts_itself(again):
        return None
    exercised = False
    for back in range(1, len(again.ranks[0].epochs) + 1):
        first, second = (as_assigned(claims, run.epoch(-back)) for run in (trace.main, again))
        for rank, (one, other) in enumerate(zip(first, second, strict=True)):
            exercised = exercised or len(one.samples) > 1
            if comparable(claims, one) != comparable(claims, other):
                labels = (f"first time, rank {rank} as ", f"second, rank {rank} as ")
                lines = (*show((one,), label=labels[0]), *show((other,), label=labels[1]))
                expected = f"the same order {_CIRCUMSTANCES[again.name]}"
                return [Finding(f"order-differs-{again.name}", expected, lines, "seed and epoch are the same")]
    return [] if exercised else None


@clause("STREAM-2", family="streams", dataset="iterable", applies=shuffles_streams, floor=4)
def epochs_differ(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Another epoch gives another order, with workers, persistent ones and ranks too."""
    if not _is_beyond_chance(scenario, claims) or scenario.epochs < 2 or not usable(trace.main):
        return None
    found = (_alike("epochs", one, other) for one, other in pairwise(positions(trace.main)))
    return next(([finding] for finding in found if finding), [])


@clause("STREAM-3", family="streams", dataset="iterable", applies=shuffles_streams, floor=2)
def seeds_differ(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Another seed gives another order."""
    other = trace.variant("seed+1")
    if not _is_beyond_chance(scenario, claims) or other is None or not usable(other) or not usable(trace.main):
        return None
    pairs = zip(positions(trace.main), positions(other), strict=True)
    found = (_alike("seeds", one, another) for one, another in pairs)
    return next(([finding] for finding in found if finding), [])


@clause(
    "STREAM-4",
    family="streams",
    dataset="iterable",
    applies=lambda claims: shuffles_streams(claims) or tells_epochs(claims),
    floor=20,
)
def each_element_once(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A shuffled epoch has each element once over all workers and ranks, or once from each worker, as claimed."""
    if scenario.samples < max(1, claims.least_samples(scenario.world_size, scenario.combined_batch)):
        return None
    if trace.main.failed:
        return ends(trace.main, ())
    if _makes_equal(scenario, claims) and claims.policy(scenario.drop_last) == "pad":
        return None
    copies, allowed = copies_of_each(scenario, claims), most_dropped(scenario, claims)
    for epochs in positions(trace.main):
        shares = [(epoch,) for epoch in epochs] if is_replicated(claims) else [epochs]
        for share in shares:
            counts = Counter(index for epoch in share for index in epoch.samples)
            again = sorted(index for index in counts if counts[index] > copies)
            lost = [index for index in range(scenario.samples) for _ in range(copies - counts[index])]
            if again:
                rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
                lines = show(epochs, {rank: f"sample {again[0]} again"})
                return [Finding("repeated", _each(copies), lines, _split_claim(claims))]
            if len(lost) > allowed:
                told = f"at most {count(allowed, 'element')} dropped" if allowed else _each(copies)
                lines = (*show(epochs), f"{listed(sorted(set(lost)))}: on no rank")
                return [Finding("lost", told, lines, _split_claim(claims))]
    return []


@clause("STREAM-5", family="streams", dataset="iterable", applies=tells_epochs, floor=8)
def datasets_hear_of_epochs(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """A dataset that has `set_epoch` hears of each epoch before it is read, in persistent workers too."""
    if not has_own_epoch(scenario) or scenario.epochs < 2 or not usable(trace.main):
        return None
    exercised = False
    for rank in trace.main.ranks:
        told = [text for about, text in rank.remarks if about == "heard"]
        for text, epoch in zip(told, rank.epochs, strict=False):
            number, *heard = (int(each) for each in text.split())
            if not epoch.samples and not heard:
                continue
            exercised = True
            if not heard or any(each != number for each in heard):
                known = ", ".join(str(each) if each >= 0 else "none" for each in sorted({*heard}))
                what = f"was read as epoch {known}" if heard else "was not read"
                line = f"rank {rank.rank}, epoch {number}: the dataset {what}"
                why = 'the hook "set_epoch" is claimed: request.dataset.set_epoch says which order it has'
                return [Finding("not-told", f"a dataset that knows it is epoch {number}", (line,), why)]
    return [] if exercised else None


@clause(
    "STREAM-6", family="streams", dataset="iterable", applies=lambda claims: claims.stream_shuffle == "shards", floor=6
)
def shards_stay_whole(scenario: ChosenScenario, claims: Claims, trace: Trace) -> Verdict:
    """Shards are put in order, and the elements of one come together, in their own order; judged without workers."""
    if not scenario.shuffle or scenario.num_workers or not usable(trace.main):
        return None
    shards = shards_of(scenario)
    if max(map(len, shards), default=0) < 2 or len(shards) < 2:
        return None
    of = {index: at for at, shard in enumerate(shards) for index in shard}
    for epochs in positions(trace.main):
        for rank, epoch in enumerate(epochs):
            samples = [index for index in epoch.samples if index in of]
            left: set[int] = set()
            for before, index in pairwise(samples):
                left |= {of[before]} if of[before] != of[index] else set()
                if of[index] in left or (of[before] == of[index] and index < before):
                    note = f"{index} behind {before}"
                    shard = " ".join(map(str, shards[of[index]]))
                    why = 'stream_shuffle="shards" is claimed: what is shuffled is the order of the shards'
                    lines = show(epochs, {rank: note})
                    return [Finding("shard-torn", f"the shard {shard} together, in its order", lines, why)]
    return []


def is_replicated(claims: Claims) -> bool:
    """Whether each worker of each rank gives all elements."""
    return claims.iterable_workers == "replicated"


def copies_of_each(scenario: ChosenScenario, claims: Claims) -> int:
    """How often each element comes: once, or where it is replicated from each worker of a rank."""
    return max(1, scenario.num_workers) if is_replicated(claims) else 1


def most_dropped(scenario: ChosenScenario, claims: Claims) -> int:
    """How many elements the workers may drop under drop_last, each less than a step."""
    if _makes_equal(scenario, claims):
        return scenario.samples
    readers = max(1, scenario.num_workers) * scenario.world_size
    return readers * (scenario.batch_size - 1) if scenario.drop_last else 0


def _makes_equal(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether something is lost, or comes again, so that ranks have equal steps; EQUAL-2 bounds it."""
    return claims.equal_steps and scenario.world_size > 1


def _each(copies: int) -> str:
    return "each element once" if copies == 1 else f"each element {count(copies, 'time')} on each rank"


def _split_claim(claims: Claims) -> str:
    if claims.iterable_workers:
        return f'iterable_workers="{claims.iterable_workers}" is claimed'
    return "the dataset gives each element once"


def _is_beyond_chance(scenario: ChosenScenario, claims: Claims) -> bool:
    """Whether a shuffle as claimed has so many orders that two equal ones are no coincidence.

    At the least: all readers may choose alike, a buffer may hold two elements, and shards may be dealt out for good.
    """
    if not scenario.shuffle:
        return False
    readers = scenario.world_size * max(1, scenario.num_workers)
    if claims.stream_shuffle == "shards":
        return lgamma(scenario.parts // readers + 1) > _BEYOND_CHANCE
    return (scenario.samples // readers - 1) * log(2) > _BEYOND_CHANCE


def _alike(what: str, one: Epochs, other: Epochs) -> Finding | None:
    delivers = any(epoch.samples for epoch in one)
    if not delivers or [epoch.steps for epoch in one] != [epoch.steps for epoch in other]:
        return None
    lines = (*show(one[:2], label="one, "), *show(other[:2], label="the other, "))
    return Finding(f"same-{what}", f"two {what} in different orders", lines, "by chance less than once in 10^10 cases")
