"""What of a verdict the user accepts: decides which findings become notes, and what is said of the acceptances."""

from pathlib import Path

from conformance.audit.accepted import Acceptance, acceptances
from conformance.audit.verdict import Judged, Verdict
from conformance.audit.view import Finding


def accepting(verdict: Verdict, limited: bool = False) -> tuple[Verdict, list[str]]:
    """The verdict without what is accepted, and sentences on acceptances that accept nothing.

    `limited`: the job was stopped, so that what was not found may be there. Unfit if pyproject.toml has one that can't
    be read.
    """
    files = {group.file for group in verdict.groups} | {finding.file for finding in verdict.findings}
    known = acceptances(files - {"?"}, Path.cwd())
    used: set[Acceptance] = set()
    for group in verdict.groups:
        for finding in group.findings:
            reason = next((each for each in known if each.reason and _covers(each, finding, group)), None)
            if reason is not None:
                used.add(reason)
                verdict = verdict.without(finding, f"{reason.where}: {reason.reason}")
    told = [each.lacks for each in known if not each.reason]
    stale = [each for each in known if each.reason and each not in used and not limited and verdict.recorded]
    return verdict, told + [
        f"{each.where} accepts {each.finding}, which was not found: take it away ({each.reason})" for each in stale
    ]


def _covers(acceptance: Acceptance, finding: Finding, group: Judged) -> bool:
    return acceptance.covers(finding.id, [(finding.file, finding.line), (group.file, group.line)])
