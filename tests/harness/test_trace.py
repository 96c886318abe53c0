"""A trace goes to JSON and back, so that a judge can't tell a live run from a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contract import Claims
from conformance.scenario import Scenario
from conformance.scenarios import drawn
from conformance.trace import Epoch, Failure, RandomState, RankRun, Run, Trace, from_json, to_json

TEXT = st.text(max_size=5)
STEPS = st.lists(st.lists(st.integers(-2000, 10**15), max_size=3).map(tuple), max_size=3).map(tuple)
EPOCHS = st.builds(Epoch, st.integers(0, 3), STEPS, st.one_of(st.none(), st.integers(), TEXT))
KINDS = st.sampled_from(["raised", "hung", "died", "endless", "undecodable", "unusable"])
PLACES = st.sampled_from(["load", "set_epoch", "len", "iter", "step", "close"])
FAILURES = st.builds(Failure, KINDS, PLACES, TEXT, st.one_of(st.none(), st.integers(0, 3)))
STATES = st.lists(st.builds(RandomState, TEXT, TEXT, TEXT), max_size=2).map(tuple)
RANKS = st.builds(
    RankRun, st.integers(0, 3), st.lists(EPOCHS, max_size=2).map(tuple), st.one_of(st.none(), FAILURES), STATES
)
RUNS = st.builds(Run, TEXT, st.lists(RANKS, max_size=2).map(tuple))
TRACES = st.builds(
    Trace, drawn("map", Claims(shuffle="global", device_options=True)), st.lists(RUNS, max_size=2).map(tuple)
)


@given(TRACES)
def test_a_trace_reads_back_as_it_was(trace: Trace) -> None:
    """Nothing is lost on the way to JSON and back."""
    assert trace == from_json(to_json(trace))


@given(TRACES)
def test_a_trace_is_one_line(trace: Trace) -> None:
    """A file of traces holds one on each line."""
    assert "\n" not in to_json(trace)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        '{"scenario":{},"runs":[]}',
        '{"scenario":{"samples":1,"colour":"red"},"runs":[]}',
        '{"scenario":{"samples":1},"runs":[{"name":"main"}]}',
        '{"scenario":{"samples":1},"runs":[{"name":"main","ranks":[{"rank":0}]}]}',
    ],
)
def test_other_text_is_no_trace(text: str) -> None:
    """What `to_json` did not write is refused, and the sentence says what writes one."""
    with pytest.raises(ValueError, match=r"this text is not a trace .*conformance\.trace\.to_json"):
        from_json(text)


def test_the_main_run_is_the_first() -> None:
    """Variants are found by their names, behind the main run."""
    main, again = Run("main", ()), Run("again", ())
    trace = Trace(Scenario(1), (main, again))
    assert (main, again, None) == (trace.main, trace.variant("again"), trace.variant("main"))


def test_an_epoch_is_read_across_ranks() -> None:
    """`epoch` gives one epoch of every rank, rank 0 first; its samples are those of all steps."""
    epochs = [Epoch(0, ((rank,), (rank, rank))) for rank in range(2)]
    run = Run("main", tuple(RankRun(rank, (epoch,)) for rank, epoch in enumerate(epochs)))
    assert tuple(epochs) == run.epoch(0)
    assert (1, 1, 1) == run.epoch(0)[1].samples


def test_one_failed_rank_fails_the_run() -> None:
    """A run is whole only if all ranks came to their end."""
    failure = Failure("raised", "load", "ValueError: bad rank")
    assert Run("main", (RankRun(0, ()), RankRun(1, (), failure))).failed
    assert not Run("main", (RankRun(0, ()),)).failed


@pytest.mark.parametrize(
    ("failure", "sentence"),
    [
        (Failure("raised", "load", "ValueError: bad rank"), "raised ValueError: bad rank (in load)"),
        (Failure("hung", "step", ""), "hung (in step)"),
    ],
)
def test_a_failure_is_a_sentence(failure: Failure, sentence: str) -> None:
    """A failure says its kind, its message and its place."""
    assert sentence == failure.sentence()
