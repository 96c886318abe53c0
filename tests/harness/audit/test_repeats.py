"""What came more than once: it is told who got it, by names that a person can read, and where it came."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from conformance.audit import summary
from conformance.audit.finding import Finding
from conformance.audit.gather import gather
from conformance.audit.partial import from_bytes, merged, to_bytes
from conformance.audit.verdict import judged
from tests.harness.audit.jobs import audited, cut, job, of_workers, start, whole

A, B, C, D = (list(range(at, at + 8)) for at in (0, 10, 20, 30))


def named(folder: Path, ranks: Sequence[Sequence[Sequence[Any]]], kind: str = "iterable") -> Finding:
    """What is found of repeats among what each worker of each rank gave, as the user names it."""
    epochs = [[of_workers([cut(part, 4) for part in parts])] for parts in ranks]
    verdict = audited(job(folder, epochs, kind=kind, ids="named" if kind == "iterable" else "index"))
    (finding,) = [each for each in verdict.findings if each.key == "again"]
    return finding


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([[A, [*B, 0]], [C, D]], "1 sample of 32 came from more than one worker of a rank (0 and 1 on rank 0): 0"),
        (
            [[A, [*B, 0]], [C, [*D, 20, 21]]],
            "3 samples of 32 came from more than one worker of a rank (0 and 1 on both ranks): 0, 20 and 21",
        ),
        ([[A, B], [C, [*D, 0]]], "1 sample of 32 came to more than one rank: 0"),
        ([[A, B], [[*C, 21], D]], "1 sample of 32 came more than once from worker 0 of rank 1: 21"),
        ([[[*A, 1], [*B, 11]]], "2 samples of 16 came more than once, each from one worker: 1 and 11"),
        ([[A, [*B, 0]]], "1 sample of 16 came from more than one worker (0 and 1): 0"),
        ([[[*A, 1]]], "1 sample of 8 came more than once: 1"),
        (
            [[A, [*B, 0, 11]]],
            "2 samples of 16 came more than once, 1 from more than one worker (0 and 1) and 1 from one reader again: "
            "0 and 11",
        ),
        (
            [[A, [*B, 0]], [C, [*D, 1, 2]]],
            "3 samples of 32 came more than once, 2 to more than one rank and 1 from more than one worker of a rank "
            "(0 and 1 on rank 0): 0, 1 and 2",
        ),
    ],
)
def test_who_got_what_came_again_is_told(tmp_path: Path, ranks: list[list[list[int]]], expected: str) -> None:
    """Several ranks, several workers of one rank, or one reader alone, counted over all of them."""
    assert expected == named(tmp_path, ranks).sentence


def test_workers_to_which_a_sampler_deals_are_no_readers(tmp_path: Path) -> None:
    """It is the sampler that drew an index twice, whichever worker made the batch."""
    told = "the sampler gave 1 sample of 16 more than once: 0"
    assert told == named(tmp_path, [[A, [*B, 0]]], "map").sentence


def test_texts_and_numbers_are_names(tmp_path: Path) -> None:
    """What the user's field holds, and not a hash of it; in the steps in which it came, too."""
    finding = named(tmp_path, [[["a.npy", "b.npy"], ["one line", 0.5, "b.npy"]]])
    assert "1 sample of 4 came from more than one worker (0 and 1): b.npy" == finding.sentence
    assert (
        "sample b.npy: rank 0, worker 0, step 0; rank 0, worker 1, step 1",
        "rank 0, worker 0, step 0: a.npy b.npy",
        "rank 0, worker 1, step 1: 'one line' 0.5 b.npy",
    ) == finding.excerpt


def test_no_name_is_empty(tmp_path: Path) -> None:
    """What has no text has a hash, and a number that is too large to be counted is a number."""
    finding = named(tmp_path / "nested", [[[{"a": 1}, {"b": 2}], [{"c": 3}, {"a": 1}]]])
    assert ": " in finding.sentence
    assert 8 == len(finding.sentence.rpartition(": ")[2])
    large = named(tmp_path / "large", [[[-5, 2**40], [7, -5]]])
    assert large.sentence.endswith("(0 and 1): -5")


def test_a_long_step_is_shown_around_the_sample(tmp_path: Path) -> None:
    """Some of those before it, and of those behind."""
    step = list(range(20))
    (finding,) = audited(job(tmp_path, [[whole([step, [12, 30]])]], length=31)).findings[:1]
    assert "rank 0, step 0: ... 9 10 11 12 13 14 15 16 ..." == finding.excerpt[1]


def test_partial_results_have_the_names(tmp_path: Path) -> None:
    """As the record has them."""
    for rank, parts in enumerate((["a.npy", "b.npy", "d.npy"], ["c.npy", "b.npy"])):
        start(tmp_path / str(rank), [whole([parts])], rank, 2, kind="iterable", ids="named", batch_size=3)
    parts = [from_bytes(to_bytes(gather(tmp_path / str(rank)))) for rank in range(2)]
    (finding,) = [each for each in judged(merged(parts)).findings if each.key == "again"]
    assert "1 sample of 4 came to more than one rank: b.npy" == finding.sentence


def test_of_a_large_job_it_is_said_of_how_many_it_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who got the others is not known."""
    monkeypatch.setattr(summary, "_MOST_WITNESSES", 400)
    finding = named(tmp_path, [[list(range(600))], [list(range(400, 1000))]])
    assert "200 samples of 1,000 came to more than one rank, as far as is known (" in finding.sentence
