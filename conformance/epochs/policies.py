"""What becomes of the remainder in a loader whose author has said nothing of it: decided by a look at one tiny case."""

from conformance.contract import Claims
from conformance.loader.runs import run, usual
from conformance.loader.scenario import Scenario, simpler, within
from conformance.processes.lane import Lane

# Two ranks, or one whose steps hold two samples: one sample of three is the rest.
_RANKS, _STEPS = Scenario(3, world_size=2), Scenario(3, batch_size=2)
_POLICIES = {2: "drop", 3: "uneven", 4: "pad"}


def assumed(lane: Lane, claims: Claims) -> dict[str, str]:
    """The policies that the loader looks like; where it looks like none, those that most people count on.

    Ranks that differ are never taken for a promise where drop_last is asked for: they leave a job waiting forever.
    """
    if "map" not in claims.datasets:
        return {}
    scenario = within(_RANKS if "ranks" not in claims.without else _STEPS, claims)
    assert scenario is not None
    told = {"when_dropping": (True, ("drop", "pad")), "when_keeping": (False, ("uneven", "pad", "drop"))}
    return {
        name: seen if (seen := _policy(lane, simpler(scenario, drop_last=drop_last))) in policies else policies[0]
        for name, (drop_last, policies) in told.items()
        if getattr(claims, name) is None and not (drop_last and "drop_last" in claims.without)
    }


def _policy(lane: Lane, scenario: Scenario) -> str:
    made = run(lane, "main", usual(scenario))
    if made.failed:
        return ""
    samples = [index for rank in made.ranks for index in rank.epochs[0].samples]
    return _POLICIES.get(len(samples), "") if {*samples} <= {0, 1, 2} and len({*samples}) >= 2 else ""
