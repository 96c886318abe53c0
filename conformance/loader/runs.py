"""From a scenario to a trace: decides which runs a scenario means, and under which circumstances each is made."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from conformance import subjects
from conformance.ahead.conduct import LONGEST
from conformance.contract import AHEAD, Claims
from conformance.launch.run import LONGEST as LONGEST_LAUNCH
from conformance.loader.leaks import GRACE
from conformance.loader.scenario import REFUSED_VALUES, Scenario, Variant, simpler
from conformance.processes.fleet import Fleet, Lane
from conformance.processes.task import Task
from conformance.trace import Run, Saved, Trace

# The caller's global generators before a run; any other number is another state.
_USUAL_STATE = 20_240_001
_OTHER_STATE = 77_003
# Seeds of a statistical experiment lie this far apart, so that a loader that adds seed and epoch still draws anew.
SEED_STRIDE = 1_000_003


@dataclass(frozen=True)
class _Circumstances:
    """How a run is made: what differs from the main run."""

    scenario: Scenario
    epochs: tuple[int, ...]
    random_seed: int = _USUAL_STATE
    after_others: bool = False
    other_process: int = 0
    saved: tuple[Saved, ...] = ()


def observe(fleet: Fleet | Lane, scenario: Scenario) -> Trace:
    """Run the implementation once for each run that the scenario means, and write down what was delivered."""
    main = _usual(scenario)
    runs = [_run(fleet, "main", main)]
    if scenario.saves:
        return Trace(scenario, tuple(_without_states(run) for run in _gone_on_with(fleet, main, runs[0])))
    # Nothing can be compared with a run that failed.
    if scenario.variant != "none" and not runs[0].failed:
        runs.append(_run(fleet, scenario.variant, _varied(main, scenario)))
    for number in range(1, scenario.seeds):
        if runs[-1].failed:
            break
        other = simpler(scenario, seed=scenario.seed + number * SEED_STRIDE)
        runs.append(_run(fleet, f"seed {other.seed}", _Circumstances(other, main.epochs)))
    return Trace(scenario, tuple(runs))


def _gone_on_with(fleet: Fleet | Lane, main: _Circumstances, first: Run) -> Iterator[Run]:
    """The run in which a state is taken, and those that go on from it, each in the processes of the other hash seed."""
    yield first
    words = main.scenario.details.split("+")
    if "watched" in words:
        yield _run(fleet, "unwatched", _Circumstances(simpler(main.scenario, conduct="", details=""), main.epochs))
        return
    saved, other = _saved(first), subjects.resumed(main.scenario)
    for at, name in enumerate(("resumed", "resumed again")):
        if not saved:
            return
        # A job that is started again finds the caller's generators anywhere.
        numbers = main.epochs[-1:] if at and "onward" in words else main.epochs[-2:]
        how = _Circumstances(other, numbers, _OTHER_STATE, other_process=1 - at, saved=saved)
        run = _run(fleet, name, how)
        yield run
        # What was kept for longer is tried after what was kept at once.
        later = tuple(replace(each, blob=each.later, later=b"") for each in saved if each.later)
        if not at and {"again", "relayed"} & {*words}:
            # What comes if no second state is taken on the way.
            yield _run(fleet, "untouched", replace(how, scenario=simpler(other, details="")))
        if not at and later and "onward" in words:
            # What comes if the state of the next epoch is the first one that is loaded.
            yield _run(fleet, "untouched", replace(how, epochs=main.epochs[-1:], saved=later))
        saved = later if not run.failed and later and "held" in words else _saved(run)


def _saved(run: Run) -> tuple[Saved, ...]:
    """The states that a run took, if it took one on each rank."""
    saved = tuple(rank.saved for rank in run.ranks if rank.saved is not None)
    return saved if len(saved) == len(run.ranks) and not run.failed else ()


def _without_states(run: Run) -> Run:
    return replace(run, ranks=tuple(replace(rank, saved=None) for rank in run.ranks))


def _numbers(scenario: Scenario) -> tuple[int, ...]:
    """The numbers of the epochs that are read; a restart goes from the first to the last, `later` begins with that."""
    if scenario.conduct == "later":
        return (scenario.epochs - 1,)
    if scenario.conduct.startswith("restart"):
        return (0, scenario.epochs - 1)
    return tuple(range(scenario.epochs))


def _synchronous(scenario: Scenario) -> Scenario:
    """The same request without reading ahead, read epoch after epoch."""
    asks_for_length = scenario.conduct.startswith("length")
    usual = dict(buffer_size=0, early_preload=False, load_indefinitely=True, rebatched=False)
    return simpler(scenario, asynchronous=False, conduct=scenario.conduct if asks_for_length else "", **usual)


def with_unshuffled(fleet: Fleet | Lane, trace: Trace) -> Trace:
    """The trace with one more run, in which the same request is read for one epoch without shuffling."""
    twin = simpler(trace.scenario, shuffle=False)
    return Trace(trace.scenario, (*trace.runs, _run(fleet, "unshuffled", _Circumstances(twin, (0,)))))


def _varied(main: _Circumstances, scenario: Scenario) -> _Circumstances:
    last = main.epochs[-1:]
    return {
        "again": _Circumstances(scenario, main.epochs, other_process=1),
        "after": _Circumstances(scenario, main.epochs, after_others=True),
        "jump": _Circumstances(scenario, last),
        "random-state": _Circumstances(scenario, main.epochs, random_seed=_OTHER_STATE),
        "seed+1": _Circumstances(simpler(scenario, seed=scenario.seed + 1), main.epochs),
        "workers": _Circumstances(simpler(scenario, num_workers=0, persistent_workers=False), main.epochs),
        "synchronous": _Circumstances(_synchronous(scenario), main.epochs),
        "singly": _usual(subjects.singly(scenario)),
        "mean": _usual(subjects.mean(scenario)),
        "alone": _usual(simpler(scenario, world_size=1, num_workers=0)),
    }[scenario.variant]


def _usual(scenario: Scenario) -> _Circumstances:
    return _Circumstances(scenario, _numbers(scenario))


def _run(fleet: Fleet | Lane, name: str, how: _Circumstances) -> Run:
    # A launcher starts the others itself.
    alone = how.scenario.refusal or how.scenario.subject == "launch"
    tasks = [_task(how, rank) for rank in ([0] if alone else range(how.scenario.world_size))]
    # The rounds, what a time-out takes, and the grace in which things may end.
    patience = fleet.patience + 3 * GRACE if tasks[0].leaks else None
    if how.scenario.subject == "launch":
        patience = fleet.patience + LONGEST_LAUNCH
    if tasks[0].conduct and how.scenario.asynchronous:
        patience = fleet.patience + 3 * (GRACE + LONGEST)
    return Run(name, fleet.run(tasks, shift=how.other_process, patience=patience))


def _task(how: _Circumstances, rank: int) -> Task:
    scenario = how.scenario
    troubled = bool(scenario.fault or scenario.conduct) and not scenario.saves
    return Task(
        scenario.samples,
        _arguments(scenario, rank),
        how.epochs,
        how.random_seed,
        how.after_others,
        watch=troubled or bool(scenario.kind) or scenario.num_workers > 0 or scenario.dataset == "iterable",
        dataset=scenario.dataset,
        fault=scenario.fault,
        conduct=scenario.conduct,
        kind=scenario.kind,
        # Ranks meet again and again only where all of them do the same.
        leaks=troubled and not (scenario.subject and scenario.world_size > 1),
        awaited=(scenario.reads_before, scenario.reads_between),
        subject=scenario.subject,
        details=scenario.details,
        saved=how.saved,
    )


def _arguments(scenario: Scenario, rank: int) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "batch_size": scenario.batch_size,
        "shuffle": scenario.shuffle,
        "seed": scenario.seed,
        "drop_last": scenario.drop_last,
        "num_workers": scenario.num_workers,
        "persistent_workers": scenario.persistent_workers,
        "rank": rank,
        "world_size": scenario.world_size,
        "replication_factor": scenario.replication_factor,
        "device_iterations": scenario.device_iterations,
        "gradient_accumulation": scenario.gradient_accumulation,
        "asynchronous": scenario.asynchronous,
    }
    if scenario.asynchronous:
        arguments |= {name: getattr(scenario, name) for name in AHEAD}
    if scenario.refusal:
        name, _, value = scenario.refusal.partition("=")
        arguments[name] = REFUSED_VALUES[value]
    return arguments


def variants(claims: Claims) -> tuple[Variant, ...]:
    """The variants that this implementation can be asked for in a family without workers."""
    names: list[Variant] = ["none", "again", "after", "random-state"]
    if claims.shuffle:
        names.append("seed+1")
    if claims.epochs == "set_epoch":
        names.append("jump")
    return tuple(names)
