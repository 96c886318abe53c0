"""Chapter 5, what comes: the judges of ASYNC-1, 2, 6, 9, 10 and 11, on loaders that read ahead."""

import re
from collections.abc import Callable
from itertools import combinations

from conformance.contract import Claims
from conformance.loader.judging import (
    as_undisturbed,
    counts_itself,
    ends,
    fails_anyway,
    in_known_order,
    remainder,
    show,
    usable,
)
from conformance.loader.samples import odd_one
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, RankRun, Trace
from conformance.trial.clause import Finding, Verdict, clause
from conformance.trial.words import count


def ahead(*hooks: str) -> Callable[[Claims], bool]:
    """Whether asynchronous loading is claimed, and these hooks with it."""
    return lambda claims: claims.asynchronous and set(hooks) <= set(claims.hooks)


def conduct_of(scenario: Scenario) -> str:
    """The conduct without its place."""
    return scenario.conduct.partition("@")[0]


def fails_as_well(trace: Trace) -> bool:
    """Whether the same request fails without reading ahead too: then no clause of this chapter names it."""
    without = trace.variant("synchronous")
    return fails_anyway(trace) or (without is not None and without.failed)


@clause("ASYNC-1", family="async", dataset="any", applies=ahead(), floor=8, twin=True)
def same_steps(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """The steps of each epoch are those that come without reading ahead, in the same order."""
    if conduct_of(scenario) not in ("", "look", "untold") or scenario.fault or scenario.kind or scenario.rebatched:
        return None
    if trace.main.failed and scenario.samples >= claims.least_samples(scenario.world_size, scenario.combined_batch):
        return None if fails_as_well(trace) else ends(trace.main, ())
    without = trace.variant("synchronous")
    if without is None or not usable(trace.main) or not usable(without):
        return None
    for here, there in zip(trace.main.ranks, without.ranks, strict=True):
        for one, other in zip(here.epochs, there.epochs, strict=True):
            if not _same(scenario, claims, one, other):
                why = "when a step is loaded is the loader's affair; what comes, and when it comes, is not"
                return [Finding("steps-differ", "the same steps both times", _both(here.rank, one, other), why)]
    return []


def _same(scenario: Scenario, claims: Claims, one: Epoch, other: Epoch) -> bool:
    if in_known_order(scenario, claims):
        return one.steps == other.steps
    return sorted(one.steps) == sorted(other.steps)


def _both(rank: int, one: Epoch, other: Epoch) -> tuple[str, ...]:
    shown = (
        *show((one,), label=f"epoch {one.number}, asynchronously, as "),
        *show((other,), label="synchronously, as "),
    )
    return tuple(line.replace("as rank 0", f"rank {rank}") for line in shown)


@clause("ASYNC-2", family="async", dataset="any", applies=ahead(), floor=3, twin=True)
def held_steps_stay(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """What the consumer holds does not change until it asks for the next step, nor later if nothing else is said."""
    (rank, *_) = trace.main.ranks
    told = rank.remark("changed")
    if conduct_of(scenario) == "kept" and rank.failure:
        return None if fails_as_well(trace) else ends(trace.main, ())
    if conduct_of(scenario) in ("kept", "hold"):
        why = "a step that was handed over is the user's; a loader that reuses it says so (claim aliases)"
        return [Finding("kept-step-changed", "every kept step as it came", (told,), why)] if told else []
    if conduct_of(scenario) != "look" or rank.failure or not rank.remark("held"):
        return None
    if told:
        why = "a slot that is held is not free, however long it is held"
        return [Finding("held-step-changed", "the step as it came, until the next is asked for", (told,), why)]
    return []


# --- leaving, failing -----------------------------------------------------------------------------------------------


@clause("ASYNC-6", family="async", dataset="any", applies=ahead(), floor=4, twin=True)
def begins_again(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """An epoch begun after one that was left, that failed or that was not asked for is whole, from its first step."""
    (rank, *_) = trace.main.ranks
    if conduct_of(scenario) in ("restart", "later"):
        return _restarts(scenario, claims, trace, rank)
    left = conduct_of(scenario) in ("leave", "outlast")
    failed = scenario.fault and rank.epochs and rank.epochs[0].failure
    if not (left or failed) or rank.failure or len(rank.epochs) < 2 or fails_anyway(trace):
        return None
    epoch = rank.epochs[1]
    if as_undisturbed(scenario, claims, trace, epoch) or (failed and epoch.failure):
        return []
    lines = _after(rank, "failed" if failed else "left")
    why = _OF_ANOTHER if left else "the error has ended its epoch; the next one begins at its first step, or fails too"
    return [Finding("not-from-its-start", "a whole epoch from its first step", lines, why)]


def _restarts(scenario: Scenario, claims: Claims, trace: Trace, rank: RankRun) -> Verdict:
    without = trace.variant("synchronous")
    if rank.failure:
        return ends(trace.main, ())
    if without is None or not usable(without):
        return None
    epoch, other = rank.epochs[-1], without.ranks[0].epochs[-1]
    # Where epochs count themselves, which one a restart begins is not said.
    known = not scenario.shuffle or (claims.goes_by_set_epoch and not counts_itself(trace.main))
    if known and _same(scenario, claims, epoch, other):
        return []
    if not known and list(map(len, epoch.steps)) == list(map(len, other.steps)) and _repeats(epoch) <= _repeats(other):
        return []
    expected = " | ".join(" ".join(map(str, step)) for step in other.steps) if known else "a whole epoch"
    return [Finding("not-from-its-start", expected, _after(rank, "left"), _OF_ANOTHER)]


_OF_ANOTHER = "what was loaded for an epoch belongs to no other"


def _repeats(epoch: Epoch) -> int:
    return len(epoch.samples) - len(set(epoch.samples))


def _after(rank: RankRun, became: str) -> tuple[str, ...]:
    """The epoch that is judged, and the one before it with what became of that."""
    *earlier, epoch = rank.epochs[:2]
    lines = tuple(line for one in earlier for line in show((one,), label=f"epoch {one.number}, {became}, "))
    begun = "begun then" if earlier else "the first that is asked for"
    lines += tuple(show((epoch,), label=f"epoch {epoch.number}, {begun}, "))
    return (*lines, epoch.failure.sentence()) if epoch.failure else lines


# --- rebatching, length, samples that differ ------------------------------------------------------------------------


@clause("ASYNC-9", family="async", dataset="iterable", applies=ahead("rebatched"), floor=3)
def rebatched_once(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """With rebatching, floor(n / N) x N elements come under drop_last, and all without, whatever the workers."""
    (rank, *_) = trace.main.ranks
    if not scenario.rebatched:
        return None
    if rank.failure:
        return ends(trace.main, ())
    copies = max(1, scenario.num_workers) if claims.iterable_workers == "replicated" else 1
    elements, step = scenario.samples * copies, scenario.combined_batch
    delivered = rank.epochs[0].samples
    sizes = [len(each) for each in rank.epochs[0].steps]
    expected = elements - elements % step if scenario.drop_last else elements
    full = [step] * (expected // step) + ([expected % step] if expected % step else [])
    often = max((delivered.count(index) for index in delivered), default=0)
    if sizes == full and often <= copies and set(delivered) <= set(range(scenario.samples)):
        return []
    text = f"{count(expected, 'element')} in steps of {step}"
    why = "workers load small batches and full ones are made of them, so that no worker drops a rest of its own"
    return [Finding("not-rebatched", text, show((rank.epochs[0],)), why)]


@clause("ASYNC-10", family="async", applies=lambda claims: claims.asynchronous and claims.length, floor=1)
def same_length(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """len() is the same asynchronously and synchronously, before, within and after an epoch."""
    (rank, *_) = trace.main.ranks
    if conduct_of(scenario) == "leave" and remainder(claims) and not rank.failure:
        return _same_after_leaving(rank)
    if conduct_of(scenario) != "length":
        return None
    if rank.failure:
        return ends(trace.main, ())
    without = trace.variant("synchronous")
    if without is None or not usable(without):
        return None
    here, there = rank.remark("lengths"), without.ranks[0].remark("lengths")
    if here == there:
        return []
    lines = (f"asynchronously, before, within and after an epoch: {here}", f"synchronously: {there}")
    return [Finding("length-differs", f"{there}", lines, "progress bars and schedules are made from len()")]


def _same_after_leaving(rank: RankRun) -> Verdict:
    if all(one.is_as_long_as(other) for one, other in combinations(rank.epochs, 2)):
        return []
    lines = tuple(f"before epoch {epoch.number}: {epoch.length}" for epoch in rank.epochs)
    why = "the first epoch was left early, and the next one is as long as ever"
    return [Finding("length-after-leaving", "the same len() before each epoch", lines, why)]


@clause("ASYNC-11", family="async", dataset="any", applies=ahead(), floor=3)
def odd_samples_are_seen(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """A sample unlike those before it is delivered as it is, or an error names it."""
    (rank, *_) = trace.main.ranks
    if not scenario.kind or scenario.samples < 2:
        return None
    item = odd_one(scenario.samples)
    told = rank.remark("odd")
    if rank.failure:
        said = rank.remark("named") or re.search(rf"\b{item}\b", rank.failure.message)
        named = rank.failure.kind == "raised" and said
        told = "" if named else rank.failure.sentence()
    if not told:
        return []
    expected = f"item {item} as the dataset gave it, or an error that names item {item}"
    return [
        Finding(f"odd-{scenario.kind}", expected, (told,), "a slot that was made for the first item fits only such")
    ]
