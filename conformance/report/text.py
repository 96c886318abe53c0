"""What a person reads: decides the shape of the failure block and of the closing table.

A block has at most 12 lines of at most 110 columns. Its commands can be copied as they stand: one that is too long is
continued with a backslash, never cut.
"""

import re
import shlex
import textwrap
from collections.abc import Iterator
from dataclasses import fields
from html import escape
from pathlib import Path

from conformance.report.choice import has_script
from conformance.report.guarantees import guarantee_line
from conformance.report.spec_text import clause_text
from conformance.report.unclaimed import joined_ids, unclaimed_claims, unclaimed_line
from conformance.trial.clause import Level
from conformance.trial.outcome import Outcome, Report
from conformance.trial.result import Case
from conformance.trial.words import clipped, printable

__all__ = ["failure_block", "has_script", "summary"]

COLUMNS = 110
BLOCK_LINES = 12
REPRO_FOLDER = "loaderspec-repro"
_SUITE = "conformance"
_LABEL = 18  # the columns of "  smallest case   "
_VALUE = COLUMNS - _LABEL
_MORE = re.compile(r"\.\.\. and (\d+) more ranks")
# What was delivered is shown in at least this many lines; the words around it are shortened first.
_LEAST_DELIVERED = 3
_COLOURS = {"HOLDS": "32", "VIOLATED": "31", "KNOWN": "33", "NOT EXERCISED": "31", "INVALID": "31"}
# The order and the words of the last line. The verb is the clauses', so that "30 HOLD".
_COUNTED = ("HOLDS", "VIOLATED", "VIOLATED (SHOULD)", "KNOWN", "NOT EXERCISED", "INVALID", "NOT CLAIMED")


def failure_block(case: Case, implementation: str, is_written: bool = True) -> str:
    """A violated clause with its smallest case, for a person: what was expected, what came, why, and how to see it.

    There is no command where `implementation`, the word for `--impl`, is "". `is_written`: its script is, if any.
    """
    head = _header(case)
    commands = [_field(name, _command(words)) for name, words in _commands(case, implementation, is_written).items()]
    room = BLOCK_LINES - len(head) - sum(map(len, commands))
    wanted = min(_LEAST_DELIVERED, len(case.finding.delivered))
    words = next((words for words in _wordings(case) if sum(map(len, words)) + wanted <= room), _shortest(case))
    delivered = _fit(case.finding.delivered, max(1, room - sum(map(len, words))))
    smallest, expected, why = words
    parts = [("smallest case", smallest), ("expected", expected), ("delivered", delivered), ("why", why)]
    lines = [*head, *(line for name, lines in parts for line in _field(name, lines))]
    return printable("\n".join([*lines, *(line for command in commands for line in command)]))


class PrintedReport(Report):
    """A report that prints as a person reads it."""

    def __str__(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        """The table as a notebook shows it, failures first, with the guarantees below."""
        judged = [outcome for outcome in self.outcomes if outcome.status != "NOT CLAIMED"]
        rows = [_cells(outcome) for outcome in sorted(judged, key=lambda outcome: not outcome.fails(self.strict))]
        head = "".join(f"<th>{name}</th>" for name in ("clause", "outcome", "exercised", "smallest case"))
        table = f"<table><tr>{head}</tr>{''.join(rows)}</table>"
        told = (f"guarantees: {guarantee_line(self)}", f"{self.implementation}: {_counts(self)}")
        return f"{table}{''.join(f'<p>{escape(printable(line))}</p>' for line in told)}"


def _cells(outcome: Outcome) -> str:
    case = outcome.case.scenario.code if outcome.case else outcome.note
    title = escape(clause_text(outcome.clause).sentence)
    cells = (_status(outcome), str(outcome.exercised), printable(case))
    shown = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f'<tr><td title="{title}">{outcome.clause}</td>{shown}</tr>'


def printed(report: Report) -> PrintedReport:
    """The same report, in the form that prints."""
    return PrintedReport(**{each.name: getattr(report, each.name) for each in fields(report)})


def summary(report: Report, color: bool = False, told: frozenset[str] = frozenset(), verbose: bool = False) -> str:
    """The closing table, the notes, what is not claimed and what is guaranteed, and the count of each outcome.

    `told` are the clauses whose note the reader has seen already. What is not claimed is told by claim, and `verbose`
    by the ids of the clauses.
    """
    judged = [outcome for outcome in report.outcomes if outcome.status != "NOT CLAIMED"]
    lines = [*_table(judged, color), ""] if judged else []
    for name, text in _remarks(report, told, verbose):
        sentence, *more = text.split("\n")
        lines += textwrap.wrap(
            f"{name}: {sentence}",
            COLUMNS,
            subsequent_indent=" " * min(len(name) + 2, 13),
            # An id or a case that is parted at its hyphen is found by nobody.
            break_on_hyphens=False,
            break_long_words=False,
        )
        lines += more
    lines.append(f"{report.implementation}: {_counts(report)}")
    return printable("\n".join(lines), but="\033" if color else "")


def _remarks(report: Report, told: frozenset[str], verbose: bool) -> Iterator[tuple[str, str]]:
    cases = [outcome.case.scenario for outcome in report.outcomes if outcome.case]
    if cases:
        plainest = min(cases, key=lambda case: len(case.code))
        yield "how to read a case", f"{plainest.code} is {plainest.describe()}"
    notes: dict[str, list[str]] = {}
    for outcome in report.outcomes:
        if outcome.note and outcome.clause not in told:
            notes.setdefault(outcome.note, []).append(outcome.clause)
    for note, clauses in notes.items():
        yield "note", f"{joined_ids(clauses)}: {note}"
    yield from (("note", note) for note in report.notes)
    # One that has a note would not be judged with any claim.
    unclaimed = [each.clause for each in report.outcomes if each.status == "NOT CLAIMED" and not each.note]
    if unclaimed:
        line = unclaimed_line if verbose else unclaimed_claims
        yield "not claimed", line(unclaimed, report.claims)
    yield "guarantees", guarantee_line(report)


# --- the block ----------------------------------------------------------------------------------------------------


def _header(case: Case) -> list[str]:
    text = clause_text(case.clause)
    title = f"{case.clause} {_title(text.level)}  "
    # In the shape of one line as long as that fits, else the sentence goes on below and the link ends its last line.
    lines = textwrap.wrap(title + text.sentence, COLUMNS, subsequent_indent="  ", break_long_words=False)
    if len(lines[-1]) + 2 + len(text.link) <= COLUMNS:
        return [*lines[:-1], f"{lines[-1]}{text.link:>{COLUMNS - len(lines[-1])}}"]
    return [*lines, f"{text.link:>{COLUMNS}}"]


def _wordings(case: Case) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """The smallest case, the expected and the why, from full to short."""
    texts = (case.scenario.describe(), case.finding.expected, case.finding.why)
    wrapped = [textwrap.wrap(text, _VALUE) for text in texts]
    for most in (3, 2):
        yield wrapped[0], _cut(wrapped[1], most), _cut(wrapped[2], most)
    yield wrapped[0], _cut(wrapped[1], 1), _cut(wrapped[2], 1)


def _shortest(case: Case) -> tuple[list[str], list[str], list[str]]:
    expected, why = (_cut(textwrap.wrap(text, _VALUE), 1) for text in (case.finding.expected, case.finding.why))
    return [case.scenario.code], expected, why


def _title(level: Level) -> str:
    return "VIOLATED" if level == "MUST" else "VIOLATED (SHOULD)"


def _commands(case: Case, implementation: str, is_written: bool) -> dict[str, list[str]]:
    # What no name stands for can't be asked for in another process.
    if not implementation:
        return {}
    script = ["python", shlex.quote(f"{REPRO_FOLDER}/{case.id}.py")]
    reproduce = {"reproduce": script} if is_written and has_script(case, implementation) else {}
    options = [f"--impl={shlex.quote(implementation)}", f"--case={shlex.quote(case.id)}"]
    return {**reproduce, "replay": [f"pytest {_suite()}", *options]}


def _suite() -> str:
    """What pytest is told to find this suite: its folder in a clone, its name elsewhere."""
    here = Path(_SUITE).resolve() == Path(__file__).resolve().parents[1]
    return _SUITE if here else f"--pyargs {_SUITE}"


def _command(words: list[str]) -> list[str]:
    lines = [words[0]]
    for word in words[1:]:
        if len(lines[-1]) + 1 + len(word) <= _VALUE - 2:
            lines[-1] += f" {word}"
        else:
            lines[-1] += " \\"
            lines.append(word)
    return lines


def _field(name: str, lines: list[str]) -> list[str]:
    first = f"  {name:<{_LABEL - 2}}{lines[0] if lines else ''}".rstrip()
    return [first, *(" " * _LABEL + line for line in lines[1:])]


def _cut(lines: list[str], most: int) -> list[str]:
    """At most this many lines; dots say that there was more."""
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], clipped(" ".join(lines[most - 1 :]), _VALUE, end=False)]


def _fit(delivered: tuple[str, ...], most: int) -> list[str]:
    """What was delivered in this many lines: those that are pointed at stay longest, and dots say what is hidden."""
    lines = [part for line in delivered for part in _wrapped(line)]
    if len(lines) <= most:
        return lines
    # The judge may have left out ranks already: they are counted with what is left out here.
    hidden, whole = _left_out(delivered)
    lines = [_squeezed(line) for line in whole]
    if most == 1:
        return lines[:most]
    # The pointed-at ones first, then the last (it may say what is on no rank), then those from the top.
    order = sorted(range(len(lines)), key=lambda at: ("<-" not in lines[at], at != len(lines) - 1, at))
    kept = sorted(order[: most - 1])
    return [*(lines[at] for at in kept), f"... and {hidden + len(lines) - len(kept)} more lines"]


def _left_out(delivered: tuple[str, ...]) -> tuple[int, list[str]]:
    """How many lines the judge says that it left out, and the lines without that one."""
    told = [int(match[1]) for line in delivered if (match := _MORE.fullmatch(line))]
    return sum(told), [line for line in delivered if not _MORE.fullmatch(line)]


def _wrapped(line: str) -> list[str]:
    """A line of words goes on below; one that points at something is pointed at its end, and gives way instead."""
    if " <- " in line:
        return [_squeezed(line)]
    return textwrap.wrap(line, _VALUE, subsequent_indent="  ", break_on_hyphens=False) or [line]


def _squeezed(line: str) -> str:
    """The line in the width of a value. The samples in its middle give way, its beginning and its note do not."""
    if len(line) <= _VALUE:
        return line
    body, arrow, note = line.partition(" <- ")
    room = _VALUE - len(arrow) - len(note)
    if room < 2 * _LABEL:
        return clipped(line, _VALUE, end=False)
    return f"{clipped(body.rstrip(), room)}{arrow}{note}"


# --- the table ----------------------------------------------------------------------------------------------------


def _table(outcomes: list[Outcome], color: bool) -> Iterator[str]:
    # The last column holds what `--case` takes after the clause, whole: a case that is cut can't be replayed.
    cases = [outcome.case.scenario.code if outcome.case else "" for outcome in outcomes]
    columns = zip(outcomes, cases, strict=True)
    rows = [(each.clause, _status(each), str(each.exercised), case) for each, case in columns]
    head = ("clause", "outcome", "exercised", "smallest case" if any(cases) else "")
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(3)]
    yield _row(head, widths)
    for row, outcome in zip(rows, outcomes, strict=True):
        line = _row(row, widths)
        yield f"\033[{_COLOURS[outcome.status]}m{line}\033[0m" if color and outcome.status in _COLOURS else line


def _row(row: tuple[str, str, str, str], widths: list[int]) -> str:
    return f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]}".rstrip()


def _status(outcome: Outcome) -> str:
    return _title(outcome.level) if outcome.status == "VIOLATED" else outcome.status


def _counts(report: Report) -> str:
    statuses = [_status(outcome) for outcome in report.outcomes]
    words = {name: name.replace("HOLDS", "HOLD") for name in _COUNTED}
    found = [f"{statuses.count(name)} {words[name]}" for name in _COUNTED if name in statuses]
    return ", ".join(found) if found else "no clause was judged"
