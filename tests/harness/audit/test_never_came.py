"""What never came, over several epochs: what is lost for good is named, and a tail of others each time is told."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, told, whole
from tests.harness.audit.test_samples import order

OWN = {"sampler": "Buckets", "own_batches": True, "batch_size": 4}


def lacking(*of: set[int], n: int = 80, **loader: Any) -> tuple[list[list[dict[str, Any]]], dict[str, Any]]:
    """A rank whose epochs lack these samples, and the facts of its loader."""
    epochs = [whole(cut([each for each in order(n, epoch) if each not in lost], 4)) for epoch, lost in enumerate(of)]
    return [epochs], {"length": n, **loader}


TAILS = {1, 2}, {3, 4}, {5, 6}
BUCKET = {1, 2, 70}, {3, 4, 70}, {5, 6, 70}


@pytest.mark.parametrize(
    ("of", "sentence", "excerpt"),
    [
        (
            (*BUCKET, {9, 70}),
            "1 sample of 80 came in none of 4 epochs, and 1 to 2 others were missing in each",
            "in no epoch: 70",
        ),
        (({7, 8},) * 2, "2 samples of 80 came in none of 2 epochs", "in no epoch: 7, 8"),
        ((set(range(9)),) * 3, "9 samples of 80 came in none of 3 epochs", "in no epoch: 0, 1, 2, 3, 4, 5, ..."),
        (
            ({7, 8}, {7, 9, 10}, set[int]()),
            "2 samples of 80 never came in 2 of 3 epochs (here epoch 0): others each time, as each of the 80 came in "
            "one of 3 epochs at least",
            "not in epoch 0: 7, 8",
        ),
    ],
)
def test_what_came_in_no_epoch_is_named(tmp_path: Path, of: Any, sentence: str, excerpt: str) -> None:
    """The list is of what is lost for good, and not of the first epoch alone."""
    ranks, loader = lacking(*of, **OWN)
    (finding,) = audited(job(tmp_path, ranks, **loader)).findings
    assert ("PART-2", sentence, (excerpt,)) == (finding.id, finding.sentence, finding.excerpt)


@pytest.mark.parametrize(
    ("of", "loader", "expected"),
    [
        pytest.param(TAILS, OWN, [], id="a-tail"),
        pytest.param(({1, 2, 70}, *BUCKET[:2], *TAILS), OWN, [], id="a-sample-came-late"),
        pytest.param(TAILS[:2], OWN, [("PART-2", "lost")], id="too-few-epochs"),
        pytest.param(TAILS, {"batch_size": 4}, [("PART-2", "lost")], id="a-sampler-of-samples"),
        pytest.param(tuple(set(range(at, 80, 3)) for at in range(3)), OWN, [("PART-2", "lost")], id="a-third"),
    ],
)
def test_a_tail_of_others_each_time_is_told(
    tmp_path: Path, of: Any, loader: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    """A batch sampler of the user's own drops what fills no batch."""
    ranks, facts = lacking(*of, **loader)
    verdict = audited(job(tmp_path, ranks, **facts))
    assert expected == found(verdict)
    assert (not expected) == ("tail" in told(verdict))


def test_a_sample_that_chance_leaves_out_of_all_epochs_is_no_loss(tmp_path: Path) -> None:
    """Of three tails of ten of eighty samples, one may be in all."""
    ranks, loader = lacking(*({0, *range(at, at + 9)} for at in (1, 11, 21)), **OWN)
    verdict = audited(job(tmp_path, ranks, **loader))
    assert [] == found(verdict)
    (note,) = [note for note in verdict.groups[0].notes if note.key == "tail"]
    told_of = (
        "10 samples of 80 never came in each epoch: a tail of others each time, by which 1 sample came in none of "
    )
    assert f"{told_of}3 epochs" == note.sentence


@pytest.mark.parametrize(
    ("lost", "shuffles", "expected"),
    [
        pytest.param([{7, 8, 9}] * 4, True, [("PART-2", "always-dropped")], id="the-same"),
        pytest.param([{7, 8, 9}] * 2, True, [], id="in-two-epochs"),
        pytest.param([{7, 8, 9}] * 4, False, [("ORDER-6", "same-order")], id="in-one-order"),
        pytest.param([{7, 8, 9}, {1, 2, 3}, {4, 5, 6}, {10, 11, 12}], True, [], id="others"),
        pytest.param([{7, 8, 9}, {7, 8, 10}, {7, 8, 11}], True, [], id="one-of-them-another"),
    ],
)
def test_what_is_dropped_is_another_sample_each_time(
    tmp_path: Path, lost: list[set[int]], shuffles: bool, expected: list[tuple[str, str]]
) -> None:
    """A rest that is cut off before the shuffle is the same one, and never trained on."""
    epochs = [[each for each in order(83, at * shuffles) if each not in those] for at, those in enumerate(lost)]
    ranks = [[whole(cut(epoch[rank::2], 4)) for epoch in epochs] for rank in range(2)]
    verdict = audited(job(tmp_path, ranks, length=83, batch_size=4, drop_last=True))
    assert expected == found(verdict)
    assert ("dropped" in told(verdict)) != (("PART-2", "always-dropped") in expected)
