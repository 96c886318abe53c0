"""The page of one run: decides its parts and their order. One file, with one script, and nothing from the network.

`page(report)` takes the JSON data of a report and nothing else, so the same data gives the same bytes.
"""

from base64 import b64encode
from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from conformance.report.html.element import Html, element, joined
from conformance.report.html.listed import clause_tables, groups
from conformance.report.html.outcomes import FAILING, chips, tools
from conformance.report.html.promised import sentence
from conformance.report.stored import SIGNS, Stored, stored

# The browser itself keeps the page from asking anybody for anything.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


class Section(NamedTuple):
    """A part of a page, with the id that links lead to; `loader` is the one that it is about, in a matrix."""

    anchor: str
    name: str
    content: Html
    loader: str | None = None


def page(report: Mapping[str, Any]) -> str:
    """The page of one report. NoReport if the data is none."""
    found = stored(report)
    failing = [row for row in found.rows if row.status in FAILING]
    known = [row for row in found.rows if row.status == "KNOWN"]
    sections = [
        Section("summary", "Summary", summary(found)),
        Section("failures", "What failed", joined(groups(failing, found, ""))),
        Section("promises", "What you may rely on", promises(found)),
        Section("clauses", "Clauses", clause_tables(found, "")),
        Section("known", "Known failures", joined(groups(known, found, ""))),
        Section("receipt", "How it was judged", receipt(found)),
    ]
    shown = [each for each in sections if each.content]
    return document(
        f"{found.name}: what the loader delivers", shown, "loaderspec: does every sample arrive as promised?"
    )


def document(title: str, sections: Iterable[Section], footer: str) -> str:
    """A whole page of sections."""
    parts = list(sections)
    links = [element("li", element("a", part.name, href=f"#{part.anchor}")) for part in parts]
    # A page without chips and buttons has no script either.
    scripted = any("<button" in part.content for part in parts)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(scripted)),
        element("meta", name_="viewport", content="width=device-width, initial-scale=1"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Html(style())),
    )
    body = element(
        "body",
        element("a", "Skip to the content", href="#content", class_="skip"),
        element("header", element("h1", title), element("nav", element("ul", *links), aria_label="parts of this page")),
        element("main", *map(_section, parts), id="content", tabindex="-1"),
        element("footer", element("p", footer)),
        *([element("script", Html(script()))] if scripted else []),
    )
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


def _section(part: Section) -> Html:
    heading = element("h2", part.name, id=f"{part.anchor}-title")
    words = {"aria_labelledby": f"{part.anchor}-title", "data_loader": part.loader}
    return element("section", heading, part.content, id=part.anchor, **words)


@cache
def style() -> str:
    """The style sheet, which is part of the page."""
    return (Path(__file__).parent / "page.css").read_text(encoding="utf-8")


@cache
def script() -> str:
    """The script that filters and copies, which is part of the page."""
    return (Path(__file__).parent / "page.js").read_text(encoding="utf-8")


def _policy(scripted: bool) -> str:
    """What the browser allows: this script and no other, and nobody is asked for anything."""
    digest = b64encode(sha256(script().encode()).digest()).decode()
    return f"{_POLICY}; script-src 'sha256-{digest}'" if scripted else _POLICY


def summary(found: Stored) -> Html:
    """The verdict, chips that show the clauses of an outcome, and a box that searches."""
    judged = f"{found.name}, tier {found.raw['tier']}, seed {found.raw['seed']}"
    only = found.raw.get("replayed")
    return joined(
        [
            element("p", f"{judged}: {found.verdict}.", class_=f"verdict {'good' if found.passed else 'bad'}"),
            tools(chips((status, found.count(status)) for status in SIGNS if found.count(status))),
            *([element("p", f"Only one case was replayed: {only}.")] if only else []),
            *(element("p", f"Note: {note}.") for note in found.notes),
        ]
    )


def promises(found: Stored) -> Html:
    """The guarantees as whole sentences."""
    if not found.guarantees:
        return element("p", "Nothing: none of the judged clauses supports a guarantee.")
    return element("ul", *(element("li", sentence(guarantee)) for guarantee in found.guarantees))


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
        ("to judge again", "loaderspec verify FILE (with the JSON of this report)"),
    ]
    return element(
        "dl", *(part for name, text in facts for part in (element("dt", name), element("dd", text))), class_="facts"
    )
