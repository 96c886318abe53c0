"""Ranks that got one stream, and samples that one list repeats in a row: neither is told as other orders."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole
from tests.harness.audit.test_samples import Job, order


def streams(parts: list[list[int]], n: int, **loader: Any) -> Job:
    """A map-style loader over ranks, each with the samples that are given."""
    epochs = [[whole(cut(part, 4))] for part in parts]
    return lambda folder: job(folder, epochs, length=n, batch_size=4, seed=0, **loader)


def dealt(places: list[int], n: int = 40, ranks: int = 4) -> Job:
    """Ranks at these places of a sampler over so many ranks."""
    return streams([order(n)[place::ranks] for place in places], n)


def repeated(n: int, ranks: int, times: int, **loader: Any) -> Job:
    """Ranks take turns in a list that has each sample several times in a row, up to the length of the dataset."""
    every = [sample for sample in order(n) for _ in range(times)]
    return streams([every[rank::ranks][: n // ranks] for rank in range(ranks)], n, **loader)


def test_ranks_that_got_one_part_are_told_with_its_cause(tmp_path: Path) -> None:
    """LOCAL_RANK in place of RANK: of two nodes with two ranks each, both read parts 0 and 1 of 4."""
    verdict = audited(dealt([0, 1, 0, 1])(tmp_path))
    (finding,) = verdict.findings
    assert ("PART-1", "same-part") == (finding.id, finding.key)
    who = "ranks 0 and 2 got the same samples in the same order, and so did ranks 1 and 3"
    cause = "look at the sampler's rank= (RANK, and not LOCAL_RANK) and num_replicas="
    assert f"{who}: 20 samples came to several ranks, and 20 to none: {cause}" == finding.sentence
    assert "rank= is RANK, and not LOCAL_RANK" in finding.advice


def test_one_local_rank_is_the_cause(tmp_path: Path) -> None:
    """Where the record has it."""
    for rank, part in enumerate([0, 1, 0, 1]):
        recorder = start(
            tmp_path, [whole(cut(order(40)[part::4], 4))], rank, 4, close=False, length=40, batch_size=4, seed=0
        )
        recorder.hello({"rank": rank, "world_size": 4, "local_rank": rank % 2})
        recorder.close()
    (finding,) = audited(tmp_path).findings
    assert finding.sentence.endswith("; such ranks have one LOCAL_RANK, and the sampler's rank= is to be RANK")


def test_replicas_that_are_not_named_are_both_things(tmp_path: Path) -> None:
    """Nothing is lost where two ranks are one replica, or count twice."""
    (finding,) = audited(dealt([0, 0, 1, 1], ranks=2)(tmp_path)).findings
    assert ("PART-1", "same-part") == (finding.id, finding.key)
    assert finding.sentence.endswith("(--same-data 0,1 --same-data 2,3), else each counts twice")


@pytest.mark.parametrize(("ranks", "times"), [(2, 3), (4, 3), (3, 2)])
def test_repeated_augmentation_is_one_order(tmp_path: Path, ranks: int, times: int) -> None:
    """A sample comes to several ranks, and the list that all of them got has it in a row."""
    verdict = audited(repeated(48, ranks, times)(tmp_path))
    assert ([], {"in-a-row"}) == (found(verdict), told(verdict))


def test_one_process_may_repeat_in_a_row_as_well(tmp_path: Path) -> None:
    """It is no rank of a job."""
    steps = cut([sample for sample in order(12) for _ in range(3)], 4)
    start(tmp_path, [whole(steps)], None, length=12, batch_size=4, sampler="RASampler")
    verdict = audited(tmp_path)
    assert ([], {"in-a-row"}) == (found(verdict), told(verdict))


@pytest.mark.parametrize(
    ("ranks", "times", "key"), [(1, 3, "in-a-row"), (3, 3, "twins"), (4, 2, "same-part"), (2, 3, "in-a-row")]
)
def test_a_sampler_that_says_that_it_repeats_is_believed(tmp_path: Path, ranks: int, times: int, key: str) -> None:
    """As many ranks as repetitions get one stream each; few samples may stand in a row by chance."""
    verdict = audited(repeated(12, ranks, times, sampler="RASampler")(tmp_path))
    assert ([], True) == (found(verdict), key in told(verdict))


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param([order(40), order(40)[:39]], id="all-of-it-but-one"),
        pytest.param([order(40), order(40)[1:]], id="no-stride"),
        pytest.param([order(40, 1)[:20], order(40, 2)[:20]], id="other-seeds"),
    ],
)
def test_what_ranks_read_alike_is_no_repetition(tmp_path: Path, parts: list[list[int]]) -> None:
    """Copies lie side by side as well where two ranks read one list."""
    assert found(audited(streams(parts, 40)(tmp_path)))


def test_equal_lines_are_no_evidence_of_other_orders(tmp_path: Path) -> None:
    """Two ranks have one step in common, and others apart."""
    parts = [[3, 1, 0, 2, *(each + 4 for each in order(36, seed)[:16])] for seed in (1, 2)]
    (finding,) = audited(streams(parts, 40)(tmp_path)).findings
    steps = [line.partition(": ")[2] for line in finding.excerpt]
    assert ("ORDER-4", len(steps)) == (finding.id, len(set(steps)))
