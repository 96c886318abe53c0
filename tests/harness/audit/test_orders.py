"""Orders, random states and restarts: each fault is found, and its right neighbour is not accused."""

from pathlib import Path
from typing import Any

import pytest

from tests.harness.audit.jobs import audited, cut, found, job, of_workers, start, told, whole
from tests.harness.audit.test_samples import LETTERS, order


def shuffled(seed: int, ranks: int = 2, n: int = 40, **more: Any) -> list[dict[str, Any]]:
    """An epoch of each rank, out of one permutation."""
    return [whole(cut(order(n, seed)[rank::ranks], 4), **more) for rank in range(ranks)]


def epochs(*of: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The epochs of each rank."""
    return [list(rank) for rank in zip(*of, strict=True)]


def test_one_order_in_every_epoch_is_found(tmp_path: Path) -> None:
    """A sampler whose epoch is never set shuffles once."""
    verdict = audited(job(tmp_path / "wrong", epochs(shuffled(0, set_epoch=0), shuffled(0, set_epoch=0)), length=40))
    assert [("ORDER-6", "same-order")] == found(verdict)
    told_of = verdict.findings[0].sentence
    assert "epoch 1 came in the order of epoch 0 on both ranks: set_epoch was never called" == told_of
    verdict = audited(job(tmp_path / "right", epochs(shuffled(0, set_epoch=0), shuffled(1, set_epoch=1)), length=40))
    assert [] == found(verdict)


@pytest.mark.parametrize(
    ("numbers", "orders", "cause"),
    [
        ([0, 1, 2], [0, 0, 0], ": the sampler's epoch was 0, 1 and 2 (set_epoch), and the order does not follow it"),
        ([0, 1, 2], [0, 0, 3], ": the sampler's epoch was 0 and 1 (set_epoch), and the order does not follow it"),
        ([0, 1, 1], [0, 1, 1], ": the sampler's epoch was 1 again"),
        ([None, None], [0, 0], ""),
        ([0, 1, 1], [0, 0, 0], ""),
    ],
)
def test_why_an_order_repeats_is_told_by_the_samplers_epoch(
    tmp_path: Path, numbers: list[int | None], orders: list[int], cause: str
) -> None:
    """One that was set, and that the sampler does not ask, is no epoch that was never set."""
    of = [shuffled(seed, set_epoch=number) for seed, number in zip(orders, numbers, strict=True)]
    (finding,) = audited(job(tmp_path, epochs(*of), length=40)).findings
    assert finding.sentence.endswith(f" on both ranks{cause}")
    assert ("__iter__" in finding.advice) == ("follow" in cause)


def test_the_order_of_the_dataset_may_come_again(tmp_path: Path) -> None:
    """An unshuffled loader is right to."""
    ordered = [whole(cut(range(rank, 40, 2), 4)) for rank in range(2)]
    assert [] == found(audited(job(tmp_path, epochs(ordered, ordered), length=40)))


def test_a_subset_in_an_order_of_its_own_may_come_again(tmp_path: Path) -> None:
    """random_split shuffles the dataset, and a SequentialSampler does not shuffle the subset."""
    both = epochs(shuffled(0), shuffled(0))
    assert [] == found(audited(job(tmp_path / "one", both, length=40, sampler="SequentialSampler")))
    assert [] == found(audited(job(tmp_path / "other", both, length=40, shuffle=False)))


def test_an_evaluation_may_have_one_order(tmp_path: Path) -> None:
    """Nothing is learnt there."""
    verdict = audited(job(tmp_path, epochs(shuffled(0, no_grad=True), shuffled(0, no_grad=True)), length=40))
    assert [] == found(verdict)


def test_a_batch_that_is_looked_at_first_repeats_no_order(tmp_path: Path) -> None:
    """The loop leaves the epoch, then reads it; on one rank alone, or a few steps on all."""
    first, second = shuffled(0, set_epoch=0), shuffled(1, set_epoch=1)
    for name, steps, ranks in (("one-step", 1, (0, 1)), ("some", 4, (0, 1)), ("rank-0", 1, (0,))):
        for rank in range(2):
            looked = [whole(first[rank]["steps"][:steps], how="left", set_epoch=0)] if rank in ranks else []
            start(tmp_path / name, [*looked, first[rank], second[rank]], rank, 2, length=40)
        assert [] == found(audited(tmp_path / name)), name
    looked, again = (whole(first[0]["steps"][:6], how="left", set_epoch=0) for _ in range(2))
    assert [("ORDER-6", "same-order")] == found(audited(job(tmp_path / "never-set", [[looked, again]])))


def test_few_samples_may_come_in_one_order_by_chance(tmp_path: Path) -> None:
    """Three samples have six orders."""
    verdict = audited(job(tmp_path, [[whole([[2, 0], [1]])] * 2], length=3, shuffle=True))
    assert ([], {"few-orders"}) == (found(verdict), told(verdict))


@pytest.mark.parametrize(("kind", "ids"), [("iterable", "content"), ("iterable", "named"), ("wrapped", "named")])
def test_a_stream_that_comes_in_one_order_is_told(kind: str, ids: str, tmp_path: Path) -> None:
    """Whether it should shuffle is not known, however its samples are told apart."""
    steps = cut(LETTERS if ids == "content" else order(40), 4)
    verdict = audited(job(tmp_path, [[whole(steps)] * 2], kind=kind, ids=ids))
    assert ([], {"same-order"}) == (found(verdict), told(verdict))


@pytest.mark.parametrize(
    ("persistent", "epochs", "expected"),
    [
        pytest.param(True, [0, 1, 2], [("STREAM-5", "unheard-epoch")], id="copies-that-stay"),
        pytest.param(False, [0, 1, 2], [], id="copies-made-anew"),
        pytest.param(True, [0, 0, 0], [], id="never-set"),
        pytest.param(True, [None] * 3, [], id="no-epoch"),
        pytest.param(True, [0, 0, 1], [("STREAM-5", "unheard-epoch")], id="set-late"),
    ],
)
def test_persistent_workers_that_keep_their_copies_are_found(
    tmp_path: Path, persistent: bool, epochs: list[int | None], expected: list[tuple[str, str]]
) -> None:
    """The dataset has set_epoch, the loop called it, and the order stays: for the copies it is the first epoch."""
    steps = cut(LETTERS, 4)
    heard = [of_workers([steps[:5], steps[5:]], dataset_epoch=number) for number in epochs]
    verdict = audited(job(tmp_path, [heard], kind="iterable", ids="content", persistent=persistent))
    assert expected == found(verdict)
    assert (not expected) == ("same-order" in told(verdict))
    texts = [each.sentence for group in verdict.groups for each in (*group.findings, *group.notes)]
    assert any("every epoch came in the order of epoch 0" in text for text in texts)


def test_epochs_that_were_left_are_compared_as_far_as_they_went(tmp_path: Path) -> None:
    """The shorter one counts."""
    steps = cut(order(40), 4)
    both = [whole(steps[:6], how="left"), whole(steps[:9], how="left")]
    assert [("ORDER-6", "same-order")] == found(audited(job(tmp_path, [both])))


def test_a_rank_that_was_killed_early_hides_no_order(tmp_path: Path) -> None:
    """The others tell it."""
    one, other = shuffled(0)
    verdict = audited(job(tmp_path, [[one, whole([], how="")], [other, {**other, "how": "crash: E"}]], length=40))
    assert [("ORDER-6", "same-order")] == found(verdict)


def test_what_no_epoch_reaches_is_found(tmp_path: Path) -> None:
    """A loop that leaves an unshuffled loader at one step in each epoch never sees the rest."""
    steps = cut(range(40), 4)
    left = whole(steps[:6], how="left")
    assert [("PART-8", "never-reached")] == found(audited(job(tmp_path / "wrong", [[left, left]], length=40)))
    other = whole(cut(order(40), 4)[:6], how="left")
    assert [] == found(audited(job(tmp_path / "shuffled", [[left, other]], length=40)))
    assert [] == found(audited(job(tmp_path / "once", [[left]], length=40)))
    looked = whole(steps[:6], how="left", no_grad=True)
    assert [] == found(audited(job(tmp_path / "evaluation", [[looked, looked]], length=40)))


STEPS = cut(order(40), 4)
BROKEN = [whole(STEPS[:6], how="", set_epoch=0)]


@pytest.mark.parametrize(
    ("after", "expected", "sentence"),
    [
        (STEPS[6:], [], "the restart went on in epoch 0 where the job had ended"),
        (STEPS[5:], [], "went back by 1 of the 6 steps before it (4 samples)"),
        (STEPS[8:], [("RESUME-1", "restart")], "skipped 8 samples of epoch 0"),
        (cut(order(40, 5), 4), [], "began epoch 0 again"),
        (cut(order(40, 5), 4)[6:], [("RESUME-1", "restart")], "came twice"),
    ],
)
def test_what_a_restart_skipped_is_found(
    tmp_path: Path, after: list[list[int]], expected: list[tuple[str, str]], sentence: str
) -> None:
    """What came before and after a restart is one epoch; what is repeated since the last state is told."""
    start(tmp_path, BROKEN, length=40, close=False)
    start(tmp_path, [whole(after, set_epoch=0), *shuffled(3, 1, set_epoch=1)], length=40)
    verdict = audited(tmp_path)
    assert expected == found(verdict)
    told_of = [one.sentence for group in verdict.groups for one in (*group.findings, *group.notes)]
    assert any(sentence in each for each in told_of), told_of


def test_a_restart_with_the_next_epoch_skips_the_rest_of_this_one(tmp_path: Path) -> None:
    """The sampler says which epoch it is."""
    start(tmp_path, BROKEN, length=40, close=False)
    start(tmp_path, shuffled(1, 1, set_epoch=1), length=40)
    assert [("RESUME-1", "restart")] == found(audited(tmp_path))


def test_a_job_that_goes_on_after_a_whole_epoch_is_right(tmp_path: Path) -> None:
    """Nothing is left over."""
    start(tmp_path, shuffled(0, 1, set_epoch=0), length=40)
    start(tmp_path, shuffled(1, 1, set_epoch=1), length=40)
    assert [] == found(audited(tmp_path))


def test_contents_that_change_are_told(tmp_path: Path) -> None:
    """Augmentation does that."""
    recorder = start(tmp_path, [], close=False)
    for content in ("aa", "bb"):
        epoch = recorder.epoch(0, {})
        recorder.batch(0, epoch, [0])
        recorder.say("content", {"loader": 0, "epoch": epoch, "pairs": [[0, content]]})
        recorder.end_of_epoch(0, epoch, "whole")
    recorder.close()
    verdict = audited(tmp_path)
    assert ([], {"contents"}) == (found(verdict), told(verdict))
