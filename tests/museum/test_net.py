"""What is tried, how it is named and told, and what stored reports say of it stays as it is."""

import json
from pathlib import Path

import hypothesis
import pytest

from conformance.trial.known import parse_case
from tests.museum import net

_STORED = json.loads(net.FILE.read_text("utf-8"))
_SPECS = Path(__file__).parents[2] / "specs"
_OF_ITS_VERSION = pytest.mark.skipif(
    hypothesis.__version__ != _STORED["hypothesis"], reason="another version of Hypothesis draws other examples"
)


@pytest.mark.parametrize("name", net.claims_of())
def test_what_is_tried_without_drawing_stays_the_same(name: str) -> None:
    """Codes, words and fields of the listed scenarios are those of the file, family by family."""
    expected = {key: value for key, value in _STORED["listed"].items() if key.startswith(f"{name} ")}
    assert expected == net.digests(name, net.claims_of()[name], drawing=False)


@_OF_ITS_VERSION
@pytest.mark.parametrize("name", net.claims_of())
def test_what_is_drawn_stays_the_same(name: str) -> None:
    """A tier and a seed draw the scenarios of the file, family by family."""
    expected = {key: value for key, value in _STORED["drawn"].items() if key.startswith(f"{name} ")}
    assert expected == net.digests(name, net.claims_of()[name], drawing=True)


def test_the_cases_of_the_stored_matrix_read_back() -> None:
    """The id of each case in specs/matrix.json reads as the scenario whose fields stand beside it."""
    cases = list(net.cases_of(json.loads((_SPECS / "matrix.json").read_text("utf-8"))))
    assert len(cases) > 50
    for case in cases:
        _, scenario = parse_case(case["id"])
        assert case["scenario"] == scenario.fields()


def test_the_cases_of_the_kill_matrix_read_back() -> None:
    """Each case of specs/kill-matrix.json reads as a scenario of that code."""
    rows = json.loads((_SPECS / "kill-matrix.json").read_text("utf-8"))["loaders"]
    ids = [f"{clause}-{fired['case']}" for row in rows for clause, fired in row["fired"].items()]
    assert len(ids) > 300
    for case_id in ids:
        clause, scenario = parse_case(case_id)
        assert case_id == f"{clause}-{scenario.code}"


@pytest.mark.parametrize("family", net.one_of_each_family())
def test_the_report_of_a_case_stays_the_same(family: str) -> None:
    """The JSON over one known-bad loader of each family, in its own case, is that of the file."""
    assert _STORED["reports"][family] == net.report_of(net.one_of_each_family()[family])


@_OF_ITS_VERSION
def test_the_report_of_a_run_stays_the_same() -> None:
    """The JSON of a run that draws, finds a fault and makes it small is that of the file."""
    assert _STORED["whole report"] == net.whole_report()
