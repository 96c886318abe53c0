"""The pages are whole, self-contained and usable without a mouse or eyes, whatever stands in the JSON."""

import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest

from conformance.report.html.matrix import matrix_page
from conformance.report.html.page import page, script, style
from conformance.report.html.promised import sentence
from tests.report.pages import Page, matrix, report

MADE: dict[str, Callable[[], str]] = {"run": lambda: page(report()), "matrix": lambda: matrix_page(matrix())}


@pytest.fixture(params=MADE)
def text(request: pytest.FixtureRequest) -> str:
    """The text of a page of each kind."""
    return MADE[request.param]()


def test_every_link_leads_somewhere(text: str) -> None:
    """Each id is there once, and each link inside the page leads to one."""
    found = Page(text)
    ids = [each.attributes["id"] for each in found.elements if "id" in each.attributes]
    assert len(ids) == len(set(ids))
    inside = {href[1:] for each in found.all("a") if (href := each.attributes["href"]).startswith("#")}
    assert set() == inside - set(ids)
    assert {name for each in found.elements if (name := each.attributes.get("aria-labelledby"))} <= set(ids)


def test_nothing_is_fetched_or_run(text: str) -> None:
    """The page's own script is the only one, by its digest; only a link that a person follows leads out, to the web."""
    found = Page(text)
    assert [] == [each.name for each in found.elements if each.name in ("img", "iframe", "object", "base")]
    assert [script()] == [each.text for each in found.all("script")]
    digest = b64encode(sha256(script().encode()).digest()).decode()
    policy = next(each.attributes["content"] for each in found.all("meta") if "http-equiv" in each.attributes)
    assert policy.startswith("default-src 'none'; ")
    assert policy.endswith(f"; script-src 'sha256-{digest}'")
    assert [] == [each for each in found.elements if {"src", "style"} & set(each.attributes)]
    assert [] == [name for each in found.elements for name in each.attributes if name.startswith("on")]
    assert {"data:,"} == {each.attributes["href"] for each in found.all("link")}
    out = [each.attributes["href"] for each in found.all("a") if not each.attributes["href"].startswith("#")]
    assert all(href.startswith("https://") for href in out)
    assert "url(" not in style()
    assert "@import" not in style()


def test_headings_are_in_order(text: str) -> None:
    """One heading of the first rank, and none skips a rank."""
    ranks = [int(each.name[1]) for each in Page(text).elements if re.fullmatch(r"h[1-6]", each.name)]
    assert 1 == ranks.count(1) == ranks[0]
    assert all(after <= before + 1 for before, after in pairwise(ranks))


def test_tables_are_told_aloud(text: str) -> None:
    """Every table has a caption, every head says what it heads, and every region that scrolls has a name."""
    found = Page(text)
    assert len(found.all("table")) == len(found.all("caption"))
    assert {"col", "row"} == {each.attributes["scope"] for each in found.all("th")}
    assert all(
        each.text.strip() for each in [*found.all("th"), *found.all("caption"), *found.all("a")] if each.name != "a"
    )
    regions = [each for each in found.elements if each.attributes.get("role") == "region"]
    assert all(each.attributes["aria-label"] for each in regions)
    assert {"0"} == {each.attributes["tabindex"] for each in regions}


def test_the_page_has_landmarks(text: str) -> None:
    """A way past the links comes first; header, nav, main and footer are there; the language is told."""
    found = Page(text)
    assert ("#content", "main") == (found.all("a")[0].attributes["href"], found.by_id("content").name)
    assert [1, 1, 1, 1] == [len(found.all(name)) for name in ("header", "nav", "main", "footer")]
    assert "en" == found.all("html")[0].attributes["lang"]
    assert [] == [each for each in found.elements if int(each.attributes.get("tabindex", "0")) > 0]


def test_what_a_file_says_is_text(text: str) -> None:
    """Markup in a name, a message or an address stays text."""
    assert 1 == text.count("<script")
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; `x` | y" in text
    assert "javascript:" not in "".join(each.attributes.get("href", "") for each in Page(text).elements)


@pytest.mark.parametrize("kind", MADE)
def test_the_same_data_gives_the_same_bytes(kind: str) -> None:
    """A page depends on nothing but the data."""
    assert MADE[kind]() == MADE[kind]()


def test_a_cell_leads_to_its_case() -> None:
    """A violated cell leads to the case with its picture, one that holds to its row, one not claimed nowhere."""
    found = Page(matrix_page(matrix()))
    cells = {
        each.attributes["aria-label"].partition(": ")[0]: each for each in found.all("a") if "title" in each.attributes
    }
    assert "#mine-case-PART-1" == cells["Mine, PART-1"].attributes["href"]
    assert "#mine-2-case-PART-1" == cells["mine!, PART-1"].attributes["href"]
    assert "rank 1" in found.by_id("mine-case-PART-1").text
    assert "#mine-row-BATCH-1" == cells["Mine, BATCH-1"].attributes["href"]
    assert "Mine, WORK-1" not in cells
    assert (
        "Mine, PART-1: VIOLATED, 1 sample, 2 ranks, micro-batch 1, drop_last=False"
        == cells["Mine, PART-1"].attributes["title"]
    )


def test_marks_are_words_too() -> None:
    """A repeated sample is told by a sign and in words, not by its colour alone."""
    found = Page(page(report()))
    labels = [each.attributes["aria-label"] for each in found.all("td") if "aria-label" in each.attributes]
    assert "rank 1, step 0: sample 0, time 2 in this epoch" in labels
    assert "rank 0, step 1: sample 1, differs from the main run" in labels
    assert {"0 ×1", "0 ×2"} <= {each.text for each in found.all("span") if "sample" in each.attributes.get("class", "")}


def test_what_has_no_delivery_shows_what_it_has() -> None:
    """A model's values stand beside the right ones, and a rank that failed in load says how."""
    found = Page(page(report()))
    assert "weights 00.5 10.25 1" in found.by_id("case-DEVICE-4").text
    assert "rank 0 raised <script>alert(1)</script>" in found.by_id("case-COUNT-7").text


def test_a_known_case_gives_its_reason() -> None:
    """Why it is tolerated, and where that is told."""
    known = Page(page(report())).by_id("case-ORDER-5").text
    assert "known becauseon purpose" in known
    assert "issuehttps://a.b/1" in known


def test_what_failed_comes_first() -> None:
    """The headline counts; cases stand before promises and tables, lost samples before good practice."""
    found = Page(page(report()))
    headline = next(each.text for each in found.all("p") if "verdict" in each.attributes.get("class", ""))
    assert "my <loader>.py, tier gate, seed 0: not green: 3 of 7 clauses violated, 1 not exercised." == headline
    sections = [each.attributes["id"] for each in found.all("section")]
    assert ["summary", "failures", "promises", "clauses", "known", "receipt"] == sections
    cases = [each.attributes.get("id", "") for each in found.all("article")]
    assert ["case-COUNT-7", "case-PART-1", "case-DEVICE-4", "case-BATCH-5", "", "case-ORDER-5"] == cases


def test_a_case_tells_its_clause_in_full() -> None:
    """The example, the reason and how it is judged are in the page, with the clause's own words."""
    told = Page(page(report())).by_id("case-PART-1").text
    assert all(words in told for words in ("Example. 1 sample, 2 ranks", "Why. A repeated sample", "Judged. On every"))


def test_the_legend_is_made_of_the_case() -> None:
    """Its samples are some of the case, with the marks that they bear there."""
    found = Page(page(report()))
    legends = [each.text for each in found.all("ul") if "legend" in each.attributes.get("class", "")]
    assert legends[0].startswith("0 ×1 came for the first time, and comes again in this epoch0 ×2 came for the 2nd")


@pytest.mark.parametrize(
    ("guarantee", "expected"),
    [
        ("unshuffled, without drop_last delivers exactly once", "Unshuffled and without drop_last, it delivers every"),
        ("with drop_last drops less than one step of all ranks", "With drop_last, it drops less than one step of all"),
        ("equal steps on every rank", "Every rank yields the same number of steps."),
        ("equal steps on every rank with drop_last", "Every rank yields the same number of steps with drop_last."),
        ("iterable: every element once from each worker", "Of iterables, every element comes once from each worker."),
        ("iterable: with drop_last at most once (drops", "Of iterables, with drop_last, every element comes at most"),
        ("deterministic per (seed, epoch)", "The same seed and epoch give the same order."),
        ("resumes an interrupted epoch any number of times", "It resumes an interrupted epoch any number of times."),
        ("every epoch ends", "Every epoch ends."),
    ],
)
def test_a_guarantee_is_a_sentence(guarantee: str, expected: str) -> None:
    """It begins with a capital, has a subject and ends with a full stop."""
    assert sentence(guarantee).startswith(expected)
    assert sentence(guarantee).endswith(".")


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, by WCAG's formula."""

    def light(colour: str) -> float:
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    dark, bright = sorted((light(one), light(other)))
    return (bright + 0.05) / (dark + 0.05)


ON = {"text": ("page", "card", "code"), "quiet": ("page", "card", "code"), "link": ("page", "card"), "focus": ("page",)}
ON |= {name: ("page", "card", f"{name}-soft") for name in ("bad", "warn", "good", "odd")}


@pytest.mark.parametrize("scheme", [0, 1])
def test_colours_can_be_read(scheme: int) -> None:
    """Text has a contrast of 4.5 on whatever it stands on, light and dark (WCAG AA)."""
    block: Any = re.findall(r":root \{(.*?)\}", style(), re.S)[scheme]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6})", block))
    poor = {(a, b): round(contrast(colours[a], colours[b]), 1) for a, under in ON.items() for b in under}
    assert {} == {pair: value for pair, value in poor.items() if value < 4.5}
