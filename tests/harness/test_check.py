"""The core without pytest: `check(load, claims)` in a REPL."""

from typing import Any

import pytest

from conformance import check
from conformance.contract import AdapterError
from tests.harness import hostile_loaders, plain_loader, runs


def test_a_function_of_this_process_is_judged() -> None:
    """A closure with its claims is enough; the report is green, and prints as a table."""
    made = []

    def load(request: Any) -> Any:
        made.append(request)
        return plain_loader.load(request)

    report = check(load, plain_loader.claims, tier="quick")
    assert report.passed
    assert "PART-1" in str(report)
    assert "<Report of load:" in repr(report)
    assert [] == made  # it was called in other processes only


@pytest.mark.deep
def test_a_fault_is_found_without_pytest() -> None:
    """The report holds the smallest case."""

    def load(request: Any) -> Any:
        return [] if len(request.dataset) == 3 else plain_loader.load(request)

    report = check(load, dict(when_dropping="drop", when_keeping="uneven"), tier="quick")
    case = report.outcome("PART-2").case
    assert case is not None
    assert (False, 3) == (report.passed, case.scenario.samples)


@pytest.mark.deep
def test_a_module_is_judged_like_its_name() -> None:
    """An object, and a path, give the same outcomes."""
    one, other = check(plain_loader, tier="quick"), check(runs.PLAIN, tier="quick")
    assert one.outcomes == other.outcomes
    assert one.claims == other.claims


def test_claims_belong_into_an_adapter_that_is_named() -> None:
    """Claims beside a name are refused."""
    with pytest.raises(AdapterError, match="claims go into the adapter when the implementation is given by name"):
        check("torch", dict(length=True))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(tier="slow"), "the tier 'slow' is not one of quick, gate, deep"),
        (dict(patience=0), "a patience of 0 s lets no loader answer"),
    ],
)
def test_bad_arguments_get_a_sentence(arguments: dict[str, Any], sentence: str) -> None:
    """What the command line refuses, a call refuses as well."""
    with pytest.raises(AdapterError, match=sentence):
        check(plain_loader.load, plain_loader.claims, **arguments)


def test_an_adapter_that_is_wrong_is_invalid() -> None:
    """What the smoke case shows is the outcome of every clause, and nothing else is run."""
    report = check(hostile_loaders.exits, tier="quick")
    assert {"INVALID"} == {outcome.status for outcome in report.outcomes}
    assert "ends its process: the process ended with exit code 7" in report.outcomes[0].note
    assert not report.passed


def test_a_notebook_shows_a_table() -> None:
    """The report's HTML has a row a clause, the failing ones first, and the text of the adapter's is escaped."""
    report = check(lambda request: [[1000]], dict(when_keeping="uneven"), tier="quick")
    shown = report._repr_html_()  # type: ignore[attr-defined]
    rows = shown.split("<tr>")[2:]
    assert len(rows) == sum(each.status != "NOT CLAIMED" for each in report.outcomes)
    assert "<td>VIOLATED</td>" in rows[0]
    assert "&lt;lambda&gt;: " in shown
