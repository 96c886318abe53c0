"""The page about the bridge names each clause that can't be judged through it, and no other."""

import re
from pathlib import Path

from conformance.bridge.beyond import BEYOND
from conformance.clauses import CLAUSES

PAGE = Path(__file__).resolve().parents[3] / "specs" / "bridge.md"


def named(cell: str) -> set[str]:
    """The clauses of a cell: ids, runs of them, or whole families."""
    found: set[str] = set()
    for family, first, last in re.findall(r"([A-Z]+)(?:-(\d+))?(?: to [A-Z]+-(\d+))?", cell):
        numbers = range(int(first), int(last or first) + 1) if first else ()
        found |= {f"{family}-{number}" for number in numbers}
        found |= {clause for clause in CLAUSES if not first and clause.startswith(f"{family}-")}
    return found


def test_the_page_names_what_is_beyond_the_bridge() -> None:
    """Its last table has the clauses that a run through the bridge leaves out."""
    table = PAGE.read_text("utf-8").partition("| clauses | because |\n|---|---|\n")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.split("\n")]
    assert set(BEYOND) == set.union(*map(named, cells))
