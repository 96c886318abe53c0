"""Which contiguous deliveries the judge of ORDER-2 accuses, and a reproduction script with it."""

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.loader.scenario import Scenario
from conformance.report.script.checks import order
from conformance.vectors.verdicts import verdict

RUNS: list[tuple[str, bool, list[list[int]]]] = [
    ("drop", False, [[0, 1], [2, 3]]),
    ("drop", True, [[2, 3], [0, 1]]),
    ("uneven", False, [[0, 1, 2], [3, 4]]),
    ("uneven", True, [[3, 4], [0, 1, 2]]),
    ("uneven", True, [[0, 1], [3, 4, 2]]),
    # PART-1 names what comes again, and PART-5 what is foreign.
    ("uneven", False, [[0, 1, 2], [3, 4, 0]]),
    ("uneven", False, [[0, 1, 2], [3, 4, 9]]),
    ("uneven", True, [[0, 1, 2], [3, 9]]),
    # Before that end it is named here, though the rank before ends with a sample that comes again.
    ("uneven", True, [[4, 0], [1, 2, 3, 4, 0]]),
    ("pad", False, [[0, 1, 2], [3, 4, 9]]),
    ("pad", False, [[0, 1, 2], [3, 4, 5]]),
    ("pad", False, [[0, 1, 2, 3, 4], [9]]),
    ("pad", True, [[0, 1, 9], [3, 4, 2]]),
    ("pad", True, [[9], [0, 1, 2, 3, 4]]),
]


@pytest.mark.parametrize(("policy", "fires", "shards"), RUNS)
def test_each_rank_comes_after_the_one_before_it(policy: str, fires: bool, shards: list[list[int]]) -> None:
    """A rank that begins before the end of the rank before it is no layout of runs, the last rank included."""
    samples = 4 if policy == "drop" else 5
    claims: dict[str, Any] = {"when_keeping": policy, "layout": "contiguous"}
    steps = [[[index] for index in shard] for shard in shards]
    found = verdict(Scenario(samples, 2), claims, [[each] for each in steps], "")
    assert fires == ("ORDER-2" in found["fires"])
    case = SimpleNamespace(samples=samples, world_size=2, batch_size=1, combined_batch=1, policy=policy)
    case.layout = "contiguous"
    ranks = [SimpleNamespace(epochs=[SimpleNamespace(steps=each)]) for each in steps]
    assert fires == bool(order.layout(case, {"main": ranks}))
