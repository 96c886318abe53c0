"""What a run leaves behind: decides which files are written, and what is shown of a failing clause.

Shared by pytest's plugin and the plain command, so that both write the same bytes.
"""

import json
import os
import secrets
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.clauses import CLAUSES
from conformance.contract import AdapterError
from conformance.report import stored
from conformance.report.badge import badge
from conformance.report.html.page import page
from conformance.report.json_report import as_json
from conformance.report.markdown import markdown
from conformance.report.repro import write
from conformance.report.text import COLUMNS, REPRO_FOLDER, failure_block, has_script
from conformance.trial.known import template
from conformance.trial.outcome import Outcome, Report
from conformance.trial.words import printable

REPRODUCTIONS = Path(REPRO_FOLDER)


def random_seed(given: str) -> int:
    """The seed that a person chose: a number, or "random" for a new one. AdapterError if it is neither."""
    if given == "random":
        return secrets.randbelow(2**31)
    if not (given.isascii() and given.isdigit()):
        raise AdapterError(f"--seed={given} is no seed; give a whole number from 0 on, or 'random'")
    return int(given)


# How a form of the report is made from the JSON.
FORMS: dict[str, Callable[[Mapping[str, Any]], str]] = {"html": page, "markdown": markdown, "badge": badge}


@dataclass(frozen=True)
class Wanted:
    """The files that a run shall write, by the options that ask for them; None is none."""

    reports: Mapping[str, str | None] = field(default_factory=dict)
    known: str | None = None


def refuse_unwritable(wanted: Wanted) -> None:
    """Before a run of minutes: AdapterError if a file that it shall write can't be."""
    for option, path in (
        *((f"--{name}", path) for name, path in wanted.reports.items()),
        ("--write-known", wanted.known),
    ):
        what = what_is_in_the_way(Path(path)) if path else ""
        if what:
            raise AdapterError(f"{option}={path} can't be written: {what}; give a file in a folder that exists")


def what_is_in_the_way(path: Path) -> str:
    if path.is_dir():
        return "it is a folder"
    folder = path.absolute().parent
    if not folder.is_dir():
        return "its folder does not exist"
    return "" if os.access(path if path.exists() else folder, os.W_OK) else "it is not writable"


def block(outcome: Outcome, implementation: str, is_written: bool = True) -> str:
    """The failure block, or the one sentence that says what is amiss. `is_written`: its script is."""
    if outcome.case is not None:
        return failure_block(outcome.case, implementation, is_written)
    # Behind the sentence there may be a traceback.
    sentence, *lines = f"{outcome.clause} {outcome.status}  {outcome.note}".split("\n")
    text = textwrap.fill(sentence, COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    return printable("\n".join([text, *lines]))


def badness(outcome: Outcome) -> tuple[bool, bool, bool, tuple[int, int]]:
    """For sorting, worst first: what hangs or dies, then what is delivered wrongly, what isn't refused, and SHOULD."""
    kind = outcome.case.finding.kind if outcome.case else ""
    return outcome.level == "SHOULD", *stored.badness(outcome.clause, kind), CLAUSES[outcome.clause].number


def write_files(report: Report, wanted: Wanted) -> str:
    """Write what was asked for: reports, the template of known failures; and a reproduction script for each violation.

    Returns a sentence if the scripts, which nobody asked for, can't be written, and otherwise "".
    """
    text = as_json(report)
    for option, path in wanted.reports.items():
        form = option.removeprefix("report-")
        if path:
            made = text if form == "json" else FORMS[form](json.loads(text))
            Path(path).write_text(made, encoding="utf-8")
    cases = [outcome.case for outcome in report.outcomes if outcome.status == "VIOLATED" and outcome.case]
    if wanted.known:
        Path(wanted.known).write_text(
            template(case for case in cases if report.strict or CLAUSES[case.clause].level == "MUST"),
            encoding="utf-8",
        )
    try:
        for case in (each for each in cases if has_script(each, report.implementation)):
            write(case, report.implementation, REPRODUCTIONS, report.claims, shape=report.origin.shape)
    except OSError as error:
        return (
            f"the scripts of `reproduce` can't be written to {REPRODUCTIONS} ({error.strerror}); "
            "use the command of `replay`, or run the suite in a folder where they can"
        )
    return ""
