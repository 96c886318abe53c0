"""Samples that are known by a name: what is trained on and evaluated is found by it, and copies are no loss."""

from pathlib import Path
from typing import Any

import pytest

from conformance.records.content import digest
from conformance.records.writer import Recorder
from tests.harness.audit.jobs import LINE, LOOP, Steps, audited, cut, found, job, start, told, whole

Ids = list[int] | list[str]
NAMED = {"ids": "named", "named": "field case"}
ONE = {"dataset": 0, "dataset_print": "one", "length": 60}


def trains_and_evaluates(folder: Path, train: Ids, val: Ids, how: str = "whole", **other: Any) -> Path:
    """A start of a job, whose evaluation differs in these facts from its training."""
    recorder = Recorder(folder)
    recorder.hello({"rank": 0, "world_size": 1})
    for line, names, phase, facts in ((9, train, {}, {}), (10, val, {"no_grad": True}, other)):
        number = recorder.loader(
            {**LINE, **NAMED, **ONE, "line": line, "subset": len(names), "subset_print": str(line), **facts}
        )
        epoch = recorder.epoch(number, {**LOOP, **phase})
        for step in cut(names, 4):
            recorder.batch(number, epoch, [_id(recorder, each) for each in step])
        recorder.end_of_epoch(number, epoch, "whole" if phase else how)
    recorder.close()
    return folder


def _id(recorder: Recorder, name: Any) -> Any:
    if isinstance(name, int):
        return name
    recorder.text(digest(name), name)
    return digest(name)


OTHER = {"dataset": 1, "dataset_print": "other", "length": 20}
PATHS = [[f"/data/{each}.png" for each in some] for some in (range(40), range(35, 50))]


@pytest.mark.parametrize(
    ("train", "val", "facts", "which"),
    [
        pytest.param([*range(40)], [*range(35, 50)], {}, "35, 36, 37, ...", id="one-dataset"),
        pytest.param([*range(40), 5], [5, 5, 50], {}, "5", id="copies-on-both-sides"),
        pytest.param([*range(100, 140)], [*range(135, 150)], OTHER, "135, 136, 137, ...", id="one-numbering"),
        pytest.param(*PATHS, OTHER, "/data/", id="paths"),
    ],
)
def test_what_is_trained_on_is_found_by_its_name(
    tmp_path: Path, train: Ids, val: Ids, facts: dict[str, Any], which: str
) -> None:
    """Whether or not the indices are others."""
    findings = audited(trains_and_evaluates(tmp_path, train, val, **facts)).findings
    (split,) = [finding for finding in findings if finding.id == "SPLIT"]
    assert (10, True) == (split.line, f"trained on at line 9: {which}" in split.sentence)
    assert "evaluated here (by case)" in split.sentence


@pytest.mark.parametrize(
    ("train", "val", "facts"),
    [
        pytest.param([*range(40)], [*range(20)], {}, id="a-part-of-the-training"),
        pytest.param([*range(0, 40, 2)], [*range(1, 30, 3)], OTHER, id="each-counts-anew"),
        pytest.param([f"{each:06}" for each in range(40)], [f"{each:06}" for each in range(20, 50)], OTHER, id="texts"),
        pytest.param([*range(30)], [*range(20, 50)], {"how": "left"}, id="a-training-that-was-left"),
        pytest.param([*range(40)], [*range(35, 50)], {"subset_print": "9", "subset": 40}, id="the-same-samples"),
    ],
)
def test_what_may_be_right_is_told(tmp_path: Path, train: Ids, val: Ids, facts: dict[str, Any]) -> None:
    """What it depends on is said."""
    verdict = audited(trains_and_evaluates(tmp_path, train, val, **facts))
    assert (False, True) == ("SPLIT" in dict(found(verdict)), "names" in told(verdict))


def test_folds_by_name_are_right(tmp_path: Path) -> None:
    """Each fold has a model of its own, and loaders that are made anew at the same lines."""
    recorder = Recorder(tmp_path)
    recorder.hello({"rank": 0, "world_size": 1})
    for fold in range(3):
        val = [*range(fold * 4, fold * 4 + 4)]
        for line, names, facts in ((9, [each for each in range(12) if each not in val], {}), (10, val, {"eval": True})):
            more = {"subset": len(names), "subset_print": f"{line} {fold}"}
            number = recorder.loader({**LINE, **NAMED, **ONE, "line": line, **more})
            epoch = recorder.epoch(number, {**LOOP, **facts})
            recorder.batch(number, epoch, names)
            recorder.end_of_epoch(number, epoch, "whole")
    recorder.close()
    verdict = audited(tmp_path)
    assert ([], False) == (found(verdict), "names" in told(verdict))


def test_indices_that_overlap_are_told_by_their_names(tmp_path: Path) -> None:
    """The user asked for these."""
    shared = [{"loader": 0, "shared": 2, "same": False, "some": [7, 8]}]
    (finding,) = audited(trains_and_evaluates(tmp_path, [*range(40)], [38, 39, 40], overlap=shared)).findings
    assert finding.sentence.startswith("2 samples (by case) are in this loader and in that of line 9: 38, 39;")


COPIES: list[Steps] = [[[1, 2, 3, 4], [1, 5]], [[5, 1, 2, 3], [4, 1]]]
TEXTS: list[Steps] = [[[f"case {each}" for each in step] for step in epoch] for epoch in COPIES]


@pytest.mark.parametrize("epochs", [COPIES, TEXTS])
def test_copies_are_no_loss(tmp_path: Path, epochs: list[Steps]) -> None:
    """Six samples came, of which two have one name: none of six is known to be missing."""
    verdict = audited(job(tmp_path, [[whole(steps) for steps in epochs]], length=6, batch_size=4, **NAMED))
    (finding,) = verdict.findings
    assert ("PART-1", "again") == (finding.id, finding.key)
    why = "the dataset holds copies of them, the sampler repeats them, or they came in place of others"
    assert finding.sentence.endswith(f"; {why} (then 1 sample never came)")


def test_names_of_one_sample_each_are_counted(tmp_path: Path) -> None:
    """What came once only, and is less than the dataset has, leaves some out."""
    verdict = audited(job(tmp_path, [[whole([[1, 2, 3, 4]])] * 1], length=6, batch_size=4, **NAMED))
    assert [("PART-2", "lost")] == found(verdict)


def test_a_restart_among_copies_is_not_judged(tmp_path: Path) -> None:
    """What it skipped may be what the dataset holds twice."""
    for steps, how in (([[1, 1, 2, 3]], ""), ([[2, 4]], "whole")):
        start(tmp_path, [whole(steps, how=how)], None, length=6, batch_size=4, **NAMED)
    verdict = audited(tmp_path)
    assert "RESUME-1" not in dict(found(verdict))
    assert any("several samples have one name" in note.sentence for note in verdict.groups[0].notes)


def test_folds_whose_loaders_one_line_makes_are_no_split(tmp_path: Path) -> None:
    """A function makes the loader of each part of each fold: what one fold evaluates another one trains on."""
    recorder = Recorder(tmp_path)
    recorder.hello({"rank": 0, "world_size": 1})
    for at, names in enumerate(([*range(20)], [*range(20, 30)], [*range(25, 45)], [*range(10)])):
        recorder.loader({**LINE, **NAMED, **ONE, "subset": len(names), "subset_print": str(at)})
        epoch = recorder.epoch(at, {**LOOP, "no_grad": at % 2 == 1})
        for step in cut(names, 4):
            recorder.batch(at, epoch, step)
        recorder.end_of_epoch(at, epoch, "whole")
    recorder.close()
    assert "SPLIT" not in {clause for clause, _ in found(audited(tmp_path))}
