"""The page of a matrix: decides how peers x clauses are laid out, and where each cell leads.

A cell with a case leads to the picture of that case; any other to the clause's row in the table of its peer.
"""

from collections.abc import Mapping
from typing import Any

from conformance.report.html.case import linked
from conformance.report.html.element import Html, element, joined, signed
from conformance.report.html.page import (
    KINDS,
    WORDS,
    anchor_of,
    cases,
    clause_tables,
    document,
    outcome,
    promises,
    receipt,
)
from conformance.report.matrix import Matrix, PeerColumn, matrix
from conformance.report.spec_text import in_short
from conformance.report.stored import SIGNS, Row


def matrix_page(data: Mapping[str, Any]) -> str:
    """The page of a matrix. NoReport if the data is none."""
    found = matrix(data)
    sections = [
        ("peers", "Loaders", _peers(found)),
        ("matrix", "Clauses", joined([_legend(), _table(found)])),
        *((peer.slug, peer.name, _peer(peer)) for peer in found.judged),
    ]
    return document("What data loaders deliver, clause by clause", sections, found.circumstances)


def _peers(found: Matrix) -> Html:
    """Who was judged, in which version, with what result."""
    heads = element("tr", *(element("th", head, scope="col") for head in ("loader", "result")))
    rows = []
    for peer in found.peers:
        name = element("a", peer.name, href=f"#{peer.slug}") if peer.report else element("span", peer.name)
        about = [element("span", name, class_="id"), element("div", linked(peer.link, peer.title), class_="small")]
        about += [element("div", peer.packages, class_="small quiet")] if peer.packages else []
        rows.append(element("tr", element("th", *about, scope="row"), element("td", peer.verdict, class_="result")))
    caption = element("caption", f"{len(found.judged)} of {len(found.peers)} loaders were judged")
    told = element("p", found.circumstances, class_="quiet")
    return joined([told, element("table", caption, element("thead", heads), element("tbody", *rows), class_="peers")])


def _legend() -> Html:
    entries = [element("li", outcome(status, f"{status}: {WORDS[status]}")) for status in SIGNS]
    return element("details", element("summary", "What the signs mean"), element("ul", *entries))


def _table(found: Matrix) -> Html:
    heads = [element("th", "clause", scope="col")]
    heads += [element("th", element("a", peer.name, href=f"#{peer.slug}"), scope="col") for peer in found.judged]
    body = [element("tr", _clause(clause), *(_cell(peer, clause) for peer in found.judged)) for clause in found.clauses]
    table = element(
        "table",
        element("caption", "Each cell leads to its case, or to what was judged", class_="heard"),
        element("thead", element("tr", *heads)),
        element("tbody", *body),
        class_="matrix",
    )
    return element("div", table, class_="matrixbox", tabindex="0", role="region", aria_label="loaders and clauses")


def _clause(clause: str) -> Html:
    words = element("span", in_short().get(clause, ""), class_="small words")
    return element("th", element("span", clause, class_="id"), " ", words, scope="row")


def _cell(peer: PeerColumn, clause: str) -> Html:
    row = peer.row(clause)
    if row is None or row.status == "NOT CLAIMED":
        return element("td", signed(SIGNS["NOT CLAIMED"], "not claimed", "none"), class_="quiet")
    words = f"{peer.name}, {clause}: {row.status}{_case_of(row)}"
    link = element("a", SIGNS[row.status], href=f"#{_target(peer, row)}", aria_label=words, title=words)
    return element("td", link, class_=KINDS[row.status])


def _case_of(row: Row) -> str:
    return f", {row.cases[0].title}" if row.cases else f", exercised {row.exercised} times"


def _target(peer: PeerColumn, row: Row) -> str:
    prefix = f"{peer.slug}-"
    return anchor_of(row, 0, prefix) if row.cases else f"{prefix}row-{row.clause}"


def _peer(peer: PeerColumn) -> Html:
    assert peer.report is not None
    prefix = f"{peer.slug}-"
    return joined(
        [
            element("p", f"{peer.title}. {peer.verdict}."),
            element("h3", f"{peer.name}: what you may rely on"),
            promises(peer.report),
            *cases(peer.report, prefix, peer.name),
            element("h3", f"{peer.name}: clauses"),
            clause_tables(peer.report, prefix),
            element("details", element("summary", "How it was judged"), receipt(peer.report)),
        ]
    )
