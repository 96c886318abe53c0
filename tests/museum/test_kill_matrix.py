"""The committed kill matrix is that of the museum as it stands."""

import json

from tests.known_bad import MUSEUM
from tests.museum.kill_matrix import FILE, as_markdown, said


def test_the_matrix_lists_exactly_the_loaders_of_the_museum() -> None:
    """Names, faults, clauses and reports are those of the loaders, in their order."""
    rows = json.loads(FILE.read_text("utf-8"))["loaders"]
    assert [said(loader) for loader in MUSEUM] == [{key: row[key] for key in said(MUSEUM[0])} for row in rows]


def test_the_matrix_shows_the_cases_that_the_loaders_pin() -> None:
    """The smallest case and the other clauses that fire are those that the loaders name."""
    rows = json.loads(FILE.read_text("utf-8"))["loaders"]
    for loader, row in zip(MUSEUM, rows, strict=True):
        assert loader.smallest == row["fired"][loader.clause]["case"]
        assert set(row["fired"]) <= {loader.clause, *loader.related}


def test_both_files_say_the_same() -> None:
    """The table is made of the JSON file, and nobody wrote into it."""
    rows = json.loads(FILE.read_text("utf-8"))["loaders"]
    assert as_markdown(rows) == FILE.with_suffix(".md").read_text("utf-8")
