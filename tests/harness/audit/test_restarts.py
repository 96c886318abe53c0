"""Epochs that another start of the job began: what was skipped is found, and who goes on rightly is not accused."""

from pathlib import Path

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, start, told, whole
from tests.harness.audit.test_orders import shuffled
from tests.harness.audit.test_samples import order

FULL = cut(order(40), 4)


@pytest.mark.parametrize(
    "epochs",
    [
        pytest.param([whole(FULL[6:], steps=10, restored=True), whole(FULL, steps=10)], id="a-state-was-restored"),
        pytest.param([whole([], steps=10, restored=True)], id="a-state-of-an-epochs-end-was-restored"),
        pytest.param([whole(FULL, steps=10), whole(FULL[6:], steps=10, restored=True)], id="in-the-same-process"),
        pytest.param([whole(FULL[6:], steps=10, skipped=6)], id="batches-were-skipped"),
        pytest.param([whole(FULL[6:]), whole(cut(order(40, 1), 4))], id="shorter-than-the-next-epoch"),
        pytest.param([whole(FULL[6:], steps=10)], id="shorter-than-len-says"),
    ],
)
def test_the_rest_of_an_epoch_that_was_begun_elsewhere_is_told(tmp_path: Path, epochs: list[dict[str, object]]) -> None:
    """A job that was resumed into a folder of its own: too little was seen to tell, and --into is named."""
    verdict = audited(job(tmp_path, [epochs], length=40, batch_size=4, sampler="SequentialSampler"))
    assert ([], True) == (found(verdict), "resumed" in told(verdict))
    note = next(note for note in verdict.groups[0].notes if note.key == "resumed")
    assert "--into" in note.sentence


@pytest.mark.parametrize(
    ("epochs", "expected"),
    [
        pytest.param([whole(FULL[6:])], [("PART-2", "lost")], id="nothing-says-that-it-was-resumed"),
        pytest.param([whole(FULL[6:], steps=10)] * 2, [("PART-2", "lost"), ("COUNT-4", "length")], id="each-epoch"),
        pytest.param(
            [whole(FULL), whole(FULL[6:], steps=10)], [("PART-2", "lost"), ("COUNT-4", "length")], id="a-later-epoch"
        ),
    ],
)
def test_what_no_restart_explains_is_found(
    tmp_path: Path, epochs: list[dict[str, object]], expected: list[tuple[str, str]]
) -> None:
    """An epoch that is short like the others, or that is not the first one, is no rest."""
    assert expected == found(audited(job(tmp_path, [epochs], length=40, sampler="SequentialSampler")))


def test_ranks_that_lack_different_numbers_of_steps_were_not_resumed(tmp_path: Path) -> None:
    """A job stores its state at one step."""
    ranks = [[whole(epoch["steps"][skips:], steps=5)] for skips, epoch in zip((1, 3), shuffled(0), strict=True)]
    assert ("COUNT-4", "length") in found(audited(job(tmp_path, ranks, length=40)))


def test_a_state_of_an_epochs_end_is_not_an_epoch(tmp_path: Path) -> None:
    """torchdata makes an iterator, sees that its state is at the end, and makes another one for the next epoch."""
    start(tmp_path, [whole([], how="left", restored=True), whole(FULL, steps=10)], length=40)
    (group,) = audited(tmp_path).groups
    assert "1 epoch seen whole" in group.title
    assert () == (*group.findings, *group.notes)


def test_what_a_restart_skipped_is_counted_on_each_rank(tmp_path: Path) -> None:
    """Steps are those of a rank, and a list that goes on ends in dots."""
    parts = [cut(range(rank, 80, 2), 4) for rank in range(2)]
    for first, last, how in ((0, 4, ""), (7, 10, "whole")):
        for rank, part in enumerate(parts):
            start(tmp_path, [whole(part[first:last], how=how)], rank, 2, length=80, close=how == "whole")
    (finding,) = audited(tmp_path).findings
    assert ("RESUME-1", "the restart skipped 24 samples of epoch 0") == (finding.id, finding.sentence)
    steps, missing = finding.excerpt
    assert "4 steps on each of 2 ranks came before the restart" == steps
    assert "in neither: 32, 33, 34, 35, 36, 37, ..." == missing
