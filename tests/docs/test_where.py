"""The page where each clause stands is that of the code."""

from tests.docs.where import PAGE, page


def test_the_page_is_that_of_the_code() -> None:
    """What specs/where.md says is there already; `python -m tests.docs.where` writes it."""
    assert PAGE.read_text(encoding="utf-8") == page()
