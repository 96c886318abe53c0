"""What is shown while a run works."""

import pytest

from conformance.report.progress import Line, first_line, text_of
from conformance.trial.progress import Progress


def test_the_first_line_says_what_is_judged() -> None:
    """The loader, the tier and how many families there are."""
    assert "judging my_loader.py: gate, 12 families" == first_line("my_loader.py", "gate", 12)


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (Progress("map", 0, 231), "map: 0 of 231 cases"),
        (Progress("map", 100, 200), "map: 100 of 200 cases, about 10 s left"),
        (Progress("life", 199, 200, 2, frozenset({"WORK-12"})), "life: 199 of 200 cases, 2 hung, 1 violated"),
    ],
)
def test_a_line_says_how_far_a_family_is(progress: Progress, text: str) -> None:
    """Cases, what hung and failed so far, and the time that is left if there is much of it."""
    assert text == text_of(progress, 10.0)


def test_a_line_is_rewritten_now_and_then_and_taken_away() -> None:
    """Not for each case; at the end of a family nothing is left of it."""
    shown: list[str] = []
    times = iter([0.0, 0.01, 0.5, 0.6, 0.61])
    line = Line(shown.append, lambda: next(times))
    for tried in (0, 1, 2, 3):
        line(Progress("map", tried, 3))
    line(Progress("life", 0, 3))
    assert ["map: 0 of 3 cases", "map: 2 of 3 cases", "", "life: 0 of 3 cases"] == shown
