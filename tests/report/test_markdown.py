"""The Markdown and the badge say what the report says, and nothing in them breaks a table."""

import json
import re

import pytest

from conformance.report.badge import badge
from conformance.report.markdown import markdown, matrix_markdown
from conformance.report.stored import NoReport, stored
from tests.report.pages import TWICE, matrix, report


def test_a_report_begins_with_its_verdict() -> None:
    """The heading, the counts, and a row for what does not hold."""
    lines = markdown(report()).split("\n")
    assert r"## my \<loader\>.py: not green: 3 of 7 clauses violated, 1 not exercised" == lines[0]
    assert "| PART-1 | ✗ VIOLATED | 59 | `n1,w2,b1,keep` |" in lines
    assert r"| PART-2 | ○ NOT EXERCISED | 0 | too few \<cases\> |" in lines
    assert "- replay: `loaderspec run 'my <loader>.py' --case=PART-1-n1,w2,b1,keep`" in lines


def test_what_was_delivered_stands_in_a_fence() -> None:
    """A fence is longer than any in the text."""
    text = markdown(report())
    assert "```text\nrank 0: 0\nrank 1: 0  <- again\n```" in text
    assert "raised <script>alert(1)</script> & `x` | y (in load)" in text


def test_a_cell_of_the_matrix_leads_to_a_heading() -> None:
    """Every link inside has a heading whose anchor it is."""
    text = matrix_markdown(matrix())
    headings = {
        re.sub(r"[^\w\- ]", "", line[4:].lower()).replace(" ", "-") for line in text.split("\n") if line[:4] == "### "
    }
    links = set(re.findall(r"\]\(#([^)]*)\)", text))
    assert "mine-part-1" in links
    assert set() == links - headings


def test_every_row_has_all_its_cells() -> None:
    """Bars in a note are text, and a loader that was not judged says why."""
    text = matrix_markdown(matrix())
    for table in re.findall(r"(?:^\|.*\n)+", text, re.M):
        rows = [re.sub(r"\\\|", "", line).count("|") for line in table.strip().split("\n")]
        assert 1 == len(set(rows))
    assert r"not installed: no \| wheel" in text
    assert "](javascript:" not in text


def test_the_same_data_gives_the_same_text() -> None:
    """Nothing but the data is told."""
    assert [markdown(report()), matrix_markdown(matrix())] == [markdown(report()), matrix_markdown(matrix())]


@pytest.mark.parametrize(
    ("statuses", "message", "color"),
    [
        (["HOLDS", "HOLDS", "NOT CLAIMED"], "2 hold", "brightgreen"),
        (["HOLDS", "KNOWN"], "1 hold, 1 known", "yellow"),
        (["HOLDS", "NOT EXERCISED"], "1 not exercised, 1 hold", "red"),
        (["INVALID", "INVALID"], "invalid", "lightgrey"),
        (["NOT CLAIMED"], "nothing judged", "brightgreen"),
    ],
)
def test_the_badge_of_a_run(statuses: list[str], message: str, color: str) -> None:
    """Few words and a colour, in the form that shields.io reads."""
    data = report()
    blank = dict(level="MUST", exercised=0, note="", case=None)
    data["clauses"] = {f"PART-{number}": {**blank, "status": each} for number, each in enumerate(statuses, 1)}
    data["passed"] = not {"NOT EXERCISED", "INVALID"} & set(statuses)
    assert dict(schemaVersion=1, label="loaderspec", message=message, color=color) == json.loads(badge(data))


def test_the_badge_of_a_matrix() -> None:
    """How many loaders are green, of those that were judged."""
    assert "0 of 2 loaders green" == json.loads(badge(matrix()))["message"]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ([], "the data is no report"),
        ({"clauses": {}, "schema": 9}, "schema 9, and this version reads 1"),
        ({"clauses": {}, "schema": 1}, "lacks 'implementation'"),
        (report() | {"claims": {"speed": True}}, "the claim 'speed' is unknown"),
    ],
)
def test_what_is_no_report_is_refused(data: object, why: str) -> None:
    """With a sentence that says what is amiss."""
    with pytest.raises(NoReport, match=re.escape(why)):
        stored(data)


def test_a_stored_case_is_the_case() -> None:
    """The trace, the words and the commands are those of the run."""
    (row,) = [row for row in stored(report()).rows if row.clause == "PART-1"]
    (found,) = row.cases
    assert (TWICE.trace, TWICE.finding.delivered) == (found.trace, found.delivered)
    assert "python loaderspec-repro/PART-1-n1,w2,b1,keep.py" == found.script


def test_a_claim_that_is_not_made_may_be_spelled_in_any_way() -> None:
    """False, null and an empty list were the spellings of different versions; `in_order=False` is a claim."""
    given = report()
    given["claims"] |= {"pipelines": False, "launcher": [], "device": None, "in_order": False}
    found = stored(given).claims
    assert ((), False) == (found.pipelines, found.in_order)
