"""Writes specs/where.md, where each clause stands: the judge, the files of the reference, the known-bad loaders.

It is a page of its own, so that a chapter tells its reader what is promised, and not what the suite has tried.
Run `python -m tests.docs.where` from the root. Lines are left out, which would change with every edit:
`loaderspec explain PART-1 --where` has them.
"""

import inspect
import re
from functools import cache
from pathlib import Path

from conformance.clauses import CLAUSES, Clause
from conformance.report.spec_text import clause_texts
from tests.known_bad import MUSEUM

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "specs" / "where.md"
_HEAD = """# Where each clause stands

<!-- generated: python -m tests.docs.where -->

For those who maintain a clause: the function that judges it, the files of the reference that name it, and the known-bad
loaders that break it. `loaderspec explain PART-1 --where` has the lines.
"""
_ID = re.compile(r"\b[A-Z]+-\d+\b")
_HEADS = "| clause | judged by | obeyed in | broken by |\n|---|---|---|---|"


def page() -> str:
    """The page as it should be: a table for each chapter."""
    files = dict.fromkeys(text.chapter_file for text in clause_texts().values())
    return "\n".join([_HEAD, *map(_chapter, files)])


def _chapter(file: str) -> str:
    title = (ROOT / "specs" / file).read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
    rows = [_row(CLAUSES[each.id]) for each in clause_texts().values() if each.chapter_file == file]
    return "\n".join([f"## [{title}]({file})\n", _HEADS, *rows, ""])


def _row(clause: Clause) -> str:
    judge = inspect.unwrap(clause.judge)
    judged = _link(f"`{judge.__name__}`", Path(inspect.getfile(judge)))
    obeyed = [_link(path.relative_to(ROOT / "reference").as_posix(), path) for path in _obeying().get(clause.id, [])]
    broken = [_link(each.__name__, Path(inspect.getfile(each))) for each in MUSEUM if each.clause == clause.id]
    cells = (clause.id, judged, ", ".join(obeyed) or "the suite alone", ", ".join(broken))
    return f"| {' | '.join(cells)} |"


@cache
def _obeying() -> dict[str, list[Path]]:
    """The files of the reference that name each clause."""
    found: dict[str, list[Path]] = {}
    for path in sorted((ROOT / "reference").rglob("*.py")):
        for clause in dict.fromkeys(_ID.findall(path.read_text(encoding="utf-8"))):
            found.setdefault(clause, []).append(path)
    return found


def _link(words: str, file: Path) -> str:
    return f"[{words}](../{file.resolve().relative_to(ROOT).as_posix()})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
