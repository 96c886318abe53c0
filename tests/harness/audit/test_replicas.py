"""Ranks that are said to be one replica: what differs between them is found, and which groups are in force is told."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import Steps, audited, cut, found, job, start, told, whole
from tests.harness.audit.test_samples import order

A, B, C, D = (cut(order(40, seed), 4) for seed in range(4))
HALVES = [cut(order(40)[half::2], 4) for half in range(2)]


def ranks(folder: Path, *of: Steps, length: int = 40, **facts: Any) -> Path:
    """A job in which each rank has one epoch of these steps."""
    return job(folder, [[whole(steps, **facts)] for steps in of], length=length, batch_size=4)


@pytest.mark.parametrize(
    ("of", "groups", "sentence"),
    [
        pytest.param([A, B], [[0, 1]], "the same samples in different orders", id="other-seeds"),
        pytest.param([A[:3], B[:3]], [[0, 1]], "different samples from the first step on", id="other-seeds-stopped"),
        pytest.param(HALVES, [[0, 1]], "different samples from the first step on", id="shared-out"),
        pytest.param([A, [*A[:5], *B[5:]]], [[0, 1]], "within the first 8 steps", id="only-later-ones"),
        pytest.param([A, A[:8]], [[0, 1]], "different numbers of steps, 8 to 10", id="fewer-steps"),
        pytest.param([A, A, B, C], [[0, 1], [2, 3]], "ranks 2 and 3 are one replica", id="the-second-group"),
        pytest.param([A, B, C, D], [[0, 1], [2, 3]], "so did the ranks of 1 other group", id="both-groups"),
        pytest.param([A, A, B], [[0, 1], [1, 2]], "ranks 0, 1 and 2 are one replica", id="groups-that-touch"),
    ],
)
def test_ranks_of_a_replica_that_got_other_data_are_found(
    tmp_path: Path, of: list[Steps], groups: list[list[int]], sentence: str
) -> None:
    """One finding, and nothing is counted as if they were one."""
    how = "left" if len(of[0]) == 3 else "whole"
    folder = job(tmp_path, [[whole(steps, how=how)] for steps in of], length=40, batch_size=4)
    verdict = audited(folder, *groups)
    assert [("REPLICA", "other-data")] == found(verdict)
    assert sentence in verdict.findings[0].sentence


@pytest.mark.parametrize(
    ("of", "groups"),
    [
        pytest.param([A, A], [[0, 1]], id="two-ranks"),
        pytest.param([HALVES[0]] * 2 + [HALVES[1]] * 2, [[0, 1], [2, 3]], id="two-replicas"),
        pytest.param([HALVES[0], HALVES[0], HALVES[1]], [[0, 1]], id="replicas-of-2-and-1"),
        pytest.param([HALVES[0], *[HALVES[1][:4]] * 3, HALVES[1][4:]], [[1, 2, 3]], id="replicas-of-1-3-and-1"),
        pytest.param([HALVES[0], HALVES[1]] * 2, [[0, 2], [1, 3]], id="ranks-that-are-not-next-to-each-other"),
    ],
)
def test_ranks_of_a_replica_that_got_the_same_are_no_finding(
    tmp_path: Path, of: list[Steps], groups: list[list[int]]
) -> None:
    """They count once, and the report says so."""
    verdict = audited(job(tmp_path, [[whole(steps, how="left")] for steps in of], length=40), *groups)
    assert ([], {"not-whole-left"}) == (found(verdict), told(verdict))
    assert "--same-data" in verdict.notes[0]


def test_a_rank_that_was_stopped_earlier_differs_in_nothing(tmp_path: Path) -> None:
    """Ranks are compared as far as all of them went; one of a group may leave its data to another."""
    for rank, steps in enumerate([A[:7], A[:6]]):
        start(tmp_path / "stopped", [whole(steps, how="")], rank, 2, close=False, length=40)
    assert [] == found(audited(tmp_path / "stopped", [0, 1]))
    start(tmp_path / "broadcast", [whole(A)], 0, 2, length=40)
    assert [] == found(audited(tmp_path / "broadcast", [0, 1]))


def test_the_other_ranks_of_a_replica_stand_for_one_whose_record_is_lost(tmp_path: Path) -> None:
    """What came to rank 1 is what came to rank 0 as well."""
    start(tmp_path, [whole(HALVES[0])], 1, 4, length=40, batch_size=4)
    verdict = audited(tmp_path, [0, 1])
    assert "1 epoch seen whole" in verdict.groups[0].title
    assert [] == found(verdict)


def test_a_batch_that_one_rank_looked_at_first_puts_no_blame_on_its_replica(tmp_path: Path) -> None:
    """It is an epoch ahead, so that epochs can't be compared."""
    first = [whole(A[:1], how="left"), whole(A), whole(B)]
    verdict = audited(job(tmp_path, [first, [whole(A), whole(B)]], length=40, batch_size=4), [0, 1])
    assert ([], True) == (found(verdict), "out-of-step" in told(verdict))


def test_a_device_mesh_says_it_in_the_record(tmp_path: Path) -> None:
    """What differs is found without an option, and the report says where the groups are from."""
    for rank, steps in enumerate([A, B]):
        recorder = start(tmp_path, [whole(steps)], rank, 2, close=False, length=40)
        recorder.say("same_data", {"groups": [[0, 1]]})
        recorder.close()
    verdict = audited(tmp_path)
    assert [("REPLICA", "other-data")] == found(verdict)
    assert "ranks 0 and 1 are one replica (the record: " in verdict.notes[0]


def test_a_rank_that_the_job_does_not_have_is_an_error(tmp_path: Path) -> None:
    """Nothing can be known of it; one that the job has and whose record is lost is none."""
    verdict = audited(ranks(tmp_path / "two", A, A), [0, 1], [0, 2])
    assert (2, []) == (verdict.exit_code, found(verdict))
    assert "--same-data 0,2 names rank 2" in verdict.unknown
    start(tmp_path / "lost", [whole(A)], 0, 2, length=40)
    assert 0 == audited(tmp_path / "lost", [0, 1]).exit_code


def test_many_groups_are_told_in_short(tmp_path: Path) -> None:
    """The first of them, and how many more there are."""
    groups = [[2 * at, 2 * at + 1] for at in range(5)]
    parts = [cut(order(40)[at::5], 4) for at in range(5) for _ in range(2)]
    note = audited(ranks(tmp_path, *parts), *groups).notes[0]
    assert note.startswith("5 groups of ranks must get the same data")
    assert note.endswith("{0,1}, {2,3}, {4,5} and 2 more")


@pytest.mark.parametrize("replicas", [[2, 2], [2, 1], [3, 1]])
def test_what_comes_again_beside_replicas_is_named(tmp_path: Path, replicas: list[int]) -> None:
    """Not what came to each rank of a replica, which is once; within a rank or to another one."""
    other = [*HALVES[1][:4], [*HALVES[1][4][:3], HALVES[0][2][1]]]
    of = [HALVES[0]] * replicas[0] + [other] * replicas[1]
    groups = [group for group in (range(replicas[0]), range(replicas[0], sum(replicas))) if len(group) > 1]
    (finding,) = audited(
        job(tmp_path, [[whole(each, how="left", steps=5)] for each in of], length=40), *groups
    ).findings
    assert f"1 sample of 39 came to more than one rank: {HALVES[0][2][1]}" == finding.sentence
