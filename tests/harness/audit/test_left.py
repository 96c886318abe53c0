"""Loops that leave every epoch early: of how many steps is told, and what came in none of the epochs."""

from pathlib import Path
from typing import Any

import pytest

from conformance.audit.verdict import Verdict
from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole
from tests.harness.audit.test_samples import order


def left(seed: int, steps: int = 5, **facts: Any) -> dict[str, Any]:
    """An epoch of ten steps that the loop leaves."""
    return whole(cut(order(40, seed), 4)[:steps], how="left", **{"steps": 10, **facts})


def said(verdict: Verdict, key: str) -> str:
    """What a note of this kind says."""
    return next(note.sentence for note in verdict.groups[0].notes if note.key == key)


def test_a_loop_that_leaves_each_epoch_early_is_told_with_what_never_came(tmp_path: Path) -> None:
    """Another order each time: how many samples no epoch came to is counted."""
    verdict = audited(job(tmp_path, [[left(seed) for seed in range(3)]], length=40))
    never = 40 - len({sample for seed in range(3) for sample in order(40, seed)[:20]})
    assert [] == found(verdict)
    assert "left by the loop after 5 of 10 steps in each epoch: what did not come is not judged" == said(
        verdict, "not-whole-left"
    )
    expected = f"{never} samples of 40 came in none of 3 epochs, as the loop left each early: right if they are meant"
    assert f"{expected} to be so short" == said(verdict, "left-early")


@pytest.mark.parametrize(
    ("facts", "expected"),
    [({"steps": 10}, "5 of 10 steps"), ({"steps": 5}, "5 of 5 steps"), ({"steps": 4}, "5 steps"), ({}, "5 steps")],
)
@pytest.mark.parametrize("kind", ["map", "iterable"])
def test_len_is_named_where_it_can_be_right(tmp_path: Path, facts: dict[str, int], expected: str, kind: str) -> None:
    """One that is less than what came, or none, says nothing; that of an iterable dataset may be that of all ranks."""
    epoch = whole(cut(order(40), 4)[:5], how="left", **facts)
    verdict = audited(job(tmp_path, [[epoch]], kind=kind))
    expected = expected if kind == "map" else "5 steps"
    assert f"left by the loop after {expected}: what did not come is not judged" == said(verdict, "not-whole-left")


@pytest.mark.parametrize(
    ("epochs", "loader"),
    [
        pytest.param([left(seed) for seed in range(12)], {}, id="all-came"),
        pytest.param([left(0)], {}, id="one-epoch"),
        pytest.param([left(seed) for seed in range(3)], {"replacement": True}, id="drawn-with-replacement"),
        pytest.param([left(seed, no_grad=True) for seed in range(3)], {}, id="an-evaluation"),
        pytest.param([left(0), whole(cut(order(40, 1), 4)), left(2)], {}, id="one-was-read-whole"),
        pytest.param([left(seed) for seed in range(3)], {"length": None}, id="nobody-knows-how-many"),
    ],
)
def test_what_may_come_or_is_not_known_is_not_counted(
    tmp_path: Path, epochs: list[dict[str, Any]], loader: dict[str, Any]
) -> None:
    """The note is about samples that no epoch of several had."""
    assert "left-early" not in told(audited(job(tmp_path, [epochs], **{"length": 40, **loader})))


@pytest.mark.parametrize("seeds", [(0, 0, 0), (0, 1, 2)])
def test_names_that_are_texts_are_counted_as_well(tmp_path: Path, seeds: tuple[int, ...]) -> None:
    """They came, whether they are numbers or not."""
    steps = [[[f"sample {each}" for each in step] for step in cut(order(40, seed), 4)[:9]] for seed in seeds]
    epochs = [whole(each, how="left", steps=10) for each in steps]
    verdict = audited(job(tmp_path, [epochs], length=40, ids="named"))
    never = 40 - len({name for each in steps for step in each for name in step})
    sentences = [each.sentence for group in verdict.groups for each in (*group.findings, *group.notes)]
    assert (never > 0) == any(f"{never} sample" in each and "came in none of 3 epochs" in each for each in sentences)


def test_ranks_with_subsets_of_their_own_are_not_counted_by_the_first(tmp_path: Path) -> None:
    """What one rank's subset has is not what all have."""
    for rank in range(2):
        part = [whole(cut(order(20, seed), 4)[:3], how="left") for seed in (0, 0)]
        start(tmp_path, part, rank, 2, length=40, subset=30, subset_print=f"p{rank}")
    assert {"left-early", "never-reached"}.isdisjoint(
        {*told(audited(tmp_path)), *(k for _, k in found(audited(tmp_path)))}
    )
