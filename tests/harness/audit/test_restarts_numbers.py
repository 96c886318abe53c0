"""Restarts and the epoch's number: a sampler that was not told it is not believed; what came whole is no rest."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, found, whole
from tests.harness.audit.test_restarts import A, B, C, begun, starts


def numbered(steps: list[list[int]], number: int, **facts: object) -> dict[str, object]:
    """An epoch of which the sampler says this number."""
    return whole(steps, set_epoch=number, **facts)  # type: ignore[arg-type]


LEFT = {**numbered(B[:3], 1), "how": "left"}
LEFT_AGAIN = {**numbered(A[:5], 0, stepped=[4, 5]), "how": "left"}


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        pytest.param([numbered(A, 0, stepped=[4, 5]), numbered(C, 2)], ["RESUME-1"], id="the-next-one-is-2"),
        pytest.param([numbered(A, 0, stepped=[3, 4]), numbered(C, 2)], ["RESUME-1"], id="from-a-state-before-its-end"),
        pytest.param([numbered(A, 0, stepped=[4, 5])], ["RESUME-1"], id="the-last-epoch"),
        pytest.param([numbered(A, 0, stepped=[4, 6])], ["RESUME-1"], id="gradients-are-accumulated"),
        pytest.param([LEFT_AGAIN], ["RESUME-1"], id="stopped-again"),
        pytest.param([numbered(A, 0, stepped=[1, 2]), numbered(C, 2)], [], id="trained-on-again"),
        pytest.param([numbered(A, 0, stepped=[4, 5]), numbered(B, 1)], [], id="it-goes-back-to-a-state-of-epoch-0"),
        pytest.param([numbered(A, 0, stepped=[3, 4])], [], id="too-little-to-tell"),
        pytest.param([numbered(B, 0, stepped=[4, 5]), numbered(C, 2)], [], id="in-the-order-that-it-had"),
        pytest.param([numbered(B, 1, stepped=[4, 5]), numbered(C, 2)], [], id="right"),
    ],
)
def test_a_sampler_whose_epoch_was_not_set_after_a_restart_is_not_believed(
    tmp_path: Path, again: list[dict[str, object]], expected: list[str]
) -> None:
    """The epoch that was left is gone on with, in the order of epoch 0, where set_epoch comes after each epoch."""
    verdict = audited(starts(tmp_path, [numbered(A, 0), LEFT], again))
    assert expected == [clause for clause, _ in found(verdict)]
    assert all("in the order of epoch 0" in finding.sentence for finding in verdict.findings)


@pytest.mark.parametrize(
    ("again", "expected"),
    [
        pytest.param([whole(B[:9]), whole(C[:9])], "in each epoch", id="begun-again"),
        pytest.param([whole(B[4:9]), whole(C[:9])], "in 2 of 3 epochs", id="gone-on-with"),
        pytest.param([whole(B[1:9]), whole(C[:9])], "in 2 of 3 epochs", id="gone-on-with-after-a-step"),
    ],
)
def test_what_is_dropped_of_an_epoch_that_is_read_again_counts(
    tmp_path: Path, again: list[dict[str, object]], expected: str
) -> None:
    """An epoch that a restart began again came whole; of one that went on, the rest."""
    first = [whole(A[:9]), begun(B, 4 if again[0]["steps"] != B[1:9] else 1)]
    verdict = audited(starts(tmp_path, first, again, length=39, drop_last=True))
    (note,) = [note for note in verdict.groups[0].notes if note.key == "dropped"]
    assert expected in note.sentence
