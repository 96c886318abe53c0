"""The matrix in specs/ says which of its cells are older than their clauses."""

import json
from pathlib import Path

from conformance.report.html.matrix import matrix_page
from conformance.report.markdown import matrix_markdown
from conformance.report.matrix import matrix

SPECS = Path(__file__).resolve().parents[2] / "specs"
AGAIN = """
specs/matrix.md and .html do not say what specs/matrix.json and the clauses make of them. Stale cells are
{cells}
Judge them again (`loaderspec matrix --only=PART-1,... --into=specs/matrix.json --json=specs/matrix.json
--html=specs/matrix.html --markdown=specs/matrix.md`), or let the pages say that they are stale
(`loaderspec report specs/matrix.json --html=specs/matrix.html --markdown=specs/matrix.md`)."""


def test_a_stale_cell_is_shown_as_stale() -> None:
    """The pages are those of the data and of today's clauses: a clause that changes makes its cells stale in them."""
    data = json.loads((SPECS / "matrix.json").read_text("utf-8"))
    cells = "\n".join(f"  {clause}: {', '.join(names)}" for clause, names in matrix(data).stale.items())
    for name, made in (("matrix.md", matrix_markdown(data)), ("matrix.html", matrix_page(data))):
        # Not `==`: pytest would show the difference of two megabytes.
        same = made == (SPECS / name).read_text("utf-8")
        assert same, AGAIN.format(cells=cells or "  none")
