"""Every known-bad loader is killed by its clause in its smallest case, and no correct loader is accused."""

import pytest

from conformance.clauses import CLAUSES
from tests.known_bad import MUSEUM
from tests.known_bad.correct import CORRECT, Correct, KnownBad
from tests.known_bad.pool import CORRECT_POOLS
from tests.museum.judged import judged, violated


@pytest.mark.parametrize("loader", [*CORRECT, *CORRECT_POOLS], ids=lambda loader: loader.__name__)
def test_a_correct_loader_is_green(loader: type[Correct]) -> None:
    """Nothing is held against a loader that does what it claims, and every clause had its chance."""
    report = judged(loader)
    assert violated(report) == {}
    assert [outcome.clause for outcome in report.outcomes if outcome.fails(strict=True)] == []


def _case(loader: type[KnownBad]) -> object:
    # Strict: when the suite learns to see the fault, the mark must go.
    marks = [pytest.mark.xfail(reason=loader.escapes, strict=True)] if loader.escapes else []
    return pytest.param(loader, id=loader.__name__, marks=marks)


@pytest.mark.parametrize("loader", [_case(loader) for loader in MUSEUM])
def test_a_known_bad_loader_is_killed(loader: type[KnownBad]) -> None:
    """The clause that the loader names fires in exactly its smallest case, and no unrelated clause does."""
    fired = violated(judged(loader))
    assert {loader.clause: loader.smallest} == {loader.clause: fired.get(loader.clause, "not violated")}
    assert set() == set(fired) - {loader.clause, *loader.related}


@pytest.mark.parametrize("clause", CLAUSES)
def test_each_clause_fires_alone_for_some_loader(clause: str) -> None:
    """For each clause there is a loader that violates nothing else, so that no clause hides behind another."""
    alone = [loader for loader in MUSEUM if loader.clause == clause and not loader.related and not loader.escapes]
    assert alone


def test_each_loader_says_what_is_wrong_and_where_it_was_reported() -> None:
    """A docstring states the fault in one line, and the report is a public thread or said to be missing."""
    for loader in MUSEUM:
        fault = loader.__doc__ or ""
        assert len(fault.splitlines()) == 1, loader.__name__
        assert bool(loader.report) != ("(No public report" in fault), loader.__name__
