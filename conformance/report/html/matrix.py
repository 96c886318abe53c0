"""The page of a matrix: decides how peers x clauses are laid out, and where each cell leads.

A cell with a case leads to the picture of that case; any other to the clause's row in the table of its peer.
"""

from collections.abc import Mapping
from typing import Any

from conformance.report.html.case import linked
from conformance.report.html.clause import folded
from conformance.report.html.element import Html, element, joined, signed
from conformance.report.html.listed import anchor_of, clause_tables, groups
from conformance.report.html.outcomes import KINDS, WORDS, chip, chips, outcome, tools
from conformance.report.html.page import Section, document, promises, receipt
from conformance.report.matrix import Matrix, PeerColumn, matrix
from conformance.report.spec_text import in_short
from conformance.report.stored import SIGNS, Row


def matrix_page(data: Mapping[str, Any]) -> str:
    """The page of a matrix. NoReport if the data is none."""
    found = matrix(data)
    sections = [
        Section("peers", "Loaders", _peers(found)),
        Section("matrix", "Clauses", joined([_staleness(found), _tools(found), _legend(), _table(found)])),
        *(Section(peer.slug, peer.name, _peer(peer), peer.name) for peer in found.judged),
        Section("texts", "What the clauses say", _texts(found)),
    ]
    return document("What data loaders deliver, clause by clause", sections, found.circumstances)


def _peers(found: Matrix) -> Html:
    """The loaders that were judged, in which version, with what result."""
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


def _staleness(found: Matrix) -> Html:
    if not found.stale:
        return Html()
    cells = element(
        "details",
        element("summary", "Which cells"),
        element("ul", *(element("li", each) for each in found.stale_together)),
    )
    return element("div", element("p", found.staleness.replace("`", "")), cells, class_="staleness")


def _tools(found: Matrix) -> Html:
    loaders = [element("li", chip("loader", peer.name, Html(peer.name), peer.title)) for peer in found.judged]
    rows = [row for peer in found.judged if peer.report for row in peer.report.rows if row.clause in found.clauses]
    counts = ((status, sum(row.status == status for row in rows)) for status in SIGNS)
    return tools(
        element("ul", *loaders, class_="counts", aria_label="loaders: press one to see it alone"),
        chips((status, number) for status, number in counts if number),
    )


def _texts(found: Matrix) -> Html:
    return joined([element("div", folded(clause, clause), id=f"text-{clause}") for clause in found.clauses])


def _legend() -> Html:
    entries = [element("li", outcome(status, f"{status}: {WORDS[status]}")) for status in SIGNS]
    entries.append(element("li", "old: judged by earlier words of the clause; ?: the clause is newer than the report"))
    return element("details", element("summary", "What the signs mean"), element("ul", *entries))


def _table(found: Matrix) -> Html:
    heads = [element("th", "clause", scope="col")]
    heads += [
        element("th", element("a", peer.name, href=f"#{peer.slug}"), scope="col", data_loader=peer.name)
        for peer in found.judged
    ]
    body = [
        element("tr", _clause(clause), *(_cell(peer, clause) for peer in found.judged), data_item=True)
        for clause in found.clauses
    ]
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
    link = element("a", clause, href=f"#text-{clause}", class_="id")
    return element("th", link, " ", words, scope="row", data_words=True)


def _cell(peer: PeerColumn, clause: str) -> Html:
    row = peer.row(clause)
    status = row.status if row else "NOT CLAIMED"
    where = {"data_loader": peer.name, "data_outcome": status}
    stale = " stale" if peer.is_stale(clause) else ""
    old = ", judged by earlier words of the clause" if stale else ""
    if row is None:
        return element("td", signed("?", "not judged: the clause is newer", "none"), class_="quiet stale", **where)
    if row.status == "NOT CLAIMED":
        told = signed(SIGNS[status], f"not claimed{old}", "none")
        return element("td", told, class_=f"quiet{stale}", **where)
    words = f"{peer.name}, {clause}: {row.status}{_case_of(row)}{old}"
    link = element("a", SIGNS[row.status], href=f"#{_target(peer, row)}", aria_label=words, title=words)
    return element("td", link, class_=f"{KINDS[row.status]}{stale}", **where)


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
            *groups(peer.report.rows, peer.report, prefix, peer.name, in_full=False),
            element("h3", f"{peer.name}: clauses"),
            clause_tables(peer.report, prefix, in_full=False),
            element("details", element("summary", "How it was judged"), receipt(peer.report)),
        ]
    )
