"""What of a verdict the user accepts: decides which findings become notes, and what is said of the acceptances."""

from difflib import get_close_matches
from pathlib import Path

from conformance.audit.accepted import Acceptance, acceptances, not_understood
from conformance.audit.finding import Finding
from conformance.audit.verdict import Judged, Verdict
from conformance.report.spec_text import clause_texts
from conformance.report.ways_out import ways_out


def accepting(verdict: Verdict, limited: bool = False) -> tuple[Verdict, list[str]]:
    """The verdict without what is accepted, and sentences on acceptances that accept nothing.

    `limited`: the job was stopped, so that what was not found may be there. Unfit if pyproject.toml has one that can't
    be read.
    """
    files = {group.file for group in verdict.groups} | {finding.file for finding in verdict.findings}
    files -= {"?"}
    known = acceptances(files, Path.cwd())
    used: set[Acceptance] = set()
    for group in verdict.groups:
        for finding in group.findings:
            reason = next((each for each in known if each.reason and _covers(each, finding, group)), None)
            if reason is not None:
                used.add(reason)
                verdict = verdict.without(finding, f"{reason.where}: {reason.reason}")
    told = [*(each.lacks for each in known if not each.reason), *not_understood(files)]
    unused = [each for each in known if each.reason and each not in used]
    told += [_misnamed(each) for each in unused if not _is_finding(each.finding)]
    stale = [each for each in unused if _is_finding(each.finding) and not limited and verdict.recorded]
    return verdict, told + [
        f"{each.where} accepts {each.finding}, which was not found: take it away ({each.reason})" for each in stale
    ]


def _is_finding(name: str) -> bool:
    return name in clause_texts() or name in ways_out()


def _misnamed(acceptance: Acceptance) -> str:
    """What is said of one for which there is no finding of that name."""
    near = get_close_matches(acceptance.finding.upper(), [*clause_texts(), *ways_out()], 1)
    instead = f"did you mean {near[0]}?" if near else "`loaderspec explain` lists them all."
    return f"{acceptance.where} accepts {acceptance.finding}, which is no finding: {instead}"


def _covers(acceptance: Acceptance, finding: Finding, group: Judged) -> bool:
    return acceptance.covers(finding.id, [(finding.file, finding.line), (group.file, group.line)])
