"""What a run leaves behind: decides which files are written, and what is shown of a failing clause.

Shared by pytest's plugin and the plain command, so that both write the same bytes.
"""

import secrets
from pathlib import Path

from conformance.clauses import CLAUSES
from conformance.contract import AdapterError
from conformance.known import template
from conformance.outcome import Outcome, Report
from conformance.report.json_report import as_json
from conformance.report.repro import write
from conformance.report.text import failure_block, has_script

REPRODUCTIONS = Path("loaderspec-repro")


def random_seed(given: str) -> int:
    """The seed that a person chose: a number, or "random" for a new one. AdapterError if it is neither."""
    if given == "random":
        return secrets.randbelow(2**31)
    if not (given.isascii() and given.isdigit()):
        raise AdapterError(f"--seed={given} is no seed; give a whole number from 0 on, or 'random'")
    return int(given)


def refuse_unwritable(json_path: str | None, known_path: str | None) -> None:
    """Before a run of minutes: AdapterError if a file that it shall write can't be."""
    for option, path in (("--report-json", json_path), ("--write-known", known_path)):
        if path and (Path(path).is_dir() or not Path(path).absolute().parent.is_dir()):
            what = "it is a folder" if Path(path).is_dir() else "its folder does not exist"
            raise AdapterError(f"{option}={path} can't be written: {what}; give a file in a folder that exists")


def block(outcome: Outcome, implementation: str) -> str:
    """The failure block, or the one sentence that says what is amiss."""
    if outcome.case is not None:
        return failure_block(outcome.case, implementation)
    return f"{outcome.clause} {outcome.status}  {outcome.note}"


def write_files(report: Report, json_path: str | None, known_path: str | None) -> None:
    """Write what was asked for: JSON, the template of known failures; and a reproduction script for each violation."""
    if json_path:
        Path(json_path).write_text(as_json(report), encoding="utf-8")
    cases = [outcome.case for outcome in report.outcomes if outcome.status == "VIOLATED" and outcome.case]
    if known_path:
        Path(known_path).write_text(
            template(case for case in cases if report.strict or CLAUSES[case.clause].level == "MUST"),
            encoding="utf-8",
        )
    for case in filter(has_script, cases):
        write(case, report.implementation, REPRODUCTIONS, report.claims)
