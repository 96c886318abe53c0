"""The table of the vectors' README says when a clause counts, for every verdict that is stored."""

import pytest

from conformance.clauses import CLAUSES
from conformance.contract import parse_claims
from conformance.vectors.__main__ import FOLDER
from tests.harness.vectors.counting import ROWS, Case, table
from tests.harness.vectors.test_vectors import VERDICTS

JUDGED = [
    ("BATCH-4 BATCH-5", "BATCH-4 BATCH-5", lambda case: bool(case.refusal)),
    ("ENDLESS-1 ENDLESS-2", "ENDLESS-1", lambda case: case.claims.get("epochs") == "endless"),
    ("EQUAL-1 EQUAL-2", "EQUAL-1", lambda case: "shards" in case.given["request"]),
    ("WORK-3 WORK-4 WORK-5 WORK-6", "WORK-3 WORK-4", lambda case: case.dataset == "iterable"),
    ("PART-8", "", lambda case: case.epochs == 64),
]


def judged_by(case: Case) -> set[str]:
    """The clauses that a case is judged by, if they count."""
    usual = {clause for clause in ROWS if clause.partition("-")[0] in ("BATCH", "COUNT", "PART", "ORDER", "DRAW")}
    found = next(((whole, failed) for whole, failed, fits in JUDGED if fits(case)), None)
    whole, failed = found or (" ".join(usual - {"PART-8"}), "COUNT-6 COUNT-7")
    also = {"EQUAL-1", "EQUAL-2"} if "equal_steps" in case.claims and "failed" not in case.given else set()
    return {*(failed if "failed" in case.given else whole).split(), *also}


def test_the_table_is_the_one_that_is_tested() -> None:
    """The README has these rows, one of each clause that a verdict names (BATCH-4 and BATCH-5 always count)."""
    text = (FOLDER / "README.md").read_text("utf-8")
    assert table() in text
    named = {clause for case in VERDICTS for clause in (*case["fires"], *case["holds"])}
    assert named == {*ROWS, "BATCH-4", "BATCH-5"}


@pytest.mark.parametrize("clause", [clause for clause, (_, condition) in ROWS.items() if condition])
def test_a_clause_counts_when_the_table_says(clause: str) -> None:
    """In each verdict it is listed if and only if its claim is made, the case is of its kind, and its row fits."""
    _, condition = ROWS[clause]
    assert condition is not None
    for at, given in enumerate(VERDICTS):
        case = Case(given)
        claimed = CLAUSES[clause].applies(parse_claims(case.claims))
        due = claimed and clause in judged_by(case) and condition(case)
        assert due == (clause in (*given["fires"], *given["holds"])), (at, given["name"])
