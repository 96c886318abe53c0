"""From a record to what is shown: decides what of the verdict is accepted, and what the report begins with."""

import os
from collections.abc import Sequence
from pathlib import Path

from conformance.audit.text import shown
from conformance.audit.verdict import Judged, Verdict, audit_folder
from conformance.audit.view import Finding
from conformance.watch.accepted import Acceptance, acceptances

SameData = Sequence[Sequence[int]]


def verdict_of(folder: Path, same_data: SameData = (), limited: bool = False) -> tuple[Verdict, list[str]]:
    """The verdict over a record, without what is accepted; and the acceptances that are out of date.

    `limited`: the job was stopped, so that what was not found may be there. Unfit if an acceptance has no reason.
    """
    verdict = audit_folder(folder, same_data)
    files = {group.file for group in verdict.groups} | {finding.file for finding in verdict.findings}
    accepted = acceptances(files - {"?"}, Path.cwd())
    used: set[Acceptance] = set()
    for group in verdict.groups:
        for finding in group.findings:
            reason = next((each for each in accepted if _covers(each, finding, group)), None)
            if reason is not None:
                used.add(reason)
                verdict = verdict.without(finding, f"{reason.where}: {reason.reason}")
    stale = [each for each in accepted if each not in used and not limited and verdict.recorded]
    return verdict, [
        f"{each.where} accepts {each.finding}, which was not found: take it away ({each.reason})" for each in stale
    ]


def _covers(acceptance: Acceptance, finding: Finding, group: Judged) -> bool:
    return acceptance.covers(finding.id, [(finding.file, finding.line), (group.file, group.line)])


def report(verdict: Verdict, first: Sequence[str], last: Sequence[str], done: str) -> str:
    """The text: what was not seen, then the findings, then acceptances that are out of date."""
    lines = [*first, shown(verdict, Path.cwd(), done), *last]
    return os.linesep.join(lines)
