"""Cases in which a correct loader was accused once, each with its clause."""

import pytest

from conformance.trial.known import parse_case
from tests.known_bad.correct import Correct
from tests.known_bad.grouping import PutsTheRestToTheLast
from tests.museum.judged import judged, violated

CASES: tuple[tuple[type[Correct], str], ...] = ((PutsTheRestToTheLast, "GROUP-3-n10,w3,b1,keep,at-least,t7"),)


@pytest.mark.parametrize(("loader", "case"), CASES, ids=[case for _, case in CASES])
def test_it_is_accused_no_more(loader: type[Correct], case: str) -> None:
    """The clause holds there."""
    report = judged(loader, case=parse_case(case))
    assert {} == violated(report)
    assert report.passed
