"""Every clause stands in one heading of the specs, one judge, the reference and the museum, and nothing else does."""

import re
from collections import Counter
from pathlib import Path

from conformance.clauses import CLAUSES
from conformance.report.spec_text import clause_texts
from tests.known_bad import MUSEUM

ROOT = Path(__file__).parents[2]
# Of the chapters that there are; a heading of any other kind is an orphan by itself.
_ID = re.compile(rf"\b(?:{'|'.join(sorted({clause.partition('-')[0] for clause in CLAUSES}))})-\d+\b")
_HEADING = re.compile(r"^#+ ([A-Z]+-\d+)$", re.MULTILINE)

# Clauses that no line of a loader can obey by itself; each with the reason.
HARNESS_ONLY: dict[str, str] = {
    "DRAW-6": "the reference claims both policies, so that PART-1 says it",
    "ALONE-1": "the reference has ranks",
    "PEEK-1": "the reference reads no step ahead, unless it is asked to load ahead",
    "ENDLESS-4": "the reference goes on with epochs that end, and promises no restart of others",
    "EQUAL-1": "the reference shares out a stream element by element, and promises no more of its ranks than that",
    "EQUAL-2": "the reference promises no equal steps of a stream, and has no files",
    "ERROR-8": "the reference raises what fails, and skips nothing",
    "RESUME-10": "the reference refuses other ranks: its shards are blocks, of which each rank has read a part",
    "STREAM-6": "the reference draws elements through a buffer, and does not know of shards",
    "RESUME-12": "the reference promises to go on",
}


def _cited(folder: str) -> set[str]:
    return {clause for file in (ROOT / folder).rglob("*.py") for clause in _ID.findall(file.read_text("utf-8"))}


def test_each_clause_has_exactly_one_heading_and_one_judge() -> None:
    """The headings of the specs and the judges name the same clauses, each once."""
    headings = Counter(
        clause for file in (ROOT / "specs").glob("*.md") for clause in _HEADING.findall(file.read_text("utf-8"))
    )
    assert Counter(CLAUSES.keys()) == headings


def test_each_judge_has_the_level_that_the_specs_give() -> None:
    """A clause is MUST or SHOULD in both places."""
    assert {clause: text.level for clause, text in clause_texts().items()} == {
        clause: judge.level for clause, judge in CLAUSES.items()
    }


def test_the_reference_cites_each_clause_and_no_other() -> None:
    """Somewhere in the reference a comment or a docstring says which line obeys which clause."""
    assert set(CLAUSES) == _cited("reference") | set(HARNESS_ONLY)
    assert set() == _cited("reference") & set(HARNESS_ONLY)


def test_the_museum_has_each_clause_and_no_other() -> None:
    """Each clause has a known-bad loader, and a loader names only clauses that there are."""
    assert set(CLAUSES) == {loader.clause for loader in MUSEUM}
    assert set() == {clause for loader in MUSEUM for clause in loader.related} - set(CLAUSES)
