"""Each chapter says where its clauses are judged, obeyed and broken."""

from tests.docs.where import chapters


def test_the_tables_are_those_of_the_code() -> None:
    """What is written into a chapter is there already; `python -m tests.docs.where` writes it."""
    assert [] == [file.name for file, text in chapters().items() if file.read_text(encoding="utf-8") != text]
