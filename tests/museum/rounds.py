"""A round: loaders that people wrote who had seen neither judges nor museum, judged at the gate.

`python -m tests.museum.rounds FOLDER` judges each adapter of FOLDER/broken/*.py, which must be killed, and of
FOLDER/correct/*.py, which must not be accused; prints each verdict and the figures; and writes FOLDER/round.json.
What got past is told in specs/misses.md, and joins the museum only after its round was counted.
"""

import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from conformance.clauses import CLAUSES
from conformance.processes.sources import source_of
from conformance.trial.session import Options, Session

KINDS = ("broken", "correct")


def judge(path: Path) -> dict[str, Any]:
    """What the gate says of one adapter: the clauses that it violates with their cases, and what else is not green."""
    began = time.monotonic()
    with Session(*source_of(str(path)), Options(tier="gate")) as session:
        outcomes = session.report(list(CLAUSES.values())).outcomes
    return {
        "loader": path.stem,
        "kind": path.parent.name,
        "violated": {each.clause: each.case.scenario.code for each in outcomes if each.case},
        "should": [each.clause for each in outcomes if each.case and each.level == "SHOULD"],
        "not green": {each.clause: each.note for each in outcomes if not each.case and each.fails(strict=False)},
        "seconds": round(time.monotonic() - began),
    }


def killed(row: dict[str, Any]) -> bool:
    """Whether a run of CI would be red, and would name a clause."""
    return bool(set(row["violated"]) - set(row["should"]))


def figures(rows: list[dict[str, Any]]) -> str:
    """How many broken loaders were killed, and how many correct ones were accused."""
    broken = [row for row in rows if row["kind"] == "broken"]
    correct = [row for row in rows if row["kind"] == "correct"]
    accused = [row for row in correct if row["violated"] or row["not green"]]
    dead = [row for row in broken if killed(row)]
    escaped = ", ".join(row["loader"] for row in broken if not killed(row))
    blamed = ", ".join(row["loader"] for row in accused)
    return (
        f"{len(dead)} of {len(broken)} broken loaders killed; escaped: {escaped or 'none'}\n"
        f"{len(accused)} of {len(correct)} correct loaders accused or not green: {blamed or 'none'}"
    )


def _line(row: dict[str, Any]) -> str:
    found = ", ".join(f"{clause}-{case}" for clause, case in row["violated"].items())
    rest = ", ".join(f"{clause} ({note})" for clause, note in row["not green"].items())
    return f"{row['kind']:8} {row['loader']:40} {row['seconds']:4d} s  {found or 'nothing violated'}  {rest}"


def main(folder: Path) -> None:
    """Judge the round, two loaders at a time."""
    paths = [path for kind in KINDS for path in sorted((folder / kind).glob("*.py"))]
    rows = []
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn")) as pool:
        for row in pool.map(judge, paths):
            rows.append(row)
            print(_line(row), flush=True)
            (folder / "round.json").write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    print(figures(rows))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
