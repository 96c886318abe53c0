"""The commands on stored reports: `loaderspec report` shows one in other forms, `loaderspec verify` runs one again."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.clauses import CLAUSES
from conformance.contract import AdapterError
from conformance.processes.origin import digests_of
from conformance.processes.sources import source_of
from conformance.report import forms
from conformance.report.html.matrix import matrix_page
from conformance.report.json_report import as_json
from conformance.report.markdown import matrix_markdown
from conformance.report.matrix import is_matrix
from conformance.report.output import FORMS, Wanted, refuse_unwritable
from conformance.report.receipt import adapter_changed, adapter_elsewhere, compared, options_of
from conformance.report.stored import NoReport, Stored, read_json, stored
from conformance.trial.session import Session

EXIT_AGREES, EXIT_DIFFERS, EXIT_CANT = 0, 1, 4
_OF_MATRIX: dict[str, Callable[[Any], str]] = {"html": matrix_page, "markdown": matrix_markdown}


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec report`."""
    parser.add_argument("file", help="what --report-json or `loaderspec matrix` wrote")
    for form in FORMS:
        parser.add_argument(f"--{form}", metavar="FILE", help=forms.WORDS[form])


def report(given: argparse.Namespace) -> int:
    """Write a stored report in the forms that are asked for. Code 4 if it can't be read, or a file not written."""
    wanted = {form: getattr(given, form) for form in FORMS if getattr(given, form)}
    try:
        if not wanted:
            raise NoReport("nothing to write; give --html=FILE, --markdown=FILE or --badge=FILE")
        data = read_json(Path(given.file))
        refuse_unwritable(Wanted(wanted))
        made = {form: _renderer(form, data)(data) for form in wanted}
    except (NoReport, AdapterError) as error:
        return _cant(str(error))
    for form, text in made.items():
        Path(wanted[form]).write_text(text, encoding="utf-8")
    return EXIT_AGREES


def _renderer(form: str, data: Any) -> Callable[[Any], str]:
    return _OF_MATRIX.get(form, FORMS[form]) if is_matrix(data) else FORMS[form]


def add_verify_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec verify`."""
    parser.add_argument("receipt", help="the JSON that --report-json wrote")
    parser.add_argument("--impl", help="where the implementation is, if not where the receipt says")
    parser.add_argument("--anyway", action="store_true", help="go on although the adapter has changed")


def verify(given: argparse.Namespace) -> int:
    """Run a receipt again. Code 0: the verdicts agree; 1: they differ; 4: it can't be run, a sentence says why."""
    try:
        receipt = stored(read_json(Path(given.receipt)))
        again = _judged_again(receipt, given.impl or receipt.name, given.anyway)
    except (NoReport, AdapterError) as error:
        return _cant(str(error))
    comparison = compared(receipt, again)
    for remark in comparison.remarks:
        print(f"note: {remark}")
    for difference in comparison.differences:
        print(f"differs: {difference}")
    number = len(receipt.rows)
    if comparison.agrees:
        print(f"{receipt.name}: the verdicts agree on {_clauses(number)} (tier {receipt.raw['tier']})")
        return EXIT_AGREES
    print(f"{receipt.name}: the verdicts differ on {len(comparison.differences)} of {_clauses(number)}")
    return EXIT_DIFFERS


def _clauses(number: int) -> str:
    return f"{number} clause" if number == 1 else f"{number} clauses"


def _judged_again(receipt: Stored, implementation: str, anyway: bool) -> Stored:
    """The report of the same run here. NoReport if the adapter is another one, and that is not wanted."""
    options = options_of(receipt)
    # Before anything is imported: what a receipt names may do anything.
    if not anyway:
        _refuse_another(adapter_elsewhere(receipt, digests_of(implementation)))
    source, name = source_of(implementation)
    with Session(source, name, options) as session:
        changed = adapter_changed(receipt, session.origin.digest)
        if not anyway:
            _refuse_another(changed)
        if changed:
            print(f"note: {changed}")
        made = session.report([CLAUSES[row.clause] for row in receipt.rows])
    return stored(json.loads(as_json(made)))


def _refuse_another(changed: str) -> None:
    if changed:
        raise NoReport(f"{changed}; give --anyway to judge this one, or --impl=X for where the other one is")


def _cant(sentence: str) -> int:
    print(f"loaderspec: {sentence}", file=sys.stderr)
    return EXIT_CANT
