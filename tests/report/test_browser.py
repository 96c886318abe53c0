"""A real browser opens the pages, follows a cell to its case, and has nothing to complain of."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from conformance.report.html.matrix import matrix_page
from conformance.report.html.page import page
from tests.report import browser
from tests.report.pages import matrix, report

PROGRAM = browser.found()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no chromium or chrome is installed")
PLACE = "document.querySelector(':target').getBoundingClientRect()"
IN_SIGHT = f"{PLACE}.top < innerHeight && {PLACE}.bottom > 0"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Browser]:
    """A browser for all tests of this file."""
    assert PROGRAM
    with browser.started(PROGRAM, tmp_path_factory.mktemp("profile")) as found:
        yield found


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each kind."""
    folder = tmp_path_factory.mktemp("pages")
    made = {"run": page(report()), "matrix": matrix_page(matrix())}
    for name, text in made.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


def test_a_cell_is_followed_to_its_case(opened: browser.Browser, files: dict[str, Path]) -> None:
    """A click on a violated cell brings its case into sight."""
    opened.open(files["matrix"])
    opened.click('a[href="#mine-2-case-PART-1"]')
    assert ["#mine-2-case-PART-1", True] == [opened.ask("location.hash"), opened.ask(IN_SIGHT)]


def test_the_keyboard_skips_to_the_content(opened: browser.Browser, files: dict[str, Path]) -> None:
    """The first key press shows the way past the links, with a frame around it; Enter goes there."""
    opened.open(files["run"])
    opened.press("Tab", 9)
    assert "Skip to the content" == opened.ask("document.activeElement.textContent")
    assert opened.ask("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert opened.ask("document.activeElement.getBoundingClientRect().left") >= 0
    opened.press("Enter", 13)
    assert "#content" == opened.ask("location.hash")


SHOWN = "[...document.querySelectorAll('article')].filter(each => each.offsetHeight).map(each => each.id)"
ROWS = "[...document.querySelectorAll('.matrix tbody tr')].filter(r => r.offsetHeight).map(r => r.cells[0].innerText)"


def search(opened: browser.Browser, words: str) -> None:
    """Write into the search box, as a person does."""
    opened.ask("document.querySelector('input').value = ''")
    opened.click("input[type=search]")
    opened.call("Input.insertText", text=words)


def test_a_chip_shows_one_outcome(opened: browser.Browser, files: dict[str, Path]) -> None:
    """What has another outcome is hidden, folds open for what fits, and a second press shows all again."""
    opened.open(files["run"])
    before = opened.ask(SHOWN)
    opened.click('button[data-outcome="KNOWN"]')
    assert ["case-ORDER-5"] == opened.ask(SHOWN)
    opened.click('button[data-outcome="KNOWN"]')
    opened.ask("document.querySelectorAll('details').forEach(each => each.open = false)")
    assert before == opened.ask(SHOWN)


def test_the_search_box_finds_clauses(opened: browser.Browser, files: dict[str, Path]) -> None:
    """All words must be there; what a link leads to is shown, whatever was searched for."""
    opened.open(files["run"])
    search(opened, "part-1 twice")
    assert ["case-PART-1"] == opened.ask(SHOWN)
    assert "2 shown" == opened.ask("document.querySelector('[data-told]').textContent")
    opened.ask("location.hash = 'case-COUNT-7'")
    assert opened.ask(IN_SIGHT)


def test_a_command_is_copied(opened: browser.Browser, files: dict[str, Path]) -> None:
    """The button says that it has copied the command beside it."""
    opened.open(files["run"])
    opened.call("Browser.grantPermissions", permissions=["clipboardReadWrite", "clipboardSanitizedWrite"])
    opened.ask("navigator.clipboard.writeText = text => { window.copied = text; return Promise.resolve(); }")
    opened.click("#case-PART-1 .copy")
    assert "python loaderspec-repro/PART-1-n1,w2,b1,keep.py" == opened.ask("window.copied")
    assert "copied" == opened.ask("document.querySelector('#case-PART-1 .copy').textContent")


def test_a_matrix_is_narrowed_down(opened: browser.Browser, files: dict[str, Path]) -> None:
    """By loader the other columns and parts are hidden, by clause the other rows."""
    opened.open(files["matrix"])
    opened.click('button[data-loader="Mine"]')
    heads = "[...document.querySelectorAll('.matrix thead th')].filter(each => each.offsetHeight).length"
    assert [2, True] == [opened.ask(heads), opened.ask("document.getElementById('mine-2').hidden")]
    search(opened, "part-1")
    assert ["PART-1"] == [each.split()[0] for each in opened.ask(ROWS)]


def test_rows_are_stacked_on_a_small_screen(opened: browser.Browser, files: dict[str, Path]) -> None:
    """Below 600 pixels the outcome stands below its clause, and beside it above."""
    place = "(r => [...r.cells].map(c => c.getBoundingClientRect().top))(document.querySelector('.list tbody tr'))"
    opened.open(files["run"], width=1280)
    head, outcome, _ = opened.ask(place)
    assert head == outcome
    opened.open(files["run"], width=590)
    head, outcome, _ = opened.ask(place)
    assert head < outcome


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("kind", ["run", "matrix"])
def test_the_page_fits(opened: browser.Browser, files: dict[str, Path], kind: str, width: int, scheme: str) -> None:
    """No page is wider than its window, and each scheme has its colours."""
    opened.open(files[kind], width, scheme)
    opened.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert 0 == opened.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    background = {"light": "rgb(251, 251, 249)", "dark": "rgb(22, 24, 26)"}[scheme]
    assert background == opened.ask("getComputedStyle(document.body).backgroundColor")


def test_the_browser_has_nothing_to_complain_of(opened: browser.Browser, files: dict[str, Path]) -> None:
    """The console is empty, and nothing but the files was asked for."""
    for path in files.values():
        opened.open(path)
    assert [] == opened.complaints
    assert set() == {address for address in opened.asked if not address.startswith(("file://", "data:", "about:"))}


# What is found by its name alone, by whoever hears the page.
NAMED = ("link", "table", "region", "heading", "columnheader", "rowheader", "image")


@pytest.mark.parametrize("kind", ["run", "matrix"])
def test_whoever_hears_the_page_finds_the_way(opened: browser.Browser, files: dict[str, Path], kind: str) -> None:
    """Every place, table and link has a name, and the headings descend one by one from the page's title."""
    opened.open(files[kind])
    opened.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
    nodes = [each for each in opened.call("Accessibility.getFullAXTree")["nodes"] if not each["ignored"]]
    heard = [(each["role"]["value"], str(each.get("name", {}).get("value", "")).strip()) for each in nodes]
    assert {"table", "heading", "link", "columnheader", "rowheader"} <= {role for role, _ in heard}
    assert [] == [role for role, name in heard if role in NAMED and not name]
    levels = opened.ask("[...document.querySelectorAll('h1,h2,h3,h4')].map(each => +each.tagName[1])")
    assert 1 == levels[0]
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert "en" == opened.ask("document.documentElement.lang")


@pytest.mark.parametrize("kind", ["run", "matrix"])
def test_on_paper_nothing_is_hidden(opened: browser.Browser, files: dict[str, Path], kind: str) -> None:
    """In print the links are gone, and what is folded on a screen is shown; nothing is cut off at a page's side."""
    opened.open(files[kind], width=1040)
    opened.call("Emulation.setEmulatedMedia", media="print")
    assert "none" == opened.ask("getComputedStyle(document.querySelector('nav')).display")
    folded = "[...document.querySelectorAll('details > :not(summary)')].filter(each => !each.offsetHeight).length"
    assert 0 == opened.ask(folded)
    assert 0 == opened.ask("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    opened.call("Emulation.setEmulatedMedia", media="")
