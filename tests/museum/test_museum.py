"""Every known-bad loader is killed by its clause in its smallest case, and no correct loader is accused."""

import os

import pytest

from conformance.clauses import CLAUSES
from conformance.trial.known import parse_case
from conformance.trial.outcome import Report
from tests.deep import deep_where
from tests.known_bad import MUSEUM
from tests.known_bad.ahead import CORRECT_AHEAD
from tests.known_bad.alone import CORRECT_ALONE
from tests.known_bad.correct import CORRECT, Correct, KnownBad
from tests.known_bad.drawing import CORRECT_DRAWING
from tests.known_bad.endless import CORRECT_ENDLESS
from tests.known_bad.equal import CORRECT_EQUAL
from tests.known_bad.grouping import CORRECT_GROUPING
from tests.known_bad.loops import CORRECT_LOOPS
from tests.known_bad.loops_stopped import CORRECT_STOPPED_LOOPS
from tests.known_bad.mixing import CORRECT_MIXING
from tests.known_bad.pool import CORRECT_POOLS
from tests.known_bad.resuming import CORRECT_RESUMING
from tests.known_bad.resuming_hooks import Handed
from tests.known_bad.resuming_streams import ResumingStreams
from tests.known_bad.samplers import Sampled
from tests.known_bad.streams import CORRECT_STREAMING
from tests.known_bad.subsets import CORRECT_OF_SUBSETS
from tests.museum.judged import judged, violated
from tests.museum.unusual import ALL_UNUSUAL

# One for each way of reading that a promise depends on, and what is unusual without taking long; `--deep` judges all.
_ALWAYS_JUDGED = (
    "Correct",
    "IterableOnly",
    "AheadOfNoHooks",
    "Resuming",
    "Drawing",
    "Mixing",
    "Streaming",
    "Loop",
    "ByShards",
    "OfSubsets",
    "InAsyncio",
    "ThroughAQueue",
    "ReadsAnEpochFirst",
    "MapsItsFile",
    "SavesATensor",
    "GoesOnAtOnce",
)


def _name(loader: type[Correct]) -> str:
    return loader.__name__


@pytest.mark.parametrize(
    "loader",
    deep_where(
        lambda loader: loader.__name__ not in _ALWAYS_JUDGED,
        [
            *(*CORRECT, *CORRECT_POOLS, Sampled, *CORRECT_AHEAD, *CORRECT_RESUMING, Handed, ResumingStreams),
            *(
                *CORRECT_EQUAL,
                *CORRECT_DRAWING,
                *CORRECT_ALONE,
                *CORRECT_ENDLESS,
                *CORRECT_LOOPS,
                *CORRECT_STOPPED_LOOPS,
                *ALL_UNUSUAL,
            ),
            *(*CORRECT_GROUPING, *CORRECT_STREAMING, *CORRECT_OF_SUBSETS, *CORRECT_MIXING),
        ],
        _name,
    ),
)
def test_a_correct_loader_is_green(loader: type[Correct]) -> None:
    """Nothing is held against a loader that does what it claims, and every clause had its chance."""
    assert_green(judged(loader, tier="quick"))


@pytest.mark.deep
def test_the_plainest_correct_loader_is_green_at_the_gate() -> None:
    """Nor at the gate; the first command of the README judges torch's there, in the main job."""
    assert_green(judged(CORRECT[0], tier="gate"))


def assert_green(report: Report) -> None:
    """Nothing is violated, and nothing is left open."""
    assert violated(report) == {}
    assert [outcome.clause for outcome in report.outcomes if outcome.fails(strict=True)] == []


def test_forty_unusual_loaders_are_right_each_in_a_way_of_its_own() -> None:
    """Each says in one line what is unusual about it."""
    told = {(loader.__doc__ or "").splitlines()[0] for loader in ALL_UNUSUAL}
    assert 40 <= len(told) == len(ALL_UNUSUAL)


@pytest.mark.parametrize("loader", MUSEUM, ids=_name)
def test_its_smallest_case_shows_the_fault(loader: type[KnownBad]) -> None:
    """The clause that the loader names is violated in the case that stands beside it."""
    if loader.cores > len(os.sched_getaffinity(0)):
        pytest.skip(f"only where {loader.cores} cores may be used is this a fault")
    report = judged(loader, case=parse_case(f"{loader.clause}-{loader.smallest}"))
    assert {loader.clause: loader.smallest} == violated(report), [each.note for each in report.outcomes]


def _alone(clause: str) -> list[type[KnownBad]]:
    return [loader for loader in MUSEUM if loader.clause == clause and not loader.related]


# One of each clause of chapters 1 to 3. `python -m tests.museum.kill_matrix` judges the whole museum at the gate, in
# half an hour; here the quick tier serves but for clauses that need the gate's draws to find the smallest case.
_NEED_THE_GATE = ("ORDER-8", "ORDER-12", "ORDER-13")
_RUN_WHOLE = [_alone(clause)[0] for clause in CLAUSES if clause.startswith(("BATCH", "COUNT", "PART", "ORDER"))]
_ALWAYS = ("BATCH-1", "COUNT-1", "PART-1", "ORDER-1")


@pytest.mark.parametrize("loader", deep_where(lambda loader: loader.clause not in _ALWAYS, _RUN_WHOLE, _name))
def test_a_known_bad_loader_is_killed(loader: type[KnownBad]) -> None:
    """In a whole run the clause that the loader names fires in exactly its smallest case, and no other clause does."""
    tier = "gate" if loader.clause in _NEED_THE_GATE else "quick"
    assert {loader.clause: loader.smallest} == violated(judged(loader, tier=tier))


@pytest.mark.parametrize("clause", CLAUSES)
def test_each_clause_fires_alone_for_some_loader(clause: str) -> None:
    """For each clause there is a loader that violates nothing else, so that no clause hides behind another."""
    assert _alone(clause)


def test_each_loader_says_what_is_wrong_and_where_it_was_reported() -> None:
    """A docstring states the fault in one line, and the report is a public thread or said to be missing."""
    for loader in MUSEUM:
        fault = loader.__doc__ or ""
        assert len(fault.splitlines()) == 1, loader.__name__
        assert bool(loader.report) != ("(No public report" in fault), loader.__name__
