"""Contents that two readers gave alike: a part that both read is found, and equal samples are not accused."""

import random
import re
from itertools import chain, permutations
from pathlib import Path
from typing import Any

import pytest

from conformance.audit import summary
from conformance.audit.stretches import chance
from tests.harness.audit.jobs import audited, cut, found, job, of_workers, told, whole

STREAM = {"kind": "iterable", "ids": "content"}


def texts(*numbers: int) -> list[str]:
    """The samples from one number to another."""
    return [f"text {number}" for number in range(*numbers)]


def streamed(folder: Path, *ranks: list[list[str]], size: int = 5, **epoch: Any) -> Path:
    """A job of one epoch, of each rank what its workers gave."""
    return job(folder, [[of_workers([cut(part, size) for part in parts], **epoch)] for parts in ranks], **STREAM)


def mixed(samples: list[str], seed: int = 0) -> list[str]:
    """In any order."""
    return random.Random(seed).sample(samples, len(samples))


LONG = [[*texts(200), *texts(900, 912), *texts(200, 400)], [*texts(500, 600), *texts(900, 912), *texts(600, 880)]]
BORDER = [texts(40), texts(30, 60)]
WITHIN = [[*texts(10), *texts(100, 110), *texts(10, 40)], [*texts(50, 75), *texts(100, 110), *texts(75, 80)]]


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        ([BORDER], "in one order from two readers: worker 0 ended with the 10 samples with which worker 1 began, as"),
        (
            [WITHIN],
            "came more than once, in one order from two readers: worker 0 and worker 1 gave 10 samples alike, as",
        ),
        (
            [BORDER, [texts(100, 140), texts(130, 160)]],
            "worker 0 of rank 0 ended with the 10 samples with which worker 1 of rank 0 began (so did 1 other pair of",
        ),
        ([[[*texts(40), "twice", *texts(90, 95), "twice"], texts(30, 60)]], ""),
        ([[[*texts(30), "a", *texts(30, 40)], ["a", *texts(50, 60), *texts(30, 40)]]], "10 of them in one order from"),
    ],
)
def test_a_stretch_that_two_readers_gave_is_found(tmp_path: Path, ranks: list[list[list[str]]], sentence: str) -> None:
    """At the border of two parts, or elsewhere, where it is a good part of one; also beside equal samples."""
    verdict = audited(streamed(tmp_path, *ranks))
    again = [finding for finding in verdict.findings if finding.key == "again"]
    if sentence:
        assert ["WORK-3"] == [finding.id for finding in again]
        assert sentence in again[0].sentence


def test_the_excerpt_has_the_steps_of_the_stretch(tmp_path: Path) -> None:
    """Where it begins, on both readers."""
    (finding,) = [each for each in audited(streamed(tmp_path, BORDER)).findings if each.key == "again"]
    assert "rank 0, worker 0, step 12; rank 0, worker 1, step 1" in finding.excerpt[0]


DOUBLES = list(chain.from_iterable((f"double {at}", f"double {at}", f"text {at}") for at in range(1, 60)))


@pytest.mark.parametrize(
    "ranks",
    [
        pytest.param([[DOUBLES[0::2], DOUBLES[1::2]]], id="side-by-side-where-workers-take-turns"),
        pytest.param([[texts(30), [*texts(100, 120), *mixed(texts(10))]]], id="in-any-order"),
        pytest.param([LONG], id="a-document-that-is-there-twice"),
        pytest.param(
            [[[*texts(400), *mixed(texts(900, 930))], [*mixed(texts(900, 930), 1), *texts(500, 900)]]],
            id="files-that-have-some-in-common",
        ),
        pytest.param([[texts(40)], [[*texts(40, 70), *texts(10)]]], id="padding-to-equal-ranks"),
        pytest.param([[texts(30), [*texts(40, 60), *texts(4)]]], id="four"),
    ],
)
def test_equal_samples_are_not_accused(tmp_path: Path, ranks: list[list[list[str]]]) -> None:
    """They are told of: who reads the record can't tell them from one that was read again."""
    size = 16 if len(ranks) > 1 else 5
    verdict = audited(streamed(tmp_path, *ranks, size=size))
    assert ([], True) == ([each for each in found(verdict) if each[1] == "again"], "equal-contents" in told(verdict))


def test_an_epoch_that_was_left_shows_no_part_of_a_stream(tmp_path: Path) -> None:
    """A document may be much of the little that came."""
    verdict = audited(streamed(tmp_path, WITHIN, how="left"))
    assert [] == found(verdict)


def test_other_parts_in_any_order_are_found_by_how_many_they_are(tmp_path: Path) -> None:
    """Two ranks that each drew their half by a seed of their own: no reader has a sample twice."""
    halves = [mixed(texts(120), seed)[:60] for seed in (1, 2)]
    verdict = audited(job(tmp_path, [[whole(cut(half, 4))] for half in halves], kind="wrapped", ids="content"))
    assert [("PART-1", "again")] == found(verdict)


@pytest.mark.parametrize(("pairs", "longer"), [(3, 5), (4, 6), (5, 6)])
def test_no_chance_is_larger_than_what_is_said(pairs: int, longer: int) -> None:
    """Over all orders of one reader, with the samples of the other one as they are."""
    orders = list(permutations(range(longer), pairs))
    for times in range(2, pairs + 1):
        distances = [[place - at for at, place in enumerate(order)] for order in orders]
        hits = sum(max(map(each.count, each)) >= times for each in distances)
        assert hits / len(orders) <= chance(pairs, times, longer) + 1e-12


def test_a_large_job_has_stretches_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among the samples of which it is known who got them."""
    monkeypatch.setattr(summary, "_MOST_WITNESSES", 400)
    folder = streamed(tmp_path, [texts(600), texts(400, 1000)])
    (finding,) = [each for each in audited(folder).findings if each.key == "again"]
    known = re.search(r"200 samples of 1,000 .*, (\d+) of the (\d+) that are known in one order", finding.sentence)
    assert known is not None
    assert int(known[1]) == int(known[2]) < 200
