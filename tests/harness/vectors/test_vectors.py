"""The suite's own golden vectors: they are what its judges and its bridge say."""

import json
from collections import Counter
from typing import Any

from conformance.clauses import CLAUSES
from conformance.vectors.__main__ import FOLDER, differences

VERDICTS: list[dict[str, Any]] = json.loads((FOLDER / "verdicts.json").read_text("utf-8"))["cases"]


def test_the_files_are_what_the_suite_says() -> None:
    """The stored vectors are up to date, the conversation with the example as well."""
    assert [] == differences(FOLDER)


def test_no_right_delivery_fires_anything() -> None:
    """What is made by the policy table violates no clause."""
    rights = [case for case in VERDICTS if case["name"] == "right"]
    assert 12 == len(rights)
    assert [] == [case for case in rights if case["fires"]]


def test_every_clause_of_a_single_delivery_fires_and_holds_somewhere() -> None:
    """Who ports a judge sees each of these both ways."""
    fires = Counter(clause for case in VERDICTS for clause in case["fires"])
    holds = Counter(clause for case in VERDICTS for clause in case["holds"])
    both = [
        *(f"BATCH-{number}" for number in range(1, 6)),
        *(f"COUNT-{number}" for number in (1, 2, 3, 4, 5, 6, 7)),
        *(f"PART-{number}" for number in (1, 2, 3, 4, 5, 6, 8)),
        *("ORDER-1", "ORDER-2", "ORDER-3", "ORDER-4", "ORDER-6", "WORK-3", "WORK-4", "WORK-5", "WORK-6"),
    ]
    assert [] == [clause for clause in both if not (fires[clause] and holds[clause])]
    assert set(both) <= set(CLAUSES)


def test_every_wrong_answer_of_the_bridge_is_told() -> None:
    """Each wrong line is named by its number, the last that was said."""
    cases = [case for case in json.loads((FOLDER / "bridge.json").read_text("utf-8"))["cases"] if "told" in case]
    assert [f"line {len(case['said'])} of the command" for case in cases] == [
        case["told"].partition(",")[0] for case in cases
    ]
