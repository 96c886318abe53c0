"""Recorded runs of the old library: the reference gives the same elements in the same order, or it is said why not."""

import fcntl
import json
import os
import pickle
from collections import Counter
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from tests.reference.pipelines.oracle_pipelines import BOTH, RANKS, REFUSED, SEEDS, TWICE, UNEVEN, Case, decision, run
from tests.reference.pipelines.pipe_ranks import Ranks

CASES: list[Case] = json.loads((Path(__file__).parent / "dl2_oracle.json").read_text())["cases"]


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """What the reference does in every case, by the id of the case: a list with an entry for each rank."""
    folder = tmp_path_factory.mktemp("oracle")
    # It takes half a minute: of xdist's workers, who share the folder above theirs, one does it for all.
    shared = tmp_path_factory.getbasetemp().parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    with (shared / "oracle.pickle").open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # Where the file ends now, and not where it ended when it was opened.
        if not file.seek(0, os.SEEK_END):
            pickle.dump(all_runs(folder), file)
        file.seek(0)
        found: dict[str, list[Any]] = pickle.load(file)
    return found


def all_runs(folder: Path) -> dict[str, list[Any]]:
    """Run all cases, in files of this folder."""
    found = {case["id"]: [run(case, folder)] for case in CASES if case["world"] == 0}
    for world in sorted({case["world"] for case in CASES} - {0}):
        ranks = Ranks(world)
        cases = [case for case in CASES if case["world"] == world]
        try:
            by_rank = ranks.run(run_all, cases, folder)
        finally:
            ranks.end()
        for case, *results in zip(cases, *by_rank, strict=True):
            found[case["id"]] = results
    return found


def run_all(rank: int, cases: list[Case], folder: Path) -> list[Any]:
    """All cases of one number of ranks, on one of them."""
    # Each rank has files of its own: all write the same.
    own = folder / f"{len(cases)}-{rank}"
    own.mkdir()
    return [run(case, own, rank) for case in cases]


def theirs(case: Case) -> list[Any]:
    """What was recorded, with the type of an error only: its text tells of the old library's processes."""
    return [{**each, "error": each["error"] and each["error"].split(":")[0]} for each in case["ranks"]]


def comparable(case: Case, result: list[Any]) -> list[Any]:
    """Epochs and errors; which worker read an element is compared where there are workers."""
    with_workers = bool(case["workers"])
    return [
        ([[each if with_workers else each[0] for each in epoch] for epoch in rank["epochs"] or []], rank["error"])
        for rank in result
    ]


def without_order(result: list[Any]) -> list[Any]:
    """How many elements, of which sizes, each rank has in each epoch, and all elements of the epoch together."""
    sizes = [[[_size(value) for value, _ in epoch] for epoch in rank["epochs"]] for rank in result]
    flat = [
        Counter(number for rank in result for value, _ in rank["epochs"][at] for number in _numbers(value))
        for at in range(len(result[0]["epochs"]))
    ]
    return [sizes, flat, [rank["error"] for rank in result]]


def _size(value: Any) -> int:
    return len(value) if isinstance(value, list) else 1


def _numbers(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@cache
def of(reason: str | None) -> list[Case]:
    """The cases that fall under a decision."""
    return [case for case in CASES if decision(case) == reason]


def test_the_tally() -> None:
    """So many recorded runs come out element for element, and so many differ by each decision."""
    tally = Counter(decision(case) for case in CASES)
    assert {None: 132, SEEDS: 113, BOTH: 15, RANKS: 13, UNEVEN: 10, REFUSED: 7, TWICE: 2} == dict(tally)


@pytest.mark.parametrize("case", of(None), ids=lambda case: case["id"])
def test_a_run_comes_out_element_for_element(case: Case, ours: dict[str, list[Any]]) -> None:
    """The same elements in the same order, from the same workers, on each rank; and the same type of error."""
    assert comparable(case, theirs(case)) == comparable(case, ours[case["id"]])


@pytest.mark.parametrize("case", of(RANKS), ids=lambda case: case["id"])
def test_a_rank_gets_what_it_gets_without_workers(case: Case, ours: dict[str, list[Any]]) -> None:
    """Elements are shared over ranks first: batches and losses aside, rank r has those with i mod R = r."""
    for rank, result in enumerate(ours[case["id"]]):
        assert result["error"] is None
        for value, _ in result["epochs"][0]:
            assert {rank} == {number % case["world"] for number in _numbers(value)}


def test_an_uneven_end_is_no_error(ours: dict[str, list[Any]]) -> None:
    """What the old library gave before it crashed comes first, then the rest."""
    for case in of(UNEVEN):
        if case["pipeline"] != "counts":
            continue
        (result,) = ours[case["id"]]
        counts = enumerate(case["p"]["counts"])
        expected = [[100 * worker + at, worker] for worker, count in counts for at in range(count)]
        assert None is result["error"]
        assert sorted(expected) == sorted(result["epochs"][0])
        before = case["ranks"][0]["epochs"][0]
        if case["p"]["counts"] != [6, 0]:
            assert before == result["epochs"][0][: len(before)]


def test_the_wrong_order_is_refused(ours: dict[str, list[Any]]) -> None:
    """Every rank is told."""
    assert {"ValueError"} == {rank["error"] for case in of(REFUSED) for rank in ours[case["id"]]}


def test_sharding_twice_is_no_hang(ours: dict[str, list[Any]]) -> None:
    """It is an error, before anything is read."""
    assert [[{"epochs": [], "error": "RuntimeError"}]] * 2 == [ours[case["id"]] for case in of(TWICE)]


@pytest.mark.parametrize("case", of(SEEDS), ids=lambda case: case["id"])
def test_a_shuffle_has_the_same_elements(case: Case, ours: dict[str, list[Any]]) -> None:
    """Another order of the same elements, in pieces of the same sizes; random numbers are others."""
    sizes, flat, errors = without_order(ours[case["id"]])
    their_sizes, their_flat, their_errors = without_order(theirs(case))
    assert (their_sizes, their_errors) == (sizes, errors)
    # What is left out, by fullsync or because the loop ends early, depends on the order.
    if "stop_after" not in case and "rng" not in case["pipeline"] and case["n"] % (case["world"] or 1) == 0:
        assert their_flat == flat


def repeated(result: list[Any]) -> list[tuple[int, int]]:
    """Which epochs of a run are alike, on all ranks."""
    epochs = [[rank["epochs"][at] for rank in result] for at in range(len(result[0]["epochs"]))]
    return [(first, second) for first, second in combinations(range(len(epochs)), 2) if epochs[first] == epochs[second]]


BY_TORCH = [case for case in CASES if any(isinstance(seed, str) for seed in case["seeds"])]
UNSEEDED = [case for case in CASES if {*map(str, case["seeds"])} == {"None"} and "shuffle" in case["pipeline"]]


@pytest.mark.parametrize("case", BY_TORCH, ids=lambda case: case["id"])
def test_torchs_seed_fixes_an_epoch(case: Case, ours: dict[str, list[Any]]) -> None:
    """Epochs are alike where those of the record are: after the same `torch.manual_seed`."""
    assert [(0, 1)] == repeated(theirs(case)) == repeated(ours[case["id"]])


@pytest.mark.parametrize("case", UNSEEDED, ids=lambda case: case["id"])
def test_unseeded_epochs_differ(case: Case, ours: dict[str, list[Any]]) -> None:
    """PIPE-6: those of the record do not."""
    assert [(0, 1)] == repeated(theirs(case))
    assert [] == repeated(ours[case["id"]])


@pytest.mark.parametrize("case", of(BOTH), ids=lambda case: case["id"])
def test_a_shuffle_loses_less_than_a_rank_has(case: Case, ours: dict[str, list[Any]]) -> None:
    """No element comes twice, and where fullsync counts elements at most R - 1 are lost."""
    for rank in ours[case["id"]]:
        assert None is rank["error"]
    _, flat, _ = without_order(ours[case["id"]])
    if "rng" not in case["pipeline"]:
        for epoch in flat:
            assert {1} == set(epoch.values())
            if "batch" not in case["pipeline"] and case["pipeline"] != "csv":
                assert case["n"] - case["n"] % case["world"] == len(epoch)
