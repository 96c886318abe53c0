"""How a worker of a loader comes to life: whether it is a fork or a new interpreter, and what that one costs.

A worker that is started by spawn, or by a fork server, imports everything again, torch for example, for seconds. That
is no hang, so it is granted beside the patience; and there are fewer cases with such workers, some of each kind.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from conformance.loader.kinds import EPOCHS_OF_MEMORY
from conformance.loader.scenario import Scenario, Style, simpler
from conformance.processes.lane import Lane
from conformance.processes.task import Task
from conformance.trial.tiers import Tier

_PERFORMER = "conformance.loader.first_worker"
# Times the patience, for the one worker by which it is measured: a loader that hangs costs no more than this.
_FOR_THE_FIRST = 3
# Workers start side by side, in several lanes and on few processors.
_MARGIN = 3
# How often a case with something that goes wrong may be read.
_ROUNDS = 2
# How many cases of each kind are tried, by tier; where none is named, all are.
_OF_EACH_KIND = {"quick": 1, "gate": 3}


@dataclass(frozen=True)
class Start:
    """How the workers of an implementation start: as new interpreters, each of which takes this many seconds."""

    is_new: bool = False
    seconds: float = 0.0


def start_of(lane: Lane) -> Start:
    """How the workers start; found out once for a fleet."""
    start: Start = lane.learned(_PERFORMER, lambda: _found_out(lane))
    return start


def granted(lane: Lane, scenario: Scenario) -> float:
    """The seconds that a run may take beside the patience for starting its workers."""
    if not scenario.num_workers:
        return 0.0
    epochs = EPOCHS_OF_MEMORY if scenario.kind == "large" or scenario.conduct == "orders" else scenario.epochs
    starts = scenario.num_workers * scenario.world_size * (1 if scenario.persistent_workers else epochs)
    return starts * (_ROUNDS if scenario.is_troubled else 1) * for_one(lane)


def for_one(lane: Lane) -> float:
    """The seconds that one worker may take to start; 0 where it is a fork."""
    return _MARGIN * start_of(lane).seconds


def few(lane: Lane, tier: Tier, scenarios: Sequence[Scenario]) -> list[Scenario]:
    """The scenarios; where workers are new interpreters, only some of each kind that have any."""
    most = _OF_EACH_KIND.get(tier.name)
    if most is None or not any(each.num_workers for each in scenarios) or not start_of(lane).is_new:
        return list(scenarios)
    seen: Counter[tuple[object, ...]] = Counter()
    kept = []
    for scenario in scenarios:
        # Memory that grows takes many epochs to see, and is looked for without workers as well.
        if scenario.kind == "large" and scenario.num_workers:
            continue
        kind = _kind(scenario)
        seen[kind] += bool(scenario.num_workers)
        if seen[kind] <= most:
            kept.append(_with_one(scenario))
    return kept


def _with_one(scenario: Scenario) -> Scenario:
    """One worker is enough for whatever goes wrong in it, unless the second one is meant."""
    is_enough = scenario.is_troubled and not scenario.fault.startswith("init")
    return simpler(scenario, num_workers=min(1, scenario.num_workers)) if is_enough else scenario


def _kind(scenario: Scenario) -> tuple[object, ...]:
    """What a scenario is about: who collates samples of one kind in a worker collates others there too.

    And which error it is that a fault raises, or in which epoch, makes no other kind, nor which lives a loader had.
    """
    conduct = scenario.conduct.partition("@")[0]
    details = "" if scenario.fault or conduct == "lives" else scenario.details
    what = (scenario.fault.partition("@")[0], conduct, details, scenario.variant)
    kind = scenario.kind if scenario.kind in ("", "buffer") else "collated"
    persistent = scenario.persistent_workers and not scenario.is_troubled
    dropped = scenario.drop_last and scenario.dataset == "iterable"
    return bool(scenario.num_workers), *what, kind, scenario.dataset, scenario.asynchronous, persistent, dropped


def _found_out(lane: Lane) -> Start:
    claims = lane.claims
    style: Style = "map" if "map" in claims.datasets else "iterable"
    scenario = Scenario(max(2, claims.least_samples(1, 1)), num_workers=1, dataset=style)
    task = Task(_PERFORMER, scenario, 0, (0,), meets=claims.ranks == "process_group")
    # In a process of its own: a loader that is read there later must not meet what this loader has left.
    own = Lane(lane.fleet, len(lane.fleet.lanes) + len(lane.fleet.patient))
    try:
        (rank,) = own.run([task], patience=_FOR_THE_FIRST * lane.patience)
    finally:
        own.renew()
    told = rank.remark("new")
    return Start(True, float(told)) if told else Start()
