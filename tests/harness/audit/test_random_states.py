"""Random states: who begins alike and draws is found, and told to be the cause of what several readers gave."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, told, whole
from tests.harness.audit.test_samples import LETTERS, order


def states(*prints: str, drew: list[str] | None = None, library: str = "numpy") -> dict[str, Any]:
    """What each worker's random state was at the start."""
    random = {worker: {library: one} for worker, one in enumerate(prints)}
    return {"random": random, "drew": ["numpy", "dataset.rng"] if drew is None else drew}


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [
        ([[states("a", "a")]], [("WORK-8", "random-workers")]),
        ([[states("a", "b")], [states("a", "c")]], [("WORK-9", "random-ranks")]),
        ([[states("a", "b"), states("a", "c")]], [("WORK-10", "random-epochs")]),
        ([[states("a", "a", library="dataset.rng")]], [("WORK-8", "random-workers")]),
        ([[states("a", "b"), states("c", "d")], [states("e", "f"), states("g", "h")]], []),
        ([[states("a", "a", drew=[])]], []),
        ([[states("a", "a", drew=["torch"])]], []),
    ],
)
def test_random_states_that_are_alike_are_found_if_they_are_drawn_from(
    tmp_path: Path, ranks: list[list[dict[str, Any]]], expected: list[tuple[str, str]]
) -> None:
    """Between workers, ranks, and epochs."""
    parts = [
        [whole(cut(order(8, epoch)[rank :: len(ranks)], 2), **told) for epoch, told in enumerate(of)]
        for rank, of in enumerate(ranks)
    ]
    assert expected == found(audited(job(tmp_path, parts)))


def test_draws_of_the_first_epoch_alone_are_told(tmp_path: Path) -> None:
    """What they made may be kept; who draws now and then, or in another epoch first, has no such cache."""
    for name, draws, is_told in (("once", [1, 0, 0], True), ("again", [1, 0, 1], False), ("short", [1, 0], False)):
        drew = [["python"] if each else [] for each in draws]
        epochs = [whole(cut(order(8, at), 2), **states(str(at), drew=each)) for at, each in enumerate(drew)]
        verdict = audited(job(tmp_path / name, [epochs]))
        assert ([], is_told) == (found(verdict), "drawn-once" in told(verdict)), name


def test_an_evaluation_may_draw_the_same_in_each_epoch(tmp_path: Path) -> None:
    """It is to be compared with itself; the training is not."""
    epochs = [whole(cut(order(8), 2), **states("a", "b"), no_grad=True) for _ in range(2)]
    verdict = audited(job(tmp_path, [epochs]))
    assert ([], True) == (found(verdict), "random-epochs" in told(verdict))


def test_a_generator_of_the_datasets_is_made_in_the_worker(tmp_path: Path) -> None:
    """The advice names the attribute: seeding numpy does not repair it."""
    epoch = whole(cut(order(8), 2), **states("a", "a", library="dataset.rng"))
    (finding,) = audited(job(tmp_path, [[epoch]])).findings
    made = "get_worker_info().dataset.rng = numpy.random.default_rng(torch.initial_seed())"
    assert made in finding.advice


def test_samples_that_are_drawn_alike_have_one_cause(tmp_path: Path) -> None:
    """Workers that draw the same numbers give the same samples: that stands before what came twice."""
    drawn = [of_workers([cut(LETTERS, 4)] * 2, **states("a", "a", library="dataset.rng"))]
    verdict = audited(job(tmp_path / "one", [drawn], kind="iterable", ids="content"))
    assert [("WORK-8", "random-workers"), ("WORK-3", "all-read-all")] == found(verdict)
    assert "if samples are drawn at random, WORK-8 is the cause" in verdict.findings[1].sentence
    apart = [of_workers([cut(LETTERS, 4)] * 2, **states("a", "b", library="dataset.rng"))]
    (finding,) = audited(job(tmp_path / "other", [apart], kind="iterable", ids="content")).findings
    assert "cause" not in finding.sentence
