"""Rests that an error ends: what is read, and that a loader which refuses to go on then is not accused."""

from collections.abc import Iterator
from typing import Any

from conformance.clauses import FAMILIES
from conformance.loader.scenario import from_code
from conformance.processes.fleet import Fleet
from conformance.processes.sources import source_of
from conformance.trial.family import observe
from tests.known_bad.resuming import Stopping
from tests.museum.judged import judged, violated

_CASE = from_code("n3,w1,b1,keep,e2,raise@2,save@1,with=left")


def test_a_rest_fails_in_the_job_that_resumes_alone() -> None:
    """The loader that gives the state meets no error, and the epoch after the rest is read."""
    source, _ = source_of(Stopping)
    with Fleet(source) as fleet:
        main, resumed = observe(fleet.lanes[0], FAMILIES["resume"], _CASE).runs
    whole = ((0,), (1,), (2,))
    assert [whole, whole] == [epoch.steps for epoch in main.ranks[0].epochs]
    assert [((1,),), whole] == [epoch.steps for epoch in resumed.ranks[0].epochs]


class GivesUpAfterAnError(Stopping):
    """Once a sample has failed, nothing more is to be had."""

    def deliver(self, steps: list[list[int]]) -> Iterator[Any]:
        """Fetch each step, unless one has failed."""
        if self.over:
            raise RuntimeError("this loader is over")
        self.over = True
        yield from super().deliver(steps)
        self.over = False

    over = False


def test_an_error_is_right_after_an_error() -> None:
    """Who refuses the next epoch as well gives no part of one that looks whole."""
    assert {} == violated(judged(GivesUpAfterAnError, case=("RESUME-2", _CASE)))


def test_a_rest_that_fails_is_told() -> None:
    """A report says that the error has ended the rest."""
    assert _CASE.describe().endswith(
        "sample 2 raises, a state taken after step 1 of epoch 0, the rest left by that error"
    )
