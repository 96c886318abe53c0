"""Steps, sizes, lengths and ends: each fault is found, and its right neighbour is not accused."""

from pathlib import Path
from typing import Any

import pytest

from conformance.records.reader import files
from tests.harness.audit.jobs import audited, cut, found, job, of_workers, start, told, whole
from tests.harness.audit.test_samples import Job

EVEN = [cut(range(16), 4), cut(range(16, 32), 4)]
UNEVEN = [cut(range(20), 4), cut(range(20, 32), 4)]


def ranks(*parts: list[list[int]], how: str = "whole", **loader: Any) -> Job:
    """Each rank gets its steps of 32 samples."""
    return lambda folder: job(folder, [[whole(part, how=how)] for part in parts], **{"length": 32, **loader})


def one(batches: list[list[int]], /, **facts: Any) -> Job:
    """One rank, of 10 samples in batches of 4."""
    loader = {"drop_last": facts.pop("drop_last", False), "kind": facts.pop("kind", "wrapped"), "length": None}
    return lambda folder: job(folder, [[whole(batches, **facts)]], batch_size=4, **loader)


STREAM = {"kind": "iterable"}


@pytest.mark.parametrize(
    ("wrong", "expected", "right"),
    [
        pytest.param(ranks(*UNEVEN), ("COUNT-5", "other-steps"), ranks(*EVEN), id="other-steps"),
        pytest.param(
            one([[0, 1, 2, 3], [4]], steps=1), ("COUNT-4", "length"), one([[0, 1, 2, 3]], steps=1), id="len-that-lies"
        ),
        pytest.param(one([[0, 1, 2, 3, 4], [5]]), ("BATCH-1", "sizes"), one([[0, 1, 2, 3], [5]]), id="too-large"),
        pytest.param(
            one([[0, 1], [2, 3, 4, 5], [6]]), ("BATCH-2", "sizes"), one([[0, 1, 2, 3], [4, 5]]), id="too-small"
        ),
        pytest.param(
            one([[0, 1, 2, 3], [4]], drop_last=True),
            ("BATCH-2", "sizes"),
            one([[0, 1, 2, 3]], drop_last=True),
            id="kept",
        ),
        pytest.param(
            one([[0]], how="error: RuntimeError: DataLoader worker (pid 7) is killed by signal: Killed."),
            ("COUNT-7", "worker-died"),
            one([[0]], how="left"),
            id="a-worker-died",
        ),
        pytest.param(
            one([[0]], how="error: ValueError: no such file"),
            ("COUNT-7", "failed"),
            one([[0]], how="steps"),
            id="failed",
        ),
    ],
)
def test_a_fault_is_found_and_its_neighbour_is_not(
    tmp_path: Path, wrong: Job, expected: tuple[str, str], right: Job
) -> None:
    """One finding for the one, none for the other."""
    assert [expected] == found(audited(wrong(tmp_path / "wrong")))
    assert [] == found(audited(right(tmp_path / "right")))


CAUGHT = """error: ValueError: Caught ValueError in DataLoader worker process 2.
Original Traceback (most recent call last):
  File "/venv/torch/utils/data/_utils/worker.py", line 349, in _worker_loop
    data = fetcher.fetch(index)
  File "/home/me/train.py", line 12, in __getitem__
    return torn(index)
  File "/venv/lib/python3.12/site-packages/torn/__init__.py", line 3, in torn
    raise torn.Torn("sample 7 is torn")
torn.Torn: sample 7 is torn
  (7 of 9 bytes)
"""


def test_what_a_worker_raised_is_told_by_the_end_of_its_words(tmp_path: Path) -> None:
    """The worker did not die, and the user's line in which it raised is shown."""
    verdict = audited(one([[0]], how=CAUGHT)(tmp_path))
    (finding,) = verdict.findings
    assert "worker 2 of rank 0 raised after 1 step: torn.Torn: sample 7 is torn" == finding.sentence
    assert ('File "/home/me/train.py", line 12, in __getitem__',) == finding.excerpt


def test_the_crash_that_came_first_is_told(tmp_path: Path) -> None:
    """The loop did not leave the epoch of its own will; what other ranks raise is that this one has gone."""
    for rank, why in ((1, "ValueError: loss is nan"), (0, "RuntimeError: closed by peer")):
        recorder = start(tmp_path, [whole([[rank]], how="left")], rank, 2, close=False)
        recorder.say("crash", {"loader": 0, "epoch": 0, "why": why, "time": 2 - rank})
        recorder.close()
    verdict = audited(tmp_path)
    assert ([], {"crash"}) == (found(verdict), told(verdict))
    note = verdict.groups[0].notes[0].sentence
    assert "with an exception after 1 step on rank 1 (then on rank 0): ValueError: loss is nan." in note


def test_the_step_at_which_a_job_hangs_is_told(tmp_path: Path) -> None:
    """The rank with fewer steps has ended; the other one waits, and its epoch has no end in the record."""
    start(tmp_path, [whole(UNEVEN[0][:4], how="")], 0, 2, length=32, close=False)
    start(tmp_path, [whole(UNEVEN[1])], 1, 2, length=32)
    verdict = audited(tmp_path)
    assert [("COUNT-5", "other-steps")] == found(verdict)
    told_of = (
        "rank 1 had 3 steps, and rank 0 had 4: if ranks meet at each step, as under DDP, a collective in a step beyond"
    )
    assert f"{told_of} 3 waits forever, or is paired with one of the next epoch" == verdict.findings[0].sentence
    assert any("rank 0 was cut" in note for note in verdict.notes)


def test_what_a_step_too_many_does_is_not_hedged_where_ranks_are_a_group(tmp_path: Path) -> None:
    """They made a process group, so that they meet; and steps are counted as in the rest of the block."""
    for rank in range(2):
        recorder = start(
            tmp_path,
            [whole(UNEVEN[rank]), whole(cut(range(16 * rank, 16 + 16 * rank), 4))],
            rank,
            2,
            length=32,
            close=False,
        )
        recorder.hello({"rank": rank, "world_size": 2, "groups": []})
        recorder.close()
    (finding,) = audited(tmp_path).findings
    told_of = "rank 1 had 3 steps, and rank 0 had 5 in epoch 0: a collective in a step beyond 3 (DDP has one in each "
    assert f"{told_of}backward()) waits forever, or is paired with one of the next epoch" == finding.sentence


def test_smaller_batches_of_a_map_style_loader_are_told(tmp_path: Path) -> None:
    """A batch sampler of the user's own may end each of its buckets."""
    verdict = audited(one([[0, 1], [2, 3, 4, 5], [6]], kind="map")(tmp_path))
    assert ([], {"sizes"}) == (found(verdict), told(verdict))


def test_processes_that_are_no_ranks_wait_for_nobody(tmp_path: Path) -> None:
    """Two of them that live side by side may have other steps, or the same samples."""
    one, other = (start(tmp_path, [], None, length=20, close=False) for _ in range(2))
    for recorder, steps in ((one, UNEVEN[0]), (other, UNEVEN[0][:3])):
        epoch = recorder.epoch(0, {})
        for step in steps:
            recorder.batch(0, epoch, step)
        recorder.end_of_epoch(0, epoch, "whole")
    one.close()
    other.close()
    assert [] == found(audited(tmp_path))


def test_other_steps_in_an_evaluation_are_told(tmp_path: Path) -> None:
    """No optimizer waits there."""
    parts = [[whole(part, no_grad=True)] for part in UNEVEN]
    verdict = audited(job(tmp_path, parts, length=32))
    assert ([], {"other-steps"}) == (found(verdict), told(verdict))


def test_each_worker_of_an_iterable_dataset_has_its_own_last_batch(tmp_path: Path) -> None:
    """Two smaller batches of two workers are right, and three are not."""
    parts = [[[0, 1, 2, 3], [4]], [[5, 6, 7, 8], [9]]]
    verdict = audited(job(tmp_path / "right", [[of_workers(parts)]], batch_size=4, **STREAM))
    assert [] == found(verdict)
    parts[0].append([10])
    verdict = audited(job(tmp_path / "wrong", [[of_workers(parts)]], batch_size=4, **STREAM))
    assert [("BATCH-2", "sizes")] == found(verdict)


def test_several_records_that_were_cut_are_told_as_several(tmp_path: Path) -> None:
    """A job that hangs is ended on all ranks, or goes on while it is judged; of other ends the first is told."""
    for rank in range(2):
        start(tmp_path, [whole(EVEN[rank], how="")], rank, 2, close=False)
    whose = "the records of rank 0 and rank 1 were cut, or are still being written"
    assert f"{whose} (they have no closing frame): what came after that is not judged" == audited(tmp_path).notes[0]
    path = next(path for path in files(tmp_path) if b'"rank":0' in path.read_bytes())
    path.write_bytes(path.read_bytes()[:-1])
    assert audited(tmp_path).notes[0].startswith(f"{whose} (that of rank 0: its last frame, at byte ")


def test_ranks_that_never_came_are_the_first_line(tmp_path: Path) -> None:
    """WORLD_SIZE is what the job said, and what did not come is not missing."""
    start(tmp_path, [whole(EVEN[0])], 0, 3, length=32)
    start(tmp_path, [whole(EVEN[1])], 1, 3, length=32)
    verdict = audited(tmp_path)
    assert [] == found(verdict)
    told_of = "WORLD_SIZE said 3, and 2 ranks came: nothing is known of rank 2: if other nodes have records of theirs, "
    assert f"{told_of}audit all of them together, in one folder" == verdict.notes[0]


def test_a_loader_that_is_never_iterated_is_told(tmp_path: Path) -> None:
    """It was made, and that is all."""
    start(tmp_path, [])
    verdict = audited(tmp_path)
    assert ({"never-iterated"}, False, 3) == (told(verdict), verdict.recorded, verdict.exit_code)


def test_an_empty_folder_has_no_record(tmp_path: Path) -> None:
    """Nothing recorded is no success."""
    assert 3 == audited(tmp_path).exit_code


def test_workers_that_gave_nothing_are_told(tmp_path: Path) -> None:
    """Fewer shards than workers cost time, and no sample."""
    epoch = of_workers([[[0, 1]], [[2, 3]]])
    verdict = audited(job(tmp_path, [[epoch]], num_workers=4, **STREAM))
    assert ([], {"idle-workers"}) == (found(verdict), told(verdict))


def test_an_accepted_finding_is_told_with_its_reason(tmp_path: Path) -> None:
    """It is no finding any more, and the exit code is that of a record without it."""
    verdict = audited(ranks(*UNEVEN)(tmp_path))
    accepted = verdict.without(verdict.findings[0], "trained under join()")
    assert (1, 0) == (verdict.exit_code, accepted.exit_code)
    assert any("COUNT-5 is accepted (trained under join())" in note.sentence for note in accepted.groups[0].notes)


def test_what_a_run_was_limited_to_is_told_in_its_words(tmp_path: Path) -> None:
    """The seconds that were asked for, and not the moment at which they were over."""
    recorder = start(tmp_path, [whole(EVEN[0], how="steps")], close=False)
    recorder.say("limit", {"seconds": 20.0})
    recorder.close()
    assert "the run was limited to 20 seconds: what comes later is not judged" in audited(tmp_path).notes


def test_a_loader_that_shares_samples_with_an_earlier_one_of_its_line_says_so(tmp_path: Path) -> None:
    """A curriculum makes a loader in each of its phases."""
    recorder = start(tmp_path, [], close=False)
    for phase in (1, 2):
        shared = [{"loader": 1, "shared": 4, "same": False, "some": [0]}] if phase == 2 else []
        facts = {"file": "train.py", "line": 9, "kind": "map", "ids": "index", "length": 8, "subset": 4 * phase}
        number = recorder.loader({**facts, "subset_print": str(phase), "overlap": shared})
        epoch = recorder.epoch(number, {})
        recorder.batch(number, epoch, list(range(4 * phase)), None)
        recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    said = [note.sentence for group in audited(tmp_path).groups for note in group.notes if note.key == "overlap"]
    assert ["4 samples are in this loader and in an earlier one of this line: 0, ..."] == said


def test_batches_that_the_loop_still_had_are_told(tmp_path: Path) -> None:
    """How many, and by what; one that was kept to be looked at is let pass."""
    for name, steps in (("wrong", [[0, 2], [1, 3]]), ("right", [[0, 2]])):
        at = start(tmp_path / name, [whole(cut(range(16), 4), how="")], length=16, close=False)
        at.say("written_over", {"loader": 0, "epoch": 0, "steps": steps})
        at.end_of_epoch(0, 0, "whole")
        at.close()
    assert [] == found(audited(tmp_path / "right"))
    (finding,) = audited(tmp_path / "wrong").findings
    told_of = "step 2 was written into the memory of step 0, which the loop still had; so it went with 2 of 4 steps"
    assert ("WORK-16", told_of) == (finding.id, finding.sentence)


def test_samples_that_have_no_row_are_told(tmp_path: Path) -> None:
    """Over all ranks together; whether that is meant nobody knows."""
    for rank in range(2):
        at = start(
            tmp_path, [whole(cut(range(rank, 16, 2), 4), how="")], length=16, rank=rank, world_size=2, close=False
        )
        at.say("lacking", {"loader": 0, "epoch": 0, "samples": 2})
        at.end_of_epoch(0, 0, "whole")
        at.close()
    report = audited(tmp_path)
    said = [note.sentence for group in report.groups for note in group.notes if note.key == "lacking"]
    told = "no row came for 4 of 16 samples that were drawn: does the collate function leave some out?"
    assert ([], [told]) == (found(report), said)
