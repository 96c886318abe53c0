"""The page of one run: decides its parts and their order. One file, no script, nothing from the network.

`page(report)` takes the JSON data of a report and nothing else, so the same data gives the same bytes.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from conformance.report.html.case import case_section
from conformance.report.html.element import Html, element, joined
from conformance.report.stored import SIGNS, Row, Stored, stored

# The browser itself keeps the page from asking anybody for anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
KINDS = {
    "HOLDS": "good",
    "VIOLATED": "bad",
    "VIOLATED (SHOULD)": "warn",
    "INVALID": "bad",
    "NOT EXERCISED": "bad",
    "KNOWN": "warn",
    "NOT CLAIMED": "quiet",
}
WORDS = {
    "HOLDS": "could have failed so often as the table says, and did not",
    "VIOLATED": "failed; the smallest case is shown",
    "VIOLATED (SHOULD)": "good practice that is not kept; it fails a strict run only",
    "INVALID": "the adapter or a known failure is wrong",
    "NOT EXERCISED": "too few cases could have failed to say that it holds",
    "KNOWN": "failed exactly as the adapter says that it does",
    "NOT CLAIMED": "binds only loaders with a claim that this one does not make",
}


def page(report: Mapping[str, Any]) -> str:
    """The page of one report. NoReport if the data is none."""
    found = stored(report)
    sections = [
        ("summary", "Summary", summary(found)),
        ("promises", "What you may rely on", promises(found)),
        ("clauses", "Clauses", clause_tables(found, "")),
        ("cases", "Cases", joined(cases(found, ""))),
        ("receipt", "How it was judged", receipt(found)),
    ]
    shown = [each for each in sections if each[2]]
    return document(
        f"{found.name}: what the loader delivers", shown, "loaderspec: does every sample arrive as promised?"
    )


def document(title: str, sections: Iterable[tuple[str, str, Html]], footer: str) -> str:
    """A whole page of sections: (id, heading, content)."""
    parts = list(sections)
    links = [element("li", element("a", name, href=f"#{anchor}")) for anchor, name, _ in parts]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style())),
    )
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("header", element("h1", title), element("nav", element("ul", *links), aria_label="parts of this page")),
        element(
            "main",
            *(
                element(
                    "section",
                    element("h2", name, id=f"{anchor}-title"),
                    content,
                    id=anchor,
                    aria_labelledby=f"{anchor}-title",
                )
                for anchor, name, content in parts
            ),
            id="content",
            tabindex="-1",
        ),
        element("footer", element("p", footer)),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


@cache
def style() -> str:
    """The style sheet, which is part of the page."""
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


def summary(found: Stored) -> Html:
    """The verdict, and how many clauses had each outcome."""
    counts = [
        element("li", outcome(status, f"{found.count(status)} {status.replace('HOLDS', 'HOLD')}"), title=WORDS[status])
        for status in SIGNS
        if found.count(status)
    ]
    judged = f"{found.name}, tier {found.raw['tier']}, seed {found.raw['seed']}"
    only = found.raw.get("replayed")
    return joined(
        [
            element("p", f"{judged}: {found.verdict}.", class_=f"verdict {'good' if found.passed else 'bad'}"),
            element("ul", *counts, class_="counts", aria_label="outcomes"),
            *([element("p", f"Only one case was replayed: {only}.")] if only else []),
            *(element("p", f"Note: {note}.") for note in found.notes),
        ]
    )


def outcome(status: str, words: str) -> Html:
    """An outcome as a sign and words."""
    sign = element("span", f"{SIGNS[status]}\N{NO-BREAK SPACE}", aria_hidden="true")
    return element("span", sign, words, class_=f"outcome {KINDS[status]}")


def promises(found: Stored) -> Html:
    """The guarantees in plain words."""
    if not found.guarantees:
        return element("p", "Nothing: none of the judged clauses supports a guarantee.")
    return element("ul", *(element("li", guarantee) for guarantee in found.guarantees))


def clause_tables(found: Stored, prefix: str) -> Html:
    """The clauses that were judged; those that are not claimed stand below, folded."""
    judged = [row for row in found.rows if row.status != "NOT CLAIMED"]
    unclaimed = [row for row in found.rows if row.status == "NOT CLAIMED"]
    told = {status: WORDS[status] for status in SIGNS if found.count(status)}
    parts = [_table(judged, f"{len(judged)} clauses that were judged", prefix)] if judged else []
    if unclaimed:
        table = _table(unclaimed, f"{len(unclaimed)} clauses that bind only loaders with other claims", prefix)
        parts.append(element("details", element("summary", f"{len(unclaimed)} clauses are not claimed"), table))
    words = [
        part for status, text in told.items() for part in (element("dt", outcome(status, status)), element("dd", text))
    ]
    return joined(
        [
            *parts,
            element("details", element("summary", "What the outcomes mean"), element("dl", *words, class_="facts")),
        ]
    )


def _table(rows: list[Row], caption: str, prefix: str) -> Html:
    heads = element("tr", *(element("th", head, scope="col") for head in ("clause", "outcome", "exercised")))
    body = [element("tr", *_cells(row, prefix), id=f"{prefix}row-{row.clause}") for row in rows]
    return element(
        "table", element("caption", caption), element("thead", heads), element("tbody", *body), class_="list"
    )


def _cells(row: Row, prefix: str) -> list[Html]:
    told = [element("span", row.clause, class_="id"), Html(" "), element("span", row.sentence, class_="small")]
    if row.note:
        told.append(element("div", row.note, class_="small quiet"))
    links = [
        element("a", f"case {case.id.removeprefix(f'{row.clause}-')}", href=f"#{anchor_of(row, number, prefix)}")
        for number, case in enumerate(row.cases)
    ]
    if links:
        told.append(element("div", joined(links, ", "), class_="small"))
    return [
        element("th", *told, scope="row"),
        element("td", outcome(row.status, row.status)),
        element("td", str(row.exercised), class_="number"),
    ]


def anchor_of(row: Row, number: int, prefix: str) -> str:
    """The id of a clause's case on a page: the first is `case-PART-1`."""
    return f"{prefix}case-{row.clause}" + (f"-{number + 1}" if number else "")


def cases(found: Stored, prefix: str, owner: str = "") -> list[Html]:
    """Every case, violated ones before known ones. `owner` stands in front of each heading."""
    rows = sorted((row for row in found.rows if row.cases), key=lambda row: list(SIGNS).index(row.status))
    owner = f"{owner}: " if owner else ""
    return [
        case_section(row, case, anchor_of(row, number, prefix), f"{owner}{row.clause} {_kind(case, row)}", found.claims)
        for row in rows
        for number, case in enumerate(row.cases)
    ]


def _kind(case: Any, row: Row) -> str:
    code = case.id.removeprefix(f"{row.clause}-")
    return f"KNOWN: {code}" if case.reason else f"{row.status}: {code}"


def receipt(found: Stored) -> Html:
    """What a reader needs to run it again, and to trust it."""
    raw = found.raw
    suite, versions = raw["suite"], raw["versions"]
    adapter = raw.get("adapter") or {"digest": None, "packages": {}}
    packages = {**versions, **adapter["packages"]}
    facts = [
        ("suite", f"{suite['name']} {suite['version']}, clauses {raw['specs']}"),
        ("adapter", f"source {adapter['digest'] or 'not read'}"),
        ("versions", ", ".join(f"{name} {version or 'not installed'}" for name, version in sorted(packages.items()))),
        ("claims", ", ".join(f"{name}={value!r}" for name, value in sorted(raw["claims"].items()) if value)),
        ("judged again by", "loaderspec verify FILE (with the JSON of this report)"),
    ]
    return element(
        "dl", *(part for name, text in facts for part in (element("dt", name), element("dd", text))), class_="facts"
    )
