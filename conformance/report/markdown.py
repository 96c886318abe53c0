"""The report and the matrix as Markdown: decides what fits a pull request and `$GITHUB_STEP_SUMMARY`.

A cell of a matrix leads to a heading below by the anchor that GitHub makes of it.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from conformance.report.matrix import Matrix, PeerColumn, matrix
from conformance.report.spec_text import in_short
from conformance.report.stored import SIGNS, Row, Stored, StoredCase, stored

# A step's summary holds 1 MiB; a case has at most this many lines of what was delivered.
_MOST_LINES = 12
# What would be read as markup in running text or end a table's cell.
_MARKS = re.compile(r"([\\`*\[\]<>|#~]|(?<!\w)_|_(?!\w))")


def markdown(report: Mapping[str, Any]) -> str:
    """The report of one run. NoReport if the data is none."""
    found = stored(report)
    judged = f"tier {found.raw['tier']}, seed {found.raw['seed']}"
    parts = [f"## {_text(found.name)}: {found.verdict}", f"{_counts(found)} ({judged})", *_promises(found)]
    rows = [row for row in found.rows if row.status not in ("HOLDS", "NOT CLAIMED")]
    if rows:
        parts.append(_table(("clause", "outcome", "exercised", "smallest case"), map(_cells, rows)))
    parts += [part for row in found.rows for part in _cases(row, row.clause)]
    return _document([*parts, *(f"Note: {_text(note)}." for note in found.notes), _folded(found)])


def matrix_markdown(data: Mapping[str, Any]) -> str:
    """Peers x clauses. NoReport if the data is none."""
    found = matrix(data)
    peers = [(_linked(peer), _text(peer.packages), _text(peer.verdict)) for peer in found.peers]
    heads = ("clause", "in short", *(_text(peer.name) for peer in found.judged))
    rows = [
        (clause, _text(in_short().get(clause, "")), *(_cell(peer, clause) for peer in found.judged))
        for clause in found.clauses
    ]
    signs = " · ".join(f"{sign} {status}" for status, sign in SIGNS.items())
    signs += " · (old) judged by earlier words of the clause · ? (new) the clause is newer" if found.stale else ""
    parts = ["# What data loaders deliver, clause by clause", _text(found.circumstances)]
    parts += [_table(("loader", "versions", "result"), peers), *_staleness(found), _table(heads, rows), signs]
    for peer in found.judged:
        parts += [f"## {_text(peer.name)}", _text(f"{peer.title}. {peer.verdict}.")]
        parts += _promises(peer.report) if peer.report else []
        judged = peer.report.rows if peer.report else ()
        parts += [part for row in judged for part in _cases(row, f"{peer.name} {row.clause}")]
    return _document(parts)


def _staleness(found: Matrix) -> list[str]:
    if not found.stale:
        return []
    return [f"{found.staleness} Stale are {_text('; '.join(found.stale_together))}."]


def _document(parts: Iterable[str]) -> str:
    return "\n\n".join(part for part in parts if part) + "\n"


def _text(words: str) -> str:
    """Words in running text or a cell, on one line, with nothing in them that is markup."""
    return _MARKS.sub(r"\\\1", " ".join(words.split()))


def _code(words: str) -> str:
    """Words as code in running text or a cell."""
    ticks = "`" * (max(map(len, re.findall("`+", words)), default=0) + 1)
    space = " " if "`" in words else ""
    return f"{ticks}{space}{words.replace('|', chr(92) + '|')}{space}{ticks}"


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(heads), *(list(row) for row in rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _counts(found: Stored) -> str:
    counts = [(sign, found.count(status), status) for status, sign in SIGNS.items() if found.count(status)]
    return ", ".join(f"{sign} {number} {status.replace('HOLDS', 'HOLD')}" for sign, number, status in counts)


def _promises(found: Stored) -> list[str]:
    if not found.guarantees:
        return []
    return ["What you may rely on:", "\n".join(f"- {_text(guarantee)}" for guarantee in found.guarantees)]


def _cells(row: Row) -> tuple[str, ...]:
    case = _code(row.cases[0].id.removeprefix(f"{row.clause}-")) if row.cases else _text(row.note)
    return (row.clause, f"{SIGNS[row.status]} {row.status}", str(row.exercised), case)


def _cases(row: Row, title: str) -> Iterator[str]:
    if row.cases:
        # What links lead to: nothing but the name, so that its anchor is known.
        yield f"### {_text(title)}"
        yield _text(row.sentence)
    for case in row.cases:
        yield from _case(case, "KNOWN" if case.reason else row.status)


def _case(case: StoredCase, status: str) -> Iterator[str]:
    yield f"{SIGNS[status]} {status}:"
    fields = [("smallest case", _text(case.title)), ("expected", _text(case.expected)), ("why", _text(case.why))]
    fields += [("known because", _text(case.reason))] if case.reason else []
    fields += [("script", _code(case.script))] if case.script else []
    fields.append(("replay", _code(case.replay)))
    yield "\n".join(f"- {name}: {words}" for name, words in fields)
    yield _fenced(case.delivered)


def _fenced(lines: tuple[str, ...]) -> str:
    shown = list(lines[:_MOST_LINES])
    shown += [f"... and {len(lines) - len(shown)} more lines"] if len(lines) > len(shown) else []
    text = "\n".join(shown)
    fence = "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)
    return f"{fence}text\n{text}\n{fence}"


def _folded(found: Stored) -> str:
    """What holds, in a fold: it is long, and nobody has to act on it."""
    rows = [row for row in found.rows if row.status == "HOLDS"]
    if not rows:
        return ""
    table = _table(("clause", "exercised"), ((row.clause, str(row.exercised)) for row in rows))
    return f"<details><summary>{len(rows)} clauses that hold</summary>\n\n{table}\n\n</details>"


def _linked(peer: PeerColumn) -> str:
    plain = re.fullmatch(r"https?://[^\s()<>|]+", peer.link)
    return f"[{_text(peer.title)}]({peer.link})" if plain else _text(peer.title)


def _cell(peer: PeerColumn, clause: str) -> str:
    row = peer.row(clause)
    if row is None:
        return "? (new)"
    old = " (old)" if row.stale else ""
    if row.status == "NOT CLAIMED":
        return f"{SIGNS['NOT CLAIMED']}{old}"
    shown = f"{SIGNS[row.status]} {row.status}" if row.status != "HOLDS" else SIGNS["HOLDS"]
    return (f"[{shown}](#{_anchor(f'{peer.name} {clause}')})" if row.cases else shown) + old


def _anchor(heading: str) -> str:
    """The anchor that GitHub makes of a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
