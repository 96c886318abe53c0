"""What a machine reads: decides the JSON of a report. The same run gives the same bytes.

No times, no absolute paths, no addresses; keys are sorted, each trace stands on one line, the text ends with a newline.
It is a receipt too: `loaderspec verify` runs it again. The schema, version 1:

    schema          1
    suite           {"name": "loaderspec", "version": "0.1.0"}
    specs           digest of the clauses' text: two reports with one digest were judged by the same words
    versions        {"python", "hypothesis", "numpy", "torch"}; null where a package is not installed
    implementation  as --impl named it (a path outside the current folder: its last part)
    adapter         {"digest": of the source of the adapter's module, 12 hex digits, null if it can't be read;
                    "packages": {name: version} that the adapter is in or imports, null if imported and not installed}
    claims          every claim, the defaults spelled out
    tier, seed, strict, patience, passed
    replayed        the one case that was run in place of all that is usually tried, or null
    counts          {outcome: number of clauses}
    guarantees      [sentence, ...], weakest first
    notes           [sentence, ...]
    clauses         {id: {level, words, status, exercised, note, case, known}}; words is the digest of this clause's
                    text, so that two outcomes can be told to be of one wording; case is null or
                    {id, scenario, kind, expected, delivered: [line, ...], why, trace}; known is a list of
                    {reason, issue, case}, the replayed known failures of the clause

`scenario` is an object of the names in `conformance.trace.FIELDS`; `trace` is what `conformance.trace.from_json` reads,
once it is text again (`json.dumps`).
"""

import dataclasses
import json
import platform
from collections import Counter
from hashlib import blake2b
from pathlib import PurePath
from typing import Any

from conformance.processes.origin import installed
from conformance.report.guarantees import guarantees
from conformance.report.spec_text import ClauseText, clause_text, clause_texts
from conformance.trace import Trace, to_json
from conformance.trial.outcome import Outcome, Report
from conformance.trial.result import Case

SCHEMA = 1
_LIBRARIES = ("hypothesis", "numpy", "torch")


def as_json(report: Report) -> str:
    """The report as JSON text, in the schema that this module's docstring lists."""
    traces: dict[str, str] = {}
    text = json.dumps(_report(report, traces), indent=2, sort_keys=True, ensure_ascii=False)
    # Indented, the traces of a statistical clause would fill a line for each sample.
    for mark, trace in traces.items():
        text = text.replace(json.dumps(mark), trace)
    return text + "\n"


def shown_name(implementation: str) -> str:
    """The implementation without what differs from machine to machine: the folders of an absolute path."""
    return PurePath(implementation).name if PurePath(implementation).is_absolute() else implementation


def _report(report: Report, traces: dict[str, str]) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "suite": {"name": "loaderspec", "version": installed("loaderspec") or "not installed"},
        "specs": specs_digest(),
        "versions": {"python": platform.python_version(), **{name: installed(name) for name in _LIBRARIES}},
        "implementation": shown_name(report.implementation),
        "adapter": {"digest": report.origin.digest, "packages": dict(report.origin.packages)},
        "claims": report.claims.as_dict(),
        "tier": report.tier,
        "seed": report.seed,
        "strict": report.strict,
        "patience": report.patience,
        "replayed": report.replayed or None,
        "passed": report.passed,
        "counts": Counter(outcome.status for outcome in report.outcomes),
        "guarantees": guarantees(report),
        "notes": report.notes,
        "clauses": {outcome.clause: _outcome(outcome, traces) for outcome in report.outcomes},
    }


def _outcome(outcome: Outcome, traces: dict[str, str]) -> dict[str, Any]:
    return {
        "level": outcome.level,
        "words": clause_digest(outcome.clause),
        "status": outcome.status,
        "exercised": outcome.exercised,
        "note": outcome.note,
        "case": _case(outcome.case, traces) if outcome.case else None,
        "known": [
            {"reason": known.reason, "issue": known.issue, "case": _case(known.case, traces)} for known in outcome.known
        ],
    }


def _case(case: Case, traces: dict[str, str]) -> dict[str, Any]:
    return {
        "id": case.id,
        "scenario": case.scenario.fields(),
        **dataclasses.asdict(case.finding),
        "trace": _marked(case.id, case.trace, traces),
    }


def _marked(name: str, trace: Trace, traces: dict[str, str]) -> str:
    mark = f"\0trace of {name}\0"
    traces[mark] = json.dumps(json.loads(to_json(trace)), sort_keys=True, ensure_ascii=False)
    return mark


def specs_digest() -> str:
    """Twelve hex digits that stand for the words of all clauses."""
    return _digest("\n".join(map(_words, clause_texts().values())))


def clause_digest(clause: str) -> str:
    """Twelve hex digits that stand for the words of one clause."""
    return _digest(_words(clause_text(clause)))


def _words(text: ClauseText) -> str:
    return f"{text.id} {text.level} {text.sentence}\n{text.body}"


def _digest(words: str) -> str:
    return blake2b(words.encode(), digest_size=6).hexdigest()
