"""Loaders that one line made: those that look alike are numbered, so that it can be said which is meant."""

from pathlib import Path

from tests.harness.audit.jobs import LINE, audited, start, whole
from tests.harness.audit.test_restarts import A, B


def test_loaders_of_one_line_that_look_alike_are_numbered(tmp_path: Path) -> None:
    """Folds have one line, and one size."""
    recorder = start(tmp_path, [whole(A)], length=40, close=False, subset_print="fold 0")
    for fold in range(1, 3):
        loader = recorder.loader({**LINE, "length": 40, "subset_print": f"fold {fold}"})
        epoch = recorder.epoch(loader, {})
        for step in B:
            recorder.batch(loader, epoch, step)
        recorder.end_of_epoch(loader, epoch, "whole")
    recorder.close()
    title = "DataLoader   40 samples, 1 rank, 1 epoch seen whole, no. {} of the 3 that this line made"
    assert [title.format(number) for number in (1, 2, 3)] == [group.title for group in audited(tmp_path).groups]
