"""Splits over the starts of a job: one that is drawn anew is found, and a start for each fold is not accused."""

import time
from pathlib import Path
from typing import Any

import pytest

from conformance.records.writer import Recorder
from tests.harness.audit.jobs import LINE, LOOP, audited, cut, found, told
from tests.harness.audit.test_samples import order

Split = tuple[list[int], list[int]]  # what is trained on, and what evaluates
ALL = order(40)
FIRST, ANEW = (ALL[:32], ALL[32:]), ([*ALL[:4], *ALL[12:]], ALL[4:12])
FOLDS = [([each for each in range(40) if each % 5 != fold], list(range(fold, 40, 5))) for fold in range(5)]


def life(folder: Path, *splits: Split, loaded: list[float] | None = None, data: str = "d", **first: Any) -> float:
    """A start of a job that trains and evaluates by some splits in turn, and the moment when it has stored a state."""
    recorder = Recorder(folder)
    recorder.hello({"rank": 0, "world_size": 1})
    for at, (name, facts) in enumerate((("train", {}), ("val", {"no_grad": True}))):
        line = {**LINE, "line": 9 + at, "dataset": 0, "dataset_print": data, "length": 40, "batch_size": 4}
        number = recorder.loader({**line, "subset": len(splits[0][at])})
        for split in splits:
            epoch = recorder.epoch(number, {**LOOP, **facts, "loaded": loaded, **(first if name == "train" else {})})
            for step in cut(split[at], 4):
                recorder.batch(number, epoch, step)
            if name == "train":
                recorder.say("stepped", {"loader": number, "epoch": epoch, "at": [1, 2]})
            recorder.end_of_epoch(number, epoch, "whole")
    stored = time.time()
    recorder.close()
    return stored


def test_a_split_that_is_drawn_anew_at_a_restart_is_found(tmp_path: Path) -> None:
    """The restart goes on with a checkpoint that the start before it wrote."""
    life(tmp_path, ANEW, loaded=[life(tmp_path, FIRST)])
    (finding,) = audited(tmp_path).findings
    text = "of 8 samples that are evaluated here after restart 1, 8 were trained on before it at line 9"
    shown = ", ".join(map(str, sorted(ALL[4:12])[:3]))
    assert f"{text} ({shown}, ...): each start splits again" == finding.sentence
    assert ("SPLIT", 10) == (finding.id, finding.line)
    assert "manual_seed(0)" in finding.advice


def test_a_split_before_the_last_start_counts_as_well(tmp_path: Path) -> None:
    """The model has learnt from all of them."""
    first = life(tmp_path, FIRST)
    second = life(tmp_path, FIRST, loaded=[first])
    life(tmp_path, ANEW, loaded=[second])
    (finding,) = audited(tmp_path).findings
    assert "after restart 2, 8 were trained on" in finding.sentence


@pytest.mark.parametrize(
    "lives",
    [
        pytest.param([[FIRST], [FIRST]], id="split-alike"),
        pytest.param([[FOLDS[0], FOLDS[1]], [FOLDS[1], FOLDS[2]]], id="folds-in-turn"),
        pytest.param([[FOLDS[0]], [FOLDS[0], FOLDS[1], FOLDS[2]]], id="folds-after-the-restart"),
        pytest.param([[(ALL, ALL[:8])], [(ALL, ALL[8:16])]], id="what-is-trained-on-is-evaluated"),
        pytest.param([[(ALL[:16], ALL[32:])], [(ALL[16:30], ALL[32:])]], id="more-to-train-on"),
    ],
)
def test_who_evaluates_as_before_is_right(tmp_path: Path, lives: list[list[Split]]) -> None:
    """Also folds, which a start trains on in turn."""
    stored = [life(tmp_path, *lives[0])]
    life(tmp_path, *lives[1], loaded=stored)
    verdict = audited(tmp_path)
    assert [] == [clause for clause, _ in found(verdict) if clause == "SPLIT"]
    assert "other-start" not in told(verdict)


def test_a_start_for_each_fold_is_told(tmp_path: Path) -> None:
    """No start is known to go on with the model of another one: what it depends on is said."""
    for fold in FOLDS:
        life(tmp_path, fold)
    verdict = audited(tmp_path)
    assert ([], True) == (found(verdict), "other-start" in told(verdict))
    (note,) = [note for note in verdict.groups[1].notes if note.key == "other-start"]
    assert "wrong if it continues with the model (then seed the split, or save it)" in note.sentence


def test_a_fold_that_is_restarted_goes_on_with_itself_alone(tmp_path: Path) -> None:
    """The checkpoint was written by the start before, which began with a model of its own."""
    life(tmp_path, FOLDS[0])
    life(tmp_path, FOLDS[1], loaded=[life(tmp_path, FOLDS[1])])
    assert [] == found(audited(tmp_path))


def test_a_checkpoint_of_another_job_is_no_earlier_start(tmp_path: Path) -> None:
    """It was written before the record begins."""
    pretrained = time.time()
    for fold in FOLDS[:2]:
        life(tmp_path, fold, loaded=[pretrained])
    assert [] == found(audited(tmp_path))


def test_an_index_of_another_dataset_is_another_sample(tmp_path: Path) -> None:
    """The data have changed between the starts."""
    life(tmp_path, ANEW, loaded=[life(tmp_path, FIRST)], data="other")
    verdict = audited(tmp_path)
    assert ([], False) == (found(verdict), "other-start" in told(verdict))


Read = tuple[int, list[int], bool]  # the line, the part that it reads, and whether that is trained on


def in_turn(folder: Path, *reads: Read, subset: bool = True) -> list[str]:
    """What is found of a job that makes dataset, split and loader again for each of these epochs."""
    recorder = Recorder(folder)
    recorder.hello({"rank": 0, "world_size": 1})
    for at, (line, part, trains) in enumerate(reads):
        made = {**LINE, "line": line, "dataset": at, "dataset_print": "d", "length": 40, "batch_size": 4}
        which = {"subset": len(part), "subset_print": str(sorted(part))}
        number = recorder.loader({**made, **which} if subset else made)
        epoch = recorder.epoch(number, {**LOOP} if trains else {**LOOP, "no_grad": True})
        for step in cut(part, 4):
            recorder.batch(number, epoch, step)
        if trains:
            recorder.say("stepped", {"loader": number, "epoch": epoch, "at": [1, 2]})
        recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    return [each.sentence for each in audited(folder).findings if each.id == "SPLIT"]


def test_a_split_that_is_drawn_again_for_the_test_is_found(tmp_path: Path) -> None:
    """As by a data module whose `setup` draws it, which is called for the fit and for the test."""
    (told,) = in_turn(tmp_path, (9, ALL[:28], True), (10, ALL[28:34], False), (11, ALL[24:32], False))
    shown = ", ".join(map(str, sorted(ALL[24:28])[:3]))
    assert f"of 8 samples that are evaluated here 4 were trained on before, at line 9 ({shown}, ...)" == told


@pytest.mark.parametrize(
    "reads",
    [
        pytest.param([(9, ALL[:32], True), (10, ALL[32:], False)], id="split-once"),
        pytest.param([(9, ALL[:32], True), (10, ALL[8:16], False)], id="what-is-trained-on-is-evaluated"),
        pytest.param([(10, ALL[28:36], False), (9, ALL[:32], True)], id="evaluated-before"),
        pytest.param(
            [(9, ALL[:20], True), (10, ALL[20:], False), (9, ALL[20:], True), (10, ALL[:20], False)], id="folds"
        ),
        pytest.param([(9, ALL[:20], True), (9, ALL[10:30], True), (10, ALL[20:], False)], id="held-out-of-the-first"),
    ],
)
def test_who_evaluates_what_its_model_has_not_seen_is_right(tmp_path: Path, reads: list[Read]) -> None:
    """And who evaluates samples that were all trained on means to."""
    assert [] == in_turn(tmp_path, *reads)


def test_equal_datasets_are_the_same_where_both_are_split(tmp_path: Path) -> None:
    """Two whole datasets with one print may hold other samples, as those that are made at random."""
    assert [] == in_turn(tmp_path, (9, ALL[:28], True), (11, ALL[24:32], False), subset=False)


def test_an_evaluation_of_what_is_trained_on_is_told(tmp_path: Path) -> None:
    """All of it, at a line that trains on more; whether that is meant nobody knows."""
    for name, split in (("part", (ALL, ALL[:8])), ("apart", FIRST), ("whole", (ALL, ALL))):
        life(tmp_path / name, split)
    verdict = audited(tmp_path / "part")
    said = [note.sentence for group in verdict.groups for note in group.notes if note.key == "all-trained-on"]
    assert ([], ["all 8 samples that are evaluated here are trained on, at line 9"]) == (found(verdict), said)
    assert not any("all-trained-on" in told(audited(tmp_path / name)) for name in ("apart", "whole"))
