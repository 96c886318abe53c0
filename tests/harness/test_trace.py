"""A trace goes to JSON and back, so that a judge can't tell a live run from a file."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.device import scenario as device
from conformance.device.scenario import DeviceScenario
from conformance.launch.scenario import HAPPENS, LaunchScenario
from conformance.loader.scenario import Scenario
from conformance.pipelines import scenario as pipelines
from conformance.pipelines.scenario import PipelineScenario
from conformance.trace import Epoch, Failure, RankRun, Run, Trace, Value, from_json, to_json


def of_words(kind: type[Any], name: str, words: Iterable[str]) -> st.SearchStrategy[Any]:
    """Scenarios of a kind, with any of these words in the field of that name."""
    every = {field.name: ... for field in fields(kind)}
    return st.builds(kind, **{**every, name: st.frozensets(st.sampled_from(sorted(words)))})


# Few numbers, for there may be many values; what is no number equals nothing, itself neither.
_NUMBERS = st.lists(st.floats(allow_nan=False), max_size=2).map(tuple)
# A state is for the next run of a scenario, and stands in no file.
_WRITTEN = {field.name: ... for field in fields(RankRun) if field.name != "saved"}
st.register_type_strategy(RankRun, st.builds(RankRun, **_WRITTEN))
st.register_type_strategy(Value, st.builds(Value, st.text(max_size=3), st.just((2, 1)), _NUMBERS))
# Whatever the types allow, so that a field that is added is tried too; words are those that there are.
SCENARIOS = st.one_of(
    st.from_type(Scenario),
    of_words(LaunchScenario, "happens", HAPPENS),
    of_words(DeviceScenario, "asked", device.ASKED),
    of_words(PipelineScenario, "asked", pipelines.ASKED),
)
TRACES = st.builds(Trace, SCENARIOS, st.from_type(tuple[Run, ...]))


# A trace is a large thing.
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(TRACES)
def test_a_trace_reads_back_as_it_was(trace: Trace) -> None:
    """Nothing is lost on the way to JSON and back, and a file of traces holds one on each line."""
    text = to_json(trace)
    assert trace == from_json(text)
    assert "\n" not in text


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
