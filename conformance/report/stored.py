"""A report that comes from a file: decides what is accepted, and what the pages and tables read of it.

Everything that is shown is made from the JSON alone, so that a run and a stored report give the same bytes. A text that
is no report, or one of another schema, is refused with a sentence.
"""

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from conformance.clauses import CLAUSES, Finding
from conformance.contract import AdapterError, Claims, parse_claims
from conformance.report.choice import has_script
from conformance.report.json_report import SCHEMA, clause_digest, specs_digest
from conformance.report.spec_text import clause_texts
from conformance.report.text import REPRO_FOLDER
from conformance.trace import Trace, from_json
from conformance.trial.result import Case

# The order in which outcomes are counted and explained, each with the sign that stands for it beside its word.
SIGNS = {
    "VIOLATED": "✗",
    "VIOLATED (SHOULD)": "△",
    "INVALID": "!",
    "NOT EXERCISED": "○",
    "KNOWN": "●",
    "HOLDS": "✓",
    "NOT CLAIMED": "–",
}
# How the clauses that make a run fail are counted in a headline.
_FAILED = {"VIOLATED": "violated", "INVALID": "invalid", "NOT EXERCISED": "not exercised"}


def badness(clause: str, kind: str) -> tuple[bool, bool]:
    """For sorting, worst first: what hangs or dies, then what is delivered wrongly, then what isn't refused."""
    return clause in CLAUSES and CLAUSES[clause].family == "refusals", not kind.startswith(("hung", "died", "endless"))


class NoReport(ValueError):
    """The data is no report that this version can show. The message says why, and what would be one."""


@dataclass(frozen=True)
class StoredCase:
    """A case with all that a page shows of it: the commands that replay it and run its script, if it has one.

    `kind` is that of the finding; `reason` and `issue` are those of a known failure, else empty.
    """

    id: str
    title: str
    expected: str
    delivered: tuple[str, ...]
    why: str
    trace: Trace
    replay: str
    script: str = ""
    reason: str = ""
    issue: str = ""
    kind: str = ""


@dataclass(frozen=True)
class Row:
    """One clause of a report. `status` tells a violated SHOULD from a MUST; `place` is where the clause is written.

    `stale`: the clause has other words now than when it was judged.
    """

    clause: str
    status: str
    exercised: int
    note: str
    sentence: str
    place: str
    cases: tuple[StoredCase, ...]
    stale: bool = False


@dataclass(frozen=True)
class Stored:
    """A report with its rows in the order of the chapters. `raw` is the JSON data itself."""

    name: str
    passed: bool
    claims: Claims
    guarantees: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[Row, ...]
    raw: Mapping[str, Any]

    def count(self, status: str) -> int:
        """How many clauses have this outcome."""
        return sum(row.status == status for row in self.rows)

    @property
    def verdict(self) -> str:
        """What a reader must know first."""
        if self.passed:
            return "green: everything that is claimed holds, or is a known failure"
        judged = sum(row.status != "NOT CLAIMED" for row in self.rows)
        found = [(words, self.count(status)) for status, words in _FAILED.items() if self.count(status)]
        told = [f"{number} {words}" for words, number in found] or [
            "a SHOULD clause is violated, and the run was strict"
        ]
        if found:
            told[0] = told[0].replace(" ", f" of {judged} clauses ", 1)
        return f"not green: {', '.join(told)}"


def read_json(path: Path) -> Any:
    """The data of a JSON file. NoReport if it can't be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NoReport(f"{path} can't be read ({error.strerror}); give a file that --report-json wrote") from error
    except ValueError as error:
        raise NoReport(f"{path} is no JSON ({error}); give a file that --report-json wrote") from error


def stored(report: Any) -> Stored:
    """The report behind JSON data. NoReport if it is none."""
    if not isinstance(report, Mapping) or "clauses" not in report:
        raise NoReport("the data is no report of loaderspec; give a file that --report-json wrote")
    if report.get("schema") != SCHEMA:
        raise NoReport(
            f"the report has schema {report.get('schema')!r}, and this version reads {SCHEMA}; "
            "use the version of loaderspec that wrote it"
        )
    try:
        name, strict = str(report["implementation"]), bool(report["strict"])
        ids = sorted(report["clauses"], key=_place)
        return Stored(
            name,
            bool(report["passed"]),
            claims_of(report["claims"]),
            tuple(map(str, report["guarantees"])),
            tuple(map(str, report["notes"])),
            tuple(_row(clause, report["clauses"][clause], name, strict, str(report["specs"])) for clause in ids),
            report,
        )
    except (KeyError, TypeError, ValueError, AttributeError, AdapterError) as error:
        told = f"lacks {error}" if isinstance(error, KeyError) else f"can't be read ({error})"
        raise NoReport(f"the report {told}; use the version of loaderspec that wrote it") from error


def claims_of(given: Mapping[str, Any]) -> Claims:
    """The claims, whose defaults are spelled out: what is not claimed is left out, however a version spells that."""
    defaults = Claims()
    spelled = {name: value for name, value in given.items() if value is not None and value != []}
    return parse_claims(
        {name: v for name, v in spelled.items() if v is not False or getattr(defaults, name, None) is True}
    )


def _place(clause: str) -> tuple[Any, ...]:
    # A clause of another version goes to the end.
    return (0, *CLAUSES[clause].number) if clause in CLAUSES else (1, clause, 0)


def _row(clause: str, data: Mapping[str, Any], implementation: str, strict: bool, specs: str) -> Row:
    text = clause_texts().get(clause)
    status = str(data["status"])
    if status == "VIOLATED" and data["level"] == "SHOULD" and not strict:
        status = "VIOLATED (SHOULD)"
    if status not in SIGNS:
        raise ValueError(f"{clause} has the outcome {status!r}, which is none")
    known = [(each["case"], str(each["reason"]), str(each["issue"])) for each in data.get("known", [])]
    cases = [(data["case"], "", ""), *known] if data["case"] else known
    return Row(
        clause,
        status,
        int(data["exercised"]),
        str(data["note"]),
        text.sentence if text else "a clause of another version of the specs",
        text.link if text else "",
        tuple(_case(clause, case, implementation, reason, issue) for case, reason, issue in cases),
        _is_stale(clause, data.get("words"), specs),
    )


def not_claimed(clause: str) -> Row:
    """The row of a clause that asks nothing of a loader, as its claims say."""
    text = clause_texts()[clause]
    return Row(clause, "NOT CLAIMED", 0, "", text.sentence, text.link, ())


def _is_stale(clause: str, words: str | None, specs: str) -> bool:
    """Whether a clause is written otherwise now. A report of an earlier version tells its clauses' words together."""
    if clause not in CLAUSES:
        return True
    return specs != specs_digest() if words is None else words != clause_digest(clause)


def _case(clause: str, data: Mapping[str, Any], implementation: str, reason: str, issue: str) -> StoredCase:
    trace = from_json(json.dumps(data["trace"]))
    name, finding = str(data["id"]), Finding(*(data[each.name] for each in fields(Finding)))
    scripted = not reason and has_script(Case(clause, trace.scenario, finding, trace), implementation)
    return StoredCase(
        name,
        trace.scenario.describe(),
        str(data["expected"]),
        tuple(map(str, data["delivered"])),
        str(data["why"]),
        trace,
        f"loaderspec run {shlex.quote(implementation)} --case={shlex.quote(name)}",
        f"python {shlex.quote(f'{REPRO_FOLDER}/{name}.py')}" if scripted else "",
        reason,
        issue,
        finding.kind,
    )
