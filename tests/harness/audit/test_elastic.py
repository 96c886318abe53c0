"""Jobs that go on with another number of ranks: what a restart skipped is counted, whatever the numbers are."""

from pathlib import Path
from typing import Any

import pytest

from conformance.audit.command import as_json
from conformance.audit.gather import gather
from conformance.audit.partial import merged, read_partial, write_partial
from conformance.audit.verdict import Verdict, judged
from conformance.records.reader import files
from tests.harness.audit.jobs import audited, cut, found, start, whole
from tests.harness.audit.test_samples import order

A, B, C = (order(48, seed) for seed in range(3))


def begin(
    folder: Path, ranks: int, epochs: list[tuple[list[int], int, str]], world: bool = True, **loader: Any
) -> None:
    """A start of a job: of each epoch the samples that all ranks share, a batch's size, and how it ended."""
    for rank in range(ranks):
        own = [whole(cut(samples[rank::ranks], size), how=how) for samples, size, how in epochs]
        start(folder, own, rank, ranks if world else None, **{"length": 48, "batch_size": epochs[0][1], **loader})


def went_on(folder: Path, first: int, then: int, at: int, **loader: Any) -> Verdict:
    """A job that ended after half of epoch 1, and went on at some sample of it."""
    begin(folder, first, [(A, 12 // first, "whole"), (B[:24], 12 // first, "left")], **loader)
    begin(folder, then, [(B[at:], 12 // then, "whole"), (C, 12 // then, "whole")], **loader)
    return audited(folder)


def said(verdict: Verdict) -> str:
    """What is said of the restart."""
    (group,) = verdict.groups
    return next(each.sentence for each in (*group.findings, *group.notes) if each.key == "restart")


@pytest.mark.parametrize(("first", "then"), [(2, 1), (1, 2), (4, 3), (3, 4), (2, 4)])
@pytest.mark.parametrize(
    ("at", "expected", "sentence"),
    [
        (24, [], "the restart went on in epoch 1 where the job had ended, with "),
        (36, [("RESUME-1", "restart")], "the restart skipped 12 samples of epoch 1"),
        (12, [], "the restart in epoch 1 went back by "),
        (0, [], "the restart began epoch 1 again, with "),
    ],
)
def test_a_restart_with_another_number_of_ranks_is_counted(
    tmp_path: Path, first: int, then: int, at: int, expected: list[tuple[str, str]], sentence: str
) -> None:
    """The global batch stays, and a rank's batch follows from it."""
    verdict = went_on(tmp_path, first, then, at)
    assert (expected, True) == (found(verdict), said(verdict).startswith(sentence))
    ranks = [f"{number} rank{'s' if number > 1 else ''}" for number in (first, then)]
    assert f"{', then '.join(ranks)}, 2 epochs seen whole, 1 over a restart" in verdict.groups[0].title


def test_the_finding_names_both_numbers(tmp_path: Path) -> None:
    """Steps are those of a rank."""
    (finding,) = went_on(tmp_path, 2, 1, 36).findings
    assert "2 steps on each of 2 ranks came before the restart, and 1 step on 1 rank after it" == finding.excerpt[0]


@pytest.mark.parametrize(
    ("rest", "expected"), [(B[24:44], []), (B[24:40], ["RESUME-1"]), ([*B[24:], *B[:1]], []), (B[24:46], [])]
)
def test_a_tail_or_padding_of_the_new_ranks_is_not_skipped(
    tmp_path: Path, rest: list[int], expected: list[str]
) -> None:
    """Four ranks drop what fills no step of all of them, or are made equal."""
    begin(tmp_path, 2, [(B[:24], 4, "left")], drop_last=True)
    begin(tmp_path, 4, [(rest, 2, "whole")], drop_last=True)
    assert expected == [clause for clause, _ in found(audited(tmp_path)) if clause == "RESUME-1"]


def test_what_each_epoch_leaves_out_is_not_skipped(tmp_path: Path) -> None:
    """A batch sampler of the user's own drops the end of each epoch, on one rank as well."""
    own = {"own_batches": True, "batch_size": None}
    begin(tmp_path, 2, [(A[:40], 5, "whole"), (B[:20], 5, "left")], **own)
    begin(tmp_path, 1, [(B[20:40], 10, "whole")], **own)
    assert [] == [clause for clause, _ in found(audited(tmp_path)) if clause == "RESUME-1"]


@pytest.mark.parametrize(
    ("how", "world", "there", "sentence"),
    [
        ("left", True, 1, "that epoch did not come to its end"),
        ("whole", False, 1, "nothing of that epoch is known of rank 1 after the restart"),
        (
            "whole",
            True,
            3,
            "the number of ranks changed from 2 to 4, and nothing of that epoch is known of rank 3 after the restart",
        ),
    ],
)
def test_why_it_cannot_be_told_is_said(tmp_path: Path, how: str, world: bool, there: int, sentence: str) -> None:
    """A rank whose record is lost is no rank that the job has not."""
    begin(tmp_path, 2, [(B[:24], 6, "left")], world)
    ranks = 4 if there == 3 else 1
    for rank in range(there):
        steps = cut(B[36:][rank::ranks], 3)
        start(tmp_path, [whole(steps, how=how)], rank, ranks if world else None, length=48, batch_size=6)
    verdict = audited(tmp_path)
    expected = f"what the restart in epoch 0 skipped can't be told: {sentence}"
    assert ([], expected) == (found(verdict), said(verdict))


@pytest.mark.parametrize(
    ("name", "sentence"),
    [("subset_print", "each rank has a subset of its own"), ("dataset_print", "each rank has a dataset of its own")],
)
def test_parts_that_each_rank_holds_are_not_counted_by_the_first_one(tmp_path: Path, name: str, sentence: str) -> None:
    """With another number of ranks they are other ones."""
    for ranks, how in ((2, "left"), (1, "whole")):
        for rank in range(ranks):
            part = {"length": 48, "subset": 48 // ranks, name: f"{rank} of {ranks}"}
            steps = cut(range(24) if how == "left" else range(24, 48), 6)
            start(tmp_path, [whole(steps[rank::ranks], how=how)], rank, ranks, batch_size=6, **part)
    verdict = audited(tmp_path)
    assert ([], True) == ([id for id, _ in found(verdict) if id == "RESUME-1"], said(verdict).endswith(sentence))


def test_drawing_with_replacement_skips_nothing(tmp_path: Path) -> None:
    """What was not drawn is not skipped."""
    verdict = went_on(tmp_path, 2, 1, 36, replacement=True)
    assert ([], True) == (found(verdict), said(verdict).endswith("its sampler draws with replacement"))


def test_epochs_after_the_restart_are_whole_with_the_ranks_that_it_has(tmp_path: Path) -> None:
    """What one rank loses there is lost."""
    begin(tmp_path, 2, [(A, 6, "whole")])
    begin(tmp_path, 1, [(B[:30], 6, "whole"), (C[:30], 6, "whole")])
    assert [("PART-2", "lost")] == found(audited(tmp_path))


@pytest.mark.parametrize("numbers", [(1, 2), (2, 1, 2), (1, 3, 4)])
def test_the_verdict_over_partial_results_is_the_same(tmp_path: Path, numbers: tuple[int, ...]) -> None:
    """Rank 3 alone does not know that its first start is the third one of the job."""
    record = tmp_path / "record"
    for number, ranks in enumerate(numbers):
        begin(record, ranks, [(order(48, number), 12 // ranks, "whole"), (B[:24], 12 // ranks, "left")])
    by_rank: dict[str, Path] = {}
    for path in files(record):
        (process,) = [each for each in gather(record).processes if each.token == path.stem]
        part = by_rank.setdefault(str(process.rank), tmp_path / f"rank-{process.rank}")
        part.mkdir(exist_ok=True)
        (part / path.name).write_bytes(path.read_bytes())
    for rank, part in by_rank.items():
        write_partial(gather(part), tmp_path / f"{rank}.part")
    stored = [read_partial(tmp_path / f"{rank}.part") for rank in sorted(by_rank, reverse=True)]
    expected = as_json(judged(gather(record)))
    assert expected == as_json(judged(merged(stored)))
    assert expected == as_json(judged(merged([merged(stored[:2]), *stored[2:]])))
