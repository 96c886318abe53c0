"""Outcomes on a page: decides their signs, colours and words, and the chips and the box that narrow a page down."""

from collections.abc import Iterable

from conformance.report.html.element import Html, element
from conformance.report.stored import SIGNS

KINDS = {
    "HOLDS": "good",
    "VIOLATED": "bad",
    "VIOLATED (SHOULD)": "warn",
    "INVALID": "bad",
    "NOT EXERCISED": "bad",
    "KNOWN": "warn",
    "NOT CLAIMED": "quiet",
}
# What a reader must see first.
FAILING = ("VIOLATED", "VIOLATED (SHOULD)", "INVALID", "NOT EXERCISED")
WORDS = {
    "HOLDS": "could have failed as often as the table says, and did not",
    "VIOLATED": "failed; the smallest case is shown",
    "VIOLATED (SHOULD)": "good practice that is not kept; it fails a strict run only",
    "INVALID": "the adapter or a known failure is wrong",
    "NOT EXERCISED": "too few cases could have failed to say that it holds",
    "KNOWN": "failed exactly as the adapter says that it does",
    "NOT CLAIMED": "binds only loaders with a claim that this one does not make",
}


def tools(*rows: Html) -> Html:
    """Chips and a search box. They work once the script does; until then everything is shown."""
    box = element("input", type="search", disabled=True, placeholder="PART-1, padding, ...", autocomplete="off")
    search = element("label", element("span", "Search clauses"), " ", box, class_="search")
    told = element("span", "", data_told=True, role="status", class_="quiet")
    return element("div", *rows, element("p", search, " ", told), class_="tools")


def chips(counts: Iterable[tuple[str, int]]) -> Html:
    """A chip for each outcome that occurs."""
    made = [
        element("li", chip("outcome", status, outcome(status, f"{number} {plural(status)}"), WORDS[status]))
        for status, number in counts
    ]
    return element("ul", *made, class_="counts", aria_label="outcomes: press one to see its clauses alone")


def chip(kind: str, value: str, words: Html, title: str) -> Html:
    """A button that shows what has this value, alone or with others that are pressed."""
    data = {f"data_{kind}": value}
    return element("button", words, type="button", disabled=True, aria_pressed="false", title=title, **data)


def plural(status: str) -> str:
    """The outcome as it is said of several clauses."""
    return status.replace("HOLDS", "HOLD")


def outcome(status: str, words: str) -> Html:
    """An outcome as a sign and words."""
    sign = element("span", f"{SIGNS[status]}\N{NO-BREAK SPACE}", aria_hidden="true")
    return element("span", sign, words, class_=f"outcome {KINDS[status]}")
