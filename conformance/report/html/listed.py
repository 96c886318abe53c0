"""Clauses and cases by outcome: decides their order, the worst first, and what is folded."""

from collections.abc import Iterable
from typing import Any

from conformance.report.html.case import case_section
from conformance.report.html.clause import folded
from conformance.report.html.element import Html, element, joined
from conformance.report.html.outcomes import WORDS, outcome, plural
from conformance.report.stored import SIGNS, Row, Stored, badness


def clause_tables(found: Stored, prefix: str, in_full: bool = True) -> Html:
    """All clauses by outcome, the worst first; those that hold or are not claimed are folded."""
    parts = []
    for status in SIGNS:
        rows = [row for row in found.rows if row.status == status]
        if not rows:
            continue
        number = f"{len(rows)} {plural(status)}"
        table = _table(rows, f"{number}: {WORDS[status]}", prefix, in_full)
        if status in ("HOLDS", "NOT CLAIMED"):
            head = element("summary", outcome(status, number))
            parts.append(element("details", head, table, data_group=True))
        else:
            parts.append(element("div", table, data_group=True))
    return joined(parts)


def _table(rows: list[Row], caption: str, prefix: str, in_full: bool) -> Html:
    heads = element("tr", *(element("th", head, scope="col") for head in ("clause", "outcome", "exercised")))
    body = [
        element(
            "tr", *_cells(row, prefix, in_full), id=f"{prefix}row-{row.clause}", data_item=True, data_outcome=row.status
        )
        for row in rows
    ]
    return element(
        "table", element("caption", caption), element("thead", heads), element("tbody", *body), class_="list"
    )


def _cells(row: Row, prefix: str, in_full: bool) -> list[Html]:
    told = [element("span", row.clause, class_="id"), Html(" "), element("span", row.sentence, class_="small")]
    if row.note:
        told.append(element("div", row.note, class_="small quiet"))
    links = [
        element("a", f"case {case.id.removeprefix(f'{row.clause}-')}", href=f"#{anchor_of(row, number, prefix)}")
        for number, case in enumerate(row.cases)
    ]
    if links:
        told.append(element("div", joined(links, ", "), class_="small"))
    # A clause with a case is told in full beside that.
    if in_full and not links:
        told.append(folded(row.clause))
    return [
        element("th", *told, scope="row"),
        element("td", outcome(row.status, row.status)),
        element("td", str(row.exercised), class_="number"),
    ]


def anchor_of(row: Row, number: int, prefix: str) -> str:
    """The id of a clause's case on a page: the first is `case-PART-1`."""
    return f"{prefix}case-{row.clause}" + (f"-{number + 1}" if number else "")


def groups(rows: Iterable[Row], found: Stored, prefix: str, owner: str = "", in_full: bool = True) -> list[Html]:
    """The cases of these clauses by outcome, the worst first. `owner` stands in front of each heading.

    What is no fault of the loader, or none that fails a run, is folded.
    """
    listed, made = list(rows), []
    for status in SIGNS:
        of_status = sorted((row for row in listed if row.status == status), key=_badness)
        articles = [part for row in of_status for part in _articles(row, found, prefix, owner, in_full)]
        if articles and status in ("VIOLATED (SHOULD)", "KNOWN"):
            head = element("summary", outcome(status, f"{len(of_status)} {status}: {WORDS[status]}"))
            made.append(element("details", head, *articles, data_group=True))
        elif articles:
            made.append(element("div", *articles, data_group=True))
    return made


def _badness(row: Row) -> tuple[bool, bool]:
    return badness(row.clause, row.cases[0].kind if row.cases else "")


def _articles(row: Row, found: Stored, prefix: str, owner: str, in_full: bool) -> list[Html]:
    front = f"{owner}: " if owner else ""
    if not row.cases:
        if row.status in ("HOLDS", "NOT CLAIMED"):
            return []
        # What is INVALID or was not exercised has a sentence in place of a case.
        told = [element("h3", f"{front}{row.clause} {row.status}"), element("p", row.sentence), element("p", row.note)]
        return [element("article", *told, class_="case", data_item=True, data_outcome=row.status)]
    return [
        case_section(
            row, case, anchor_of(row, number, prefix), f"{front}{row.clause} {_kind(case, row)}", found.claims, in_full
        )
        for number, case in enumerate(row.cases)
    ]


def _kind(case: Any, row: Row) -> str:
    code = case.id.removeprefix(f"{row.clause}-")
    return f"KNOWN: {code}" if case.reason else f"{row.status}: {code}"
