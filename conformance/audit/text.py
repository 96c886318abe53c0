"""The verdict on a terminal: decides how wide a line is, and what of a path is shown."""

import os
import textwrap
from pathlib import Path

from conformance.audit.finding import Finding
from conformance.audit.verdict import Judged, Verdict
from conformance.report.spec_text import clause_texts
from conformance.report.ways_out import ways_out
from conformance.trial.words import clipped, count, printable

_WIDTH = 118
_CLAUSE = 10


def shown(verdict: Verdict, base: Path | None = None, done: str = "audited", notes: bool = True) -> str:
    """The block for a terminal: each loader, its findings, what else is told, and a line that sums up.

    Paths are shown from `base`, the working directory if none is given. `done` is what was done with the loaders.
    """
    base = base or Path.cwd()
    lines = [printable(note) for note in verdict.notes]
    for group in verdict.groups:
        lines += _group(group, base, notes)
    lines.append(_summed_up(verdict, done))
    return "\n".join(lines)


def place(file: str, line: int, base: Path) -> str:
    """``train.py:9``, from `base` where it lies below it."""
    file = os.path.relpath(file, base) if Path(file).is_relative_to(base) else file
    return f"{file}:{line}"


def _group(group: Judged, base: Path, notes: bool) -> list[str]:
    lines = [f"{place(group.file, group.line, base)}  {group.title}"]
    for finding in group.findings:
        lines += _finding(finding, base)
    for note in group.notes if notes else ():
        lines += _wrapped("", note.sentence, "")
    return [printable(line) for line in lines]


def _finding(finding: Finding, base: Path) -> list[str]:
    where = place(finding.file, finding.line, base)
    lines = _wrapped(finding.id, finding.sentence, where)
    room = _WIDTH - _CLAUSE - 4
    return lines + [" " * (_CLAUSE + 4) + clipped(line, room, end=False) for line in finding.excerpt]


def _wrapped(clause: str, sentence: str, where: str) -> list[str]:
    """A sentence beside its clause; the line of source ends its first line, or stands on its own."""
    width = _WIDTH - _CLAUSE - 2
    first, *rest = textwrap.wrap(sentence, width, break_on_hyphens=False)
    if where and not rest and len(first) + len(where) + 2 <= width:
        first = f"{first}{where:>{width - len(first)}}"
        where = ""
    lines = [f"  {clause:<{_CLAUSE}}{first}", *(" " * (_CLAUSE + 2) + line for line in rest)]
    if where:
        last = lines[-1]
        room = _WIDTH - len(last)
        lines[-1:] = [f"{last}{where:>{room}}"] if room > len(where) + 1 else [last, f"{where:>{_WIDTH}}"]
    return lines


def _summed_up(verdict: Verdict, done: str) -> str:
    if not verdict.recorded:
        return "nothing was recorded: no loader was iterated in a process that is recorded."
    findings = verdict.findings
    line = f"{count(len(verdict.groups), 'loader')} {done}, {count(len(findings), 'finding')}."
    known = dict.fromkeys(each.id for each in findings if each.id in clause_texts() or each.id in ways_out())
    if not findings:
        return "   ".join([line, *_not_looked_at(verdict)[:1]])
    return f"{line}   what to do: loaderspec explain {' '.join(known)}" if known else line


def _not_looked_at(verdict: Verdict) -> list[str]:
    """What a verdict without findings does not mean; the first of these is said."""
    by_index = ["samples were told apart by index alone; --id-field F does it by a field"] * verdict.by_index
    return (
        by_index + ["how many samples there are is not known; --samples N tells whether all came"] * verdict.uncounted
    )
