"""Ranks with equal steps: the files that are asked for, what may be dropped of them, and what each case's code says."""

import pytest
from hypothesis import given

from conformance.contract import parse_claims
from conformance.faults.judges import errors_arrive_in_their_place
from conformance.loader.asked import arguments_of
from conformance.loader.scenario import Scenario, from_code, simpler
from conformance.reach.equal import most_dropped
from conformance.reach.scenario import shards_of
from conformance.trace import Epoch, Failure, RankRun, Run, Trace
from tests.harness.tried import drawn, listed

FILES = parse_claims(
    dict(datasets=("map", "iterable"), iterable_workers="split", equal_steps=True, drops="per-shard", workers=True)
)
OF_18 = Scenario(18, 2, conduct="sharded@4")


def test_files_follow_from_their_number() -> None:
    """18 samples in 4 files are 3, 4, 5 and 6; every sample lies in one, whatever the numbers are."""
    assert (3, 4, 5, 6) == shards_of(OF_18) == arguments_of(OF_18, 0)["shards"]
    assert 101 == sum(shards_of(Scenario(101, conduct="sharded@7")))


def test_files_are_asked_for_where_they_are_claimed() -> None:
    """Nobody else's request says anything of them."""
    assert "shards" not in arguments_of(Scenario(18, 2), 0)
    assert not any(each.conduct for each in listed("equal", parse_claims(dict(equal_steps=True))))


@pytest.mark.parametrize(
    ("scenario", "equal", "most"),
    [
        (OF_18, True, 18 - 2 * (3 + 4)),
        (simpler(OF_18, batch_size=2), True, 18 - 2 * 2 * (1 + 2)),
        (simpler(OF_18, num_workers=2), True, 18 - 2 * (3 + 4)),
        (simpler(OF_18, world_size=3), True, 18 - 3 * 3),
        (simpler(OF_18, world_size=5), True, 18),
        (OF_18, False, 0),
        (simpler(OF_18, batch_size=4, drop_last=True), False, 3 + 0 + 1 + 2),
    ],
)
def test_what_may_be_dropped_follows_from_the_files(scenario: Scenario, equal: bool, most: int) -> None:
    """By hand: the tails, and what the ranks with larger files have more."""
    claims = parse_claims(dict(equal_steps=equal, drops="per-shard"))
    assert most == most_dropped(scenario, claims)


@pytest.mark.parametrize("drop_last", [True, False])
def test_what_comes_before_an_error_may_be_the_tail_of_a_file(drop_last: bool) -> None:
    """In files of one sample no step of two is full, so that an error comes alone under drop_last (ERROR-2)."""
    epoch = Epoch(0, (), failure=Failure("raised", "step", "sample 2 is broken on purpose"))
    scenario = Scenario(4, batch_size=2, drop_last=drop_last, fault="raise@2")
    trace = Trace(scenario, (Run("main", (RankRun(0, (epoch,), remarks=(("fired", "raise@2"),)),)),))
    assert drop_last is (errors_arrive_in_their_place(scenario, FILES, trace) is None)


@given(drawn("equal", FILES))
def test_a_code_reads_back(scenario: Scenario) -> None:
    """Whatever is drawn is replayed by its code alone."""
    assert scenario == from_code(scenario.code)
