"""Epochs that another start of the job began: what was skipped is found, and who goes on rightly is not accused."""

from pathlib import Path
from typing import Any

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


def test_a_loader_that_skips_in_each_epoch_is_found(tmp_path: Path) -> None:
    """What was skipped for a restart is skipped once; another job may skip as well."""
    rest = [whole(FULL[6:], steps=4, skipped=6)] * 2
    (finding,) = audited(job(tmp_path / "wrong", [rest], length=40, sampler="SequentialSampler")).findings[:1]
    assert ("RESUME-2", "skipped-again") == (finding.id, finding.key)
    right = [rest[0], whole(FULL, steps=10)]
    assert [] == found(audited(job(tmp_path / "right", [right], length=40, sampler="SequentialSampler")))


def test_a_state_that_a_look_at_a_batch_has_used_up_is_found(tmp_path: Path) -> None:
    """The next iterator begins from the start, unless the state is loaded once more."""
    looked = whole(FULL[6:7], how="left", steps=10, restored=True)
    (finding,) = audited(job(tmp_path / "wrong", [[looked, whole(FULL, steps=10)]], length=40)).findings
    assert ("RESUME-1", "used-up") == (finding.id, finding.key)
    again = whole(FULL[6:], steps=10, restored=True)
    assert [] == found(audited(job(tmp_path / "right", [[looked, again]], length=40)))


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


A, B, C = (cut(order(40, seed), 4) for seed in range(3))


def begun(steps: list[list[int]], done: int) -> dict[str, object]:
    """An epoch that the job left after some steps, as it was preempted."""
    return whole(steps[:done], how="left")


def starts(folder: Path, *of: list[dict[str, object]], **loader: object) -> Path:
    """The starts of a job, one after the other."""
    for epochs in of:
        start(folder, epochs, **{"length": 40, "batch_size": 4, **loader})
    return folder


@pytest.mark.parametrize(
    "of",
    [
        pytest.param([[whole(A), begun(B, 6)], [whole(B), whole(C)]], id="epoch-1"),
        pytest.param([[begun(A, 6)], [whole(A), whole(B)]], id="epoch-0"),
        pytest.param([[begun(A, 6)], [begun(A, 8)], [whole(A), whole(B)]], id="two-restarts"),
        pytest.param([[begun(A, 3)], [begun(A, 3)]], id="preempted-twice-at-one-step"),
        pytest.param([[whole(A)], [whole(A), whole(B)]], id="at-the-end-of-an-epoch"),
        pytest.param([[whole(A), whole(B)], [whole(B), whole(C)]], id="before-the-state-was-stored"),
    ],
)
def test_an_epoch_that_is_read_again_after_a_restart_repeats_no_order(tmp_path: Path, of: list[list[object]]) -> None:
    """It is the epoch that was interrupted, or the last one, and the loop skips what was done."""
    assert [] == found(audited(starts(tmp_path, *of)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "of",
    [
        pytest.param([[whole(A), begun(A, 3)], [whole(A), whole(A)]], id="in-each-start"),
        pytest.param([[whole(A)], [whole(A)], [whole(A)]], id="one-epoch-in-each-of-several-starts"),
    ],
)
def test_one_order_is_found_whatever_was_restarted(tmp_path: Path, of: list[list[object]]) -> None:
    """Epochs of one start have it, or all of many starts."""
    assert [("ORDER-6", "same-order")] == found(audited(starts(tmp_path, *of)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("of", "expected", "note"),
    [
        pytest.param([[begun(A, 3)], [whole(A)]], [], False, id="the-epoch-is-read-again"),
        pytest.param([[whole(B)], [whole(A)]], [], True, id="the-restart-seeds-again"),
        pytest.param([[whole(B)], [whole(A)], [whole(C)]], [], True, id="each-restart-seeds-again"),
        pytest.param([[whole(B)], [whole(A), whole(C)]], [("WORK-10", "random-epochs")], False, id="within-a-start"),
    ],
)
def test_a_restart_that_seeds_again_repeats_no_epoch(
    tmp_path: Path, of: list[list[dict[str, Any]]], expected: list[tuple[str, str]], note: bool
) -> None:
    """`torch.manual_seed(seed + rank)` at the start is what scripts have: it is told. Within a start it is found."""
    facts = {"random": {0: {"torch": "a"}}, "drew": ["torch"]}
    verdict = audited(starts(tmp_path, *([{**each, "facts": facts} for each in one] for one in of)))
    assert expected == found(verdict)
    assert note == ("seeded-again-torch" in told(verdict))


def test_the_parts_of_an_epoch_that_was_resumed_twice_are_one(tmp_path: Path) -> None:
    """What came before the first restart is not missing after the second."""
    verdict = audited(starts(tmp_path / "right", [begun(A, 3)], [begun(A[3:], 3)], [whole(A[6:]), whole(B)]))
    assert [] == found(verdict)
    assert "the restart went on in epoch 0 where the job had ended" in [
        each.sentence for each in verdict.groups[0].notes
    ]
    wrong = starts(tmp_path / "wrong", [begun(A, 3)], [begun(A[3:], 3)], [whole(A[8:]), whole(B)])
    (finding,) = audited(wrong).findings
    assert "the restart skipped 8 samples of epoch 0" == finding.sentence


@pytest.mark.parametrize(
    ("after", "stepped", "expected", "sentence"),
    [
        (C, [4, 5], ["RESUME-1"], "in another order, and the loop skipped its first 3 steps"),
        (C, [4, 6], ["RESUME-1"], "in another order, and the loop skipped its first 3 steps"),
        (C, [1, 2], [], "in another order: 12 samples came a second time"),
        (C, [4, 8], [], "if it skips the 3 steps that were done, it skips other samples"),
        (C, None, [], "if it skips the 3 steps that were done, it skips other samples"),
        (B, [4, 5], [], "in the same order, and the loop skipped the 3 steps that were done"),
        (B, [1, 2], [], "in the same order: 12 samples came a second time"),
        (C, [2, 3], ["RESUME-1"], "in another order, and the loop skipped its first 1 step"),
        (C, [5, 6], ["RESUME-1"], "in another order, and the loop skipped its first 4 steps"),
        (B, [3, 4], [], "in the same order: 12 samples came a second time"),
        (B, [5, 6], ["RESUME-1"], "3 steps were done, and the first 4 were not trained on"),
        (B, [6, 8], ["RESUME-1"], "3 steps were done, and the first 4 were not trained on"),
        (B, [6, 9], [], "in the same order, and the loop skipped the 3 steps that were done"),
        (B, None, [], "unless the loop skips the steps that were done"),
    ],
)
def test_what_a_loop_skips_of_an_epoch_that_is_read_again_is_told(
    tmp_path: Path, after: list[list[int]], stepped: list[int] | None, expected: list[str], sentence: str
) -> None:
    """In another order it skips other samples, which is seen where the steps of optimizers are recorded."""
    again = whole(after, **({"stepped": stepped} if stepped else {}))
    verdict = audited(starts(tmp_path, [whole(A), begun(B, 3)], [again, whole(order_of(3))]))
    assert expected == [clause for clause, _ in found(verdict)]
    (said,) = [each for group in verdict.groups for each in (*group.findings, *group.notes) if each.key == "restart"]
    assert sentence in said.sentence


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        pytest.param([[begun(A, 3)], [begun(A[3:], 3)], [whole(A, stepped=[7, 8])]], [], id="as-many-as-both-did"),
        pytest.param([[begun(A, 3)], [begun(A[3:], 3)], [whole(A, stepped=[8, 9])]], ["RESUME-1"], id="one-more"),
        pytest.param([[begun(A, 3)], [begun(A, 6)], [whole(A, stepped=[7, 8])]], [], id="as-many-as-the-longer-did"),
        pytest.param(
            [[{**whole(A[4:7], restored=True), "how": "left"}], [whole(A, stepped=[8, 9])]], [], id="begun-elsewhere"
        ),
    ],
)
def test_the_steps_that_several_starts_did_are_counted_together(
    tmp_path: Path, of: list[list[dict[str, Any]]], expected: list[str]
) -> None:
    """A start that went on has steps of its own, and those before them were done as well."""
    assert expected == [clause for clause, _ in found(audited(starts(tmp_path, *of)))]


def test_steps_that_a_gradient_scaler_left_out_are_not_skipped(tmp_path: Path) -> None:
    """It leaves out the first ones where gradients overflow: nobody knows what the loop did."""
    again = whole(B, stepped=[6, 7], scaled=True)
    assert [] == found(audited(starts(tmp_path, [whole(A), begun(B, 3)], [again, whole(order_of(3))])))


def order_of(seed: int) -> list[list[int]]:
    """An epoch of another order."""
    return cut(order(40, seed), 4)


def test_a_restart_that_goes_back_to_an_earlier_epoch_skips_nothing(tmp_path: Path) -> None:
    """The state was stored before that."""
    first = [whole(A, set_epoch=0), whole(B[:3], how="left", set_epoch=1)]
    again = [whole(A, set_epoch=0), whole(B, set_epoch=1)]
    assert [] == found(audited(starts(tmp_path, first, again)))


def test_a_stream_that_went_on_has_the_samples_of_both_starts(tmp_path: Path) -> None:
    """The title counts an epoch that was interrupted once."""
    texts = cut([f"text {number}" for number in range(40)], 4)
    stream = {"kind": "iterable", "ids": "content", "length": None}
    verdict = audited(starts(tmp_path, [whole(texts[:4], how="left")], [whole(texts[4:])], **stream))
    assert "40 different samples" in verdict.groups[0].title
