"""Writes into each chapter where its clauses stand: the judge, the lines of the reference, the known-bad loaders.

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
HEADING = "## Where each clause stands"
_BLOCK = re.compile(rf"{HEADING}\n.*?(?=^## )", re.M | re.S)
_ID = re.compile(r"\b[A-Z]+-\d+\b")
_LAST = "## Left open\n"
_HEADS = "| clause | judged by | obeyed in | broken by |\n|---|---|---|---|"


def chapters() -> dict[Path, str]:
    """Each chapter with its table as it should be."""
    files = dict.fromkeys(ROOT / "specs" / text.chapter_file for text in clause_texts().values())
    return {file: _with_table(file) for file in files}


def _with_table(file: Path) -> str:
    text = _BLOCK.sub("", file.read_text(encoding="utf-8"))
    clauses = [CLAUSES[each.id] for each in clause_texts().values() if each.chapter_file == file.name]
    table = "\n".join([_HEADS, *(_row(clause) for clause in clauses)])
    assert text.count(_LAST) == 1, f"{file} has no part {_LAST!r}, before which the table stands"
    return text.replace(_LAST, f"{HEADING}\n\n<!-- generated: python -m tests.docs.where -->\n\n{table}\n\n{_LAST}")


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
    for chapter, wanted in chapters().items():
        chapter.write_text(wanted, encoding="utf-8")
