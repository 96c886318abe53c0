"""What a scenario asks of one rank's loader: the fields of its request."""

from typing import Any

from conformance.contract import AHEAD, Claims
from conformance.loader.conducts import FOREIGN, TIMEOUTS
from conformance.loader.scenario import REFUSED_VALUES, Scenario


def arguments_of(scenario: Scenario, rank: int) -> dict[str, Any]:
    """The fields of `Request` but for the dataset, its folder and the hooks."""
    arguments: dict[str, Any] = {
        "batch_size": scenario.batch_size,
        "shuffle": scenario.shuffle,
        "seed": scenario.seed,
        "drop_last": scenario.drop_last,
        "num_workers": scenario.workers_of(rank),
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
    arguments |= scenario.conducted.asks(scenario)
    for refused in filter(None, scenario.refusal.split("+")):
        name, _, value = refused.partition("=")
        arguments[name] = REFUSED_VALUES[value]
    return arguments


def others_of(scenario: Scenario, claims: Claims) -> tuple[dict[str, Any], ...]:
    """What other loaders differ in that are read first in a process: in everything, or in one thing alone.

    What a loader keeps for all of its kind, by too few of the things that it hangs on, is found by the latter.
    """
    others: list[dict[str, Any]] = [dict(samples=7, batch_size=2, seed=99, drop_last=False)]
    if claims.ranks == "explicit" and "ranks" not in claims.without:
        others.append(dict(world_size=scenario.world_size + 1))
    if "batch_size" not in claims.without:
        others.append(dict(batch_size=scenario.batch_size + 1))
    if "drop_last" not in claims.without:
        others.append(dict(drop_last=not scenario.drop_last))
    if scenario.shuffle:
        others.append(dict(seed=scenario.seed + 1))
    # The same but for what its samples are.
    others.append(dict(kind=FOREIGN))
    alone: dict[str, Any] = dict(num_workers=0, persistent_workers=False)
    # What is kept is kept by the first of them: each is that now and then.
    at = scenario.samples % len(others)
    return tuple({**alone, **each} if "samples" not in each else each for each in (*others[at:], *others[:at]))


def hooks_of(scenario: Scenario, starting: float = 0.0) -> dict[str, Any]:
    """The hooks of the request that a scenario needs, but for those that watch what is read.

    `starting`: the seconds that its workers may take until they can be asked for anything.
    """
    seconds = TIMEOUTS.get(scenario.fault.partition("@")[0], TIMEOUTS.get(scenario.conduct))
    return {} if seconds is None else {"timeout": seconds + starting}


def may_persist(claims: Claims) -> bool:
    """Whether workers may be asked to live on from epoch to epoch."""
    return "persistent_workers" in claims.hooks
