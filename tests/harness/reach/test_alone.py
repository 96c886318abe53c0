"""Loaders of one process, and those that read a step ahead: what their cases look like, and what is made of them."""

import os
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import Claims, parse_claims
from conformance.faults.judges import errors_arrive_in_their_place
from conformance.loader.scenario import Scenario, from_code
from conformance.reach.conduct import _environment
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from tests.harness.tried import listed

LOADERS = parse_claims(dict(datasets=("map", "iterable"), ranks=None, lookahead=1, shuffle="global"))


@pytest.mark.parametrize("family", ["alone", "peek"])
def test_the_code_of_a_listed_scenario_reads_back(family: str) -> None:
    """Whatever is listed is replayed by its code alone."""
    scenarios = listed(family, LOADERS)
    assert scenarios == [from_code(scenario.code) for scenario in scenarios]


def test_the_environment_of_a_launch_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was there before is there again, and what meets other ranks is hidden meanwhile."""
    monkeypatch.setenv("WORLD_SIZE", "7")
    monkeypatch.setenv("MASTER_ADDR", "elsewhere")
    before = dict(os.environ)
    with _environment():
        assert ("1", "2", None) == tuple(os.environ.get(name) for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"))
    assert before == os.environ


@pytest.mark.parametrize(
    ("lookahead", "delivered", "kinds"),
    [
        (0, [0, 1], []),
        (0, [0], ["error-out-of-place"]),
        (1, [0, 1], []),
        (1, [0], []),
        (1, [], ["error-out-of-place"]),
        (1, [0, 1, 2], ["error-out-of-place"]),
    ],
)
def test_an_error_may_come_one_step_early(lookahead: Any, delivered: list[int], kinds: list[str]) -> None:
    """Where it is claimed that the next step is read first, and by one step only (ERROR-2)."""
    steps = tuple((index,) for index in delivered)
    epoch = Epoch(0, steps, failure=Failure("raised", "step", "sample 2 is broken on purpose"))
    run = RankRun(0, (epoch,), remarks=(("fired", "raise@2"),))
    trace = Trace(Scenario(4, fault="raise@2"), (Run("main", (run,)),))
    found = errors_arrive_in_their_place(trace.scenario, Claims(lookahead=lookahead), trace)
    assert kinds == [finding.kind for finding in found or []]


def test_a_clause_that_compares_ranks_does_not_bind_a_loader_of_one_process() -> None:
    """With workers, too, such a loader is not asked for a second rank to draw otherwise (WORK-9)."""
    claims = parse_claims(dict(ranks=None, workers=True))
    assert ["WORK-8", "WORK-10"] == [name for name in ("WORK-8", "WORK-9", "WORK-10") if CLAUSES[name].applies(claims)]
