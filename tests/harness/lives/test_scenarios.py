"""What the family of lives asks for: each case is told by its code, and compared with whole epochs."""

from dataclasses import replace

import pytest

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims
from conformance.lives.scenario import LifeScenario, from_code, living
from conformance.loader.scenario import Scenario
from conformance.trace import Epoch, Failure, RankRun, Run, Trace, from_json, to_json
from conformance.trial.clause import Verdict
from tests.harness.tried import listed

EVERYTHING = Claims(
    datasets=("map", "iterable"),
    shuffle="global",
    workers=True,
    resume=True,
    epochs="set_epoch",
    asynchronous=True,
    length=True,
    hooks=("buffer_size", "sampler", "batch_sampler", "collate_fn"),
    batches=("grouped", "budget"),
    subsets=True,
    stream_shuffle="buffered",
    mixtures=("all_exhausted",),
)
LEFT_AND_SAVED = living(Scenario(5, batch_size=2, shuffle=True), "left", "saved")
WHOLE = ((3, 1), (0, 4), (2,))


def test_a_case_is_told_by_its_code_and_by_its_fields() -> None:
    """What is tried is read back from its code, and from a trace in JSON."""
    for scenario in listed("lives", EVERYTHING):
        assert scenario == from_code(scenario.code)
        trace = Trace(scenario, (Run("main", ()),))
        assert trace == from_json(to_json(trace))


def test_each_kind_of_request_is_tried() -> None:
    """Whatever is claimed is asked for, plain and shuffled, read ahead, with hooks, and chosen from."""
    tried: list[LifeScenario] = list(listed("lives", EVERYTHING))
    assert {"", "grouped", "budget", "subset", "mixture", "stream"} == {
        getattr(each.asked, "about", "") for each in tried
    }
    assert {"sampler", "batches", "collated", "ahead"} == {hook for each in tried for hook in each.hooks}
    assert {True, False} == {each.is_asynchronous for each in tried} == {each.asked.shuffle for each in tried}


def test_nothing_is_held_while_a_state_is_taken() -> None:
    """A state of one of two iterators is nobody's promise."""
    assert [] == [each.code for each in listed("lives", EVERYTHING) if {"held", "saved"} <= {*each.life}]


def test_a_loader_without_states_is_not_resumed() -> None:
    """Only what is claimed is asked for."""
    assert not any("saved" in each.life for each in listed("lives", replace(EVERYTHING, resume=False)))


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        ("n5,w1,b2,keep", "says no life"),
        ("n5,w1,b2,keep,e2,life=lost", "'lost' in the case"),
        ("n5,w1,b2,keep,life=left", "say e2"),
    ],
)
def test_a_code_of_something_else_is_refused(code: str, sentence: str) -> None:
    """The sentence says what is wrong with it."""
    with pytest.raises(ValueError, match=r".") as error:
        FAMILIES["lives"].read(code)
    assert sentence in str(error.value)


def test_an_epoch_that_comes_otherwise_is_told_with_those_before_it() -> None:
    """The finding shows the whole epoch, what was done before, and what came."""
    (finding,) = _judged(_epoch(2, ((3, 1), (0, 4)))) or []
    assert ("other-in-a-life", "epoch 2 as where every epoch is read to its end") == (finding.kind, finding.expected)
    assert (
        "where every epoch is whole, epoch 2: rank 0: 3 1 | 0 4 | 2",
        "before it, epoch 0: rank 0: 3 1",
        "before it, epoch 1: rank 0: 3 1 | 0 4 | 2",
        "here, epoch 2: rank 0: 3 1 | 0 4",
    ) == finding.delivered


def test_another_length_is_told_by_itself() -> None:
    """The steps are right, and len() counts others."""
    (finding,) = _judged(replace(_epoch(2, WHOLE), length=2)) or []
    assert ("length-in-a-life", "len() = 3") == (finding.kind, finding.expected)


def test_a_refusal_is_right() -> None:
    """An error in place of an epoch is no other epoch."""
    refused = replace(_epoch(2, ()), failure=Failure("raised", "iter", "RuntimeError: read once", 2))
    assert [] == _judged(refused)


def test_what_one_thing_does_alone_is_left_to_its_own_clause() -> None:
    """Where a break alone makes the same difference, WORK-12 tells it."""
    alone = Run("alone: left", (RankRun(0, (_epoch(0, ((3, 1),), left=True), _epoch(1, ((0, 4),)))),))
    assert _judged(_epoch(2, ((3, 1), (0, 4))), alone) is None


def _epoch(number: int, steps: tuple[tuple[int, ...], ...], left: bool = False) -> Epoch:
    return Epoch(number, steps, 3, left)


def _judged(last: Epoch, *more: Run) -> Verdict:
    lived = (_epoch(0, ((3, 1),), left=True), _epoch(1, WHOLE), last)
    whole = Run("whole", (RankRun(0, tuple(_epoch(number, WHOLE) for number in range(3))),))
    trace = Trace(LEFT_AND_SAVED, (Run("main", (RankRun(0, lived),)), whole, *more))
    return CLAUSES["WORK-21"].judge(LEFT_AND_SAVED, EVERYTHING, trace)
