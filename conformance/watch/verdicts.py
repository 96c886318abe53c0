"""From a record to what is shown: decides what of the verdict is accepted, and what the report begins with."""

import os
from collections.abc import Sequence
from pathlib import Path

from conformance.audit.accepting import accepting
from conformance.audit.text import shown
from conformance.audit.verdict import Verdict, audit_folder

SameData = Sequence[Sequence[int]]


def verdict_of(folder: Path, same_data: SameData = (), limited: bool = False) -> tuple[Verdict, list[str]]:
    """The verdict over a record, without what is accepted; and what is said of the acceptances.

    `limited`: the job was stopped, so that what was not found may be there. Unfit if pyproject.toml can't be read.
    """
    return accepting(audit_folder(folder, same_data), limited)


def report(verdict: Verdict, first: Sequence[str], last: Sequence[str], done: str) -> str:
    """The text: what was not seen, then the findings, then acceptances that are out of date."""
    lines = [*first, shown(verdict, Path.cwd(), done), *last]
    return os.linesep.join(lines)
