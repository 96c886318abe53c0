"""Which runs a scenario of a loader means, and under which circumstances each is made."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from conformance.loader import starting
from conformance.loader.asked import arguments_of, others_of
from conformance.loader.patience import patience_with
from conformance.loader.scenario import Scenario, Variant, simpler
from conformance.processes.lane import Lane
from conformance.processes.random_state import ANOTHER_STATE, USUAL_STATE
from conformance.processes.task import Task
from conformance.trace import Run, Saved, Trace

PERFORMER = "conformance.loader.member"
# The runs that the clauses of a disturbed loader want to see before they accuse.
UNDISTURBED, FIRST_EPOCH = "undisturbed", "first epoch"
ONCE_MORE = "once more"
# Seeds of a statistical experiment lie this far apart, so that a loader that adds seed and epoch still draws again.
SEED_STRIDE = 1_000_003
_AT_ONCE = 16  # ranks


@dataclass(frozen=True)
class Circumstances:
    """How a run is made: what differs from the main run."""

    scenario: Scenario
    epochs: tuple[int, ...]
    random_seed: int = USUAL_STATE
    after_others: bool = False
    other_process: int = 0
    saved: tuple[Saved, ...] = ()


def runs(lane: Lane, scenario: Scenario) -> Iterator[Run]:
    """The main run; then the one in which something is changed, or those with other seeds."""
    main = usual(scenario)
    latest = run(lane, "main", main)
    yield latest
    # Nothing can be compared with a run that failed.
    if scenario.variant != "none" and not latest.failed:
        latest = run(lane, scenario.variant, _varied(main))
        yield latest
    for number in range(1, scenario.seeds):
        if latest.failed:
            return
        other = simpler(scenario, seed=scenario.seed + number * SEED_STRIDE)
        latest = run(lane, f"seed {other.seed}", Circumstances(other, main.epochs))
        yield latest


def twins(lane: Lane, trace: Trace) -> Iterator[Run]:
    """What tells a fault of the shuffle from one of the partition, and a global generator from an earlier loader.

    The same request for one epoch, unshuffled; and where the generators were in another state, once more in the usual
    one.
    """
    scenario = trace.scenario
    if scenario.shuffle:
        yield run(lane, "unshuffled", Circumstances(simpler(scenario, shuffle=False), (0,)))
    if scenario.variant == "random-state":
        yield run(lane, ONCE_MORE, usual(scenario))


def undisturbed(lane: Lane, trace: Trace) -> Iterator[Run]:
    """The same request, read epoch after epoch while nothing goes wrong; then the epoch of a fault that ended the rank.

    Two epochs at the least: where epochs count themselves, a second iterator may be one of the next epoch.
    The epoch of a fault is read after those before it.
    """
    scenario = trace.scenario
    plain = simpler(scenario, fault="", conduct="", details="", variant="none", epochs=max(2, scenario.epochs))
    yield run(lane, UNDISTURBED, usual(plain))
    if scenario.fault and scenario.epochs > 1 and any(rank.is_gone for rank in trace.main.ranks):
        alone = simpler(scenario, epochs=scenario.faulty_epoch + 1)
        yield run(lane, FIRST_EPOCH, usual(alone))


def without_workers(lane: Lane, trace: Trace) -> Iterator[Run]:
    """The same request without worker processes, where it was not compared with that: whether it fails there too."""
    yield from _compared(lane, trace, "workers")


def synchronous(lane: Lane, trace: Trace) -> Iterator[Run]:
    """The same request without reading ahead, and the epochs that come so while nothing goes wrong or is done."""
    yield from _compared(lane, trace, "synchronous")
    scenario = trace.scenario
    if scenario.fault or scenario.conduct:
        plain = simpler(scenario, fault="", conduct="", variant="none", epochs=max(2, scenario.epochs))
        yield run(lane, UNDISTURBED, usual(_synchronous(plain)))


def _compared(lane: Lane, trace: Trace, name: Variant) -> Iterator[Run]:
    if trace.variant(name) is None:
        yield run(lane, name, _varied(usual(simpler(trace.scenario, variant=name))))


def usual(scenario: Scenario) -> Circumstances:
    """How the main run is made."""
    return Circumstances(scenario, scenario.conducted.epochs(scenario.epochs))


def run(lane: Lane, name: str, how: Circumstances) -> Run:
    """Make one run."""
    ranks = [0] if how.scenario.refusal else range(how.scenario.world_size)
    tasks = [_task(lane, how, rank) for rank in ranks]
    extra = starting.granted(lane, how.scenario)
    patience = patience_with(how.scenario, lane.patience) + extra
    # A million samples are put in order in one call, or in many.
    stage = patience if how.scenario.conduct in ("head", "orders") else lane.patience + extra
    # Ranks that need not meet are read some at a time, where there are many.
    most = len(tasks) if lane.claims.ranks == "process_group" else _AT_ONCE
    groups = [tasks[start : start + most] for start in range(0, len(tasks), most)]
    done = [lane.run(group, shift=how.other_process, patience=patience, stage=stage) for group in groups]
    return Run(name, tuple(rank for group in done for rank in group))


def seed_shift(variant: str) -> int:
    """By how much another seed differs."""
    return int(variant.removeprefix("seed+"))


def _task(lane: Lane, how: Circumstances, rank: int) -> Task:
    return Task(
        PERFORMER,
        how.scenario,
        # A rank that must be refused is asked for as it is.
        arguments_of(how.scenario, rank)["rank"],
        how.epochs,
        how.random_seed,
        others_of(how.scenario, lane.claims) if how.after_others else (),
        meets=lane.claims.ranks == "process_group",
        conducts=how.scenario.conducted.module,
        saved=how.saved,
        starting=how.scenario.num_workers * starting.for_one(lane) if how.scenario.is_timed else 0.0,
    )


def _synchronous(scenario: Scenario) -> Scenario:
    """The same request without reading ahead, read epoch after epoch."""
    conduct = scenario.conduct if scenario.conducted.when_synchronous else ""
    without: dict[str, Any] = dict(buffer_size=0, early_preload=False, load_indefinitely=True, rebatched=False)
    return simpler(scenario, asynchronous=False, conduct=conduct, **without)


def _varied(main: Circumstances) -> Circumstances:
    scenario, last = main.scenario, main.epochs[-1:]
    if scenario.variant.startswith("seed+"):
        return Circumstances(simpler(scenario, seed=scenario.seed + seed_shift(scenario.variant)), main.epochs)
    # What takes its time with workers need not do so twice.
    hasty = "" if scenario.is_slow else scenario.fault
    return {
        "again": Circumstances(scenario, main.epochs, other_process=1),
        # In a process that has not read this request: what is kept for it there may be right.
        "after": Circumstances(scenario, main.epochs, after_others=True, other_process=2),
        "jump": Circumstances(scenario, last),
        "random-state": Circumstances(scenario, main.epochs, random_seed=ANOTHER_STATE),
        "workers": Circumstances(simpler(scenario, num_workers=0, persistent_workers=False, fault=hasty), main.epochs),
        "synchronous": Circumstances(_synchronous(scenario), main.epochs),
    }[scenario.variant]
