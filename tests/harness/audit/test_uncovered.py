"""Samples that are in no rank's subset: a few are named, and a split is not told so."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import LINE, audited, cut, found, start
from tests.harness.audit.test_samples import order


def parts(folder: Path, of: list[range], n: int = 98, other: bool = False, **loader: Any) -> list[str]:
    """What is told of a job whose ranks each have a part of one dataset, which they shuffle themselves."""
    for rank, part in enumerate(of):
        epochs = [[part[at] for at in order(len(part), seed)] for seed in range(2)]
        facts = {"length": n, "dataset_print": "one", "subset": len(part), "subset_print": f"part {part}", **loader}
        told = [{"steps": cut(each, 8), "workers": None, "how": "whole", "facts": {}} for each in epochs]
        recorder = start(folder, told, rank, len(of), close=False, batch_size=8, **facts)
        if other:
            at = recorder.loader({**LINE, "line": 20, "length": n, "dataset_print": "one"})
            recorder.batch(at, recorder.epoch(at, {}), [96, 97])
        recorder.close()
    verdict = audited(folder)
    assert [] == found(verdict)
    return [note.sentence for group in verdict.groups for note in group.notes if note.key == "in-no-subset"]


def chunks(size: int) -> list[range]:
    """Three parts of one size."""
    return [range(rank * size, (rank + 1) * size) for rank in range(3)]


def test_a_few_samples_that_no_subset_has_are_named(tmp_path: Path) -> None:
    """A chunk of `n // world_size` leaves out the end."""
    (sentence,) = parts(tmp_path, chunks(32))
    assert sentence.startswith("2 of 98 samples are in no rank's subset: 96 and 97 (the rest of a division of the")


@pytest.mark.parametrize(
    ("of", "facts"),
    [
        pytest.param(chunks(32), {"n": 96}, id="all-are-in-one"),
        pytest.param(chunks(24), {}, id="a-split-leaves-out-more"),
        pytest.param(chunks(32), {"other": True}, id="another-loader-reads-them"),
    ],
)
def test_what_is_a_part_on_purpose_is_not_told(tmp_path: Path, of: list[range], facts: dict[str, Any]) -> None:
    """Nothing is left out, or more than a rest is, or elsewhere it is read."""
    assert [] == parts(tmp_path, of, **facts)
