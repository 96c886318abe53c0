"""The JSON of a report is deterministic, complete, and free of what differs from machine to machine."""

import dataclasses
import json

from conformance.contract import Claims
from conformance.report.json_report import as_json, clause_digest, shown_name
from conformance.trace import FIELDS, Epoch, RankRun, Run, Trace, from_json
from conformance.trial.outcome import Outcome, Report
from tests.report.test_text import DUPLICATE

ONE_STEP = (Epoch(0, ((0,),), 1),)
TRACE = Trace(DUPLICATE.scenario, (Run("main", (RankRun(0, ONE_STEP), RankRun(1, ONE_STEP))),))
CASE = dataclasses.replace(DUPLICATE, trace=TRACE)
REPORT = Report(
    "mypkg",
    Claims(when_keeping="drop"),
    "gate",
    7,
    (
        Outcome("PART-1", "MUST", "VIOLATED", 310, CASE),
        Outcome("PART-2", "MUST", "NOT CLAIMED", 0),
        Outcome("ORDER-10", "MUST", "KNOWN", 9, note="on purpose"),
    ),
    notes=("a note",),
)


def test_the_same_report_gives_the_same_bytes() -> None:
    """Two texts of one report are equal, sorted, and end with a newline."""
    text = as_json(REPORT)
    assert text == as_json(REPORT)
    assert text.endswith("}\n")
    assert list(json.loads(text)) == sorted(json.loads(text))


def test_the_schema() -> None:
    """Every key of the documented schema is there."""
    data = json.loads(as_json(REPORT))
    assert {
        "schema": 1,
        "implementation": "mypkg",
        "tier": "gate",
        "seed": 7,
        "adapter": {"digest": None, "packages": {}},
        "patience": 10.0,
        "replayed": None,
        "strict": False,
        "passed": False,
        "counts": {"VIOLATED": 1, "NOT CLAIMED": 1, "KNOWN": 1},
        "guarantees": [],
        "notes": ["a note"],
    } == {
        name: value for name, value in data.items() if name not in ("suite", "specs", "versions", "claims", "clauses")
    }
    assert {"name": "loaderspec"} == {"name": data["suite"]["name"]}
    assert {"python", "hypothesis", "numpy", "torch"} == set(data["versions"])
    assert Claims(when_keeping="drop").as_dict() == data["claims"]


def test_an_outcome_without_a_case() -> None:
    """A clause without a case says null, and its note."""
    assert {
        "level": "MUST",
        "words": clause_digest("ORDER-10"),
        "status": "KNOWN",
        "exercised": 9,
        "note": "on purpose",
        "case": None,
        "known": [],
    } == json.loads(as_json(REPORT))["clauses"]["ORDER-10"]


def test_a_case_goes_to_json_and_back() -> None:
    """The case holds what the block says, and its trace is read back by an offline audit."""
    case = json.loads(as_json(REPORT))["clauses"]["PART-1"]["case"]
    trace = from_json(json.dumps(case.pop("trace")))
    assert trace == TRACE
    assert {
        "id": "PART-1-n1,w2,b1,keep",
        "scenario": {**FIELDS, "samples": 1, "world_size": 2},
        "kind": "kind",
        "expected": "each sample at most once",
        "delivered": ["rank 0: 0", "rank 1: 0        <- sample 0 again"],
        "why": 'when_keeping="drop" is claimed, so nothing may be repeated',
    } == case


def test_a_trace_stands_on_one_line() -> None:
    """A trace of many epochs does not fill a line for each sample."""
    (line,) = [line for line in as_json(REPORT).split("\n") if '"trace": ' in line]
    assert line.strip().startswith('"trace": {"runs": [{"name": "main"')


def test_no_absolute_path_is_told() -> None:
    """A report from another machine is the same report."""
    assert "/somewhere" not in as_json(dataclasses.replace(REPORT, implementation="/somewhere/mine.py"))
    assert ("mine.py:load", "folder/mine.py") == (shown_name("/somewhere/mine.py:load"), shown_name("folder/mine.py"))
