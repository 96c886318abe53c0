"""The command `loaderspec explain`: a clause, a chapter's clauses, where a clause stands in the code, or a case."""

import argparse
import inspect
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.clauses import CHAPTERS, CLAUSES, FAMILIES, Clause
from conformance.contract import AdapterError
from conformance.processes.sources import source_of
from conformance.report.spec_text import UnknownClause, clause_text, clause_texts, explain
from conformance.report.ways_out import explained_without_clause, ways_out
from conformance.trace import Run
from conformance.trial.family import observe
from conformance.trial.known import parse_case
from conformance.trial.session import Options, Session
from conformance.trial.words import printable

EXIT_DONE, EXIT_USAGE = 0, 4
_ROOT = Path(__file__).resolve().parents[2]
# Where a clause is named beside its judge: what to call it, and the folder in a clone.
_NAMED_IN = {"reference": "reference", "known-bad loader": "tests/known_bad"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec explain`."""
    parser.add_argument("clauses", nargs="*", metavar="clause", help="PART-1, a case, or a chapter as PART; else all")
    parser.add_argument("--where", action="store_true", help="where it is judged, obeyed and broken: file and line")
    parser.add_argument("--case", help="say what a case asks for, for example PART-1-n1,w2,b1,keep")
    parser.add_argument("--impl", help="with --case: run it, and show what this loader delivers")


def explained(given: argparse.Namespace) -> int:
    """Print it. Code 4 if there is no such clause or case, or the loader can't be used."""
    try:
        lines = list(_lines(given))
    except (UnknownClause, AdapterError) as error:
        print(printable(f"loaderspec: {error}"), file=sys.stderr)
        return EXIT_USAGE
    print(printable("\n".join(lines)))
    return EXIT_DONE


def _lines(given: argparse.Namespace) -> Iterator[str]:
    if given.case:
        yield from _case(given.case, given.impl)
    elif not given.clauses:
        yield from _listed(CHAPTERS)
    for asked in () if given.case else given.clauses:
        if asked in CHAPTERS:
            yield from _listed([asked])
        elif _is_case(asked):
            yield from _case(asked, given.impl)
        else:
            yield from _clause(asked, given.where)


def _is_case(asked: str) -> bool:
    """Whether it is the id of a case, as a report prints it."""
    return asked.count("-") > 1 and "-".join(asked.split("-", 2)[:2]) in CLAUSES


def _listed(chapters: Iterable[str]) -> Iterator[str]:
    for clause in sorted(CLAUSES.values(), key=lambda clause: clause.number):
        if clause.id.partition("-")[0] in chapters:
            yield f"{clause.id:<9} {clause_texts()[clause.id].sentence}"


def _clause(asked: str, where: bool) -> Iterator[str]:
    """A clause, or what jobs are found to do and no clause forbids; and what to do about it in a job."""
    name = asked.upper()
    other = explained_without_clause(name) if name not in CLAUSES else ""
    if other:
        yield other
        return
    text = explain(asked)
    yield from _where(CLAUSES[name]) if where else [text, *([f"{ways_out()[name]}\n"] if name in ways_out() else [])]


def _where(clause: Clause) -> Iterator[str]:
    """The judge, the text, and the lines of a clone that name the clause."""
    judge = inspect.unwrap(clause.judge)
    yield f"{'judge':<17} {_shown(Path(inspect.getfile(judge)))}:{inspect.getsourcelines(judge)[1]}"
    yield f"{'text':<17} {clause_text(clause.id).link}"
    for name, folder in _NAMED_IN.items():
        for path in sorted((_ROOT / folder).rglob("*.py")):
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if re.search(rf"\b{clause.id}\b", line):
                    yield f"{name:<17} {_shown(path)}:{number}"


def _shown(path: Path) -> str:
    return path.relative_to(_ROOT).as_posix() if path.is_relative_to(_ROOT) else str(path)


def _case(case: str, implementation: str | None) -> Iterator[str]:
    clause, scenario = parse_case(case)
    yield f"{case}: {scenario.describe()}"
    if implementation is None:
        return
    source, name = source_of(implementation)
    with Session(source, name, Options(case=(clause, scenario))) as session:
        if session.invalid:
            raise AdapterError(session.invalid)
        with session.fleet.whole_patience():
            trace = observe(session.fleet.lanes[0], FAMILIES[CLAUSES[clause].family], scenario)
    for run in trace.runs:
        yield from _run(run)


def _run(run: Run) -> Iterator[str]:
    """What each rank delivered, epoch by epoch, steps parted by bars."""
    yield f"{run.name}:"
    for rank in run.ranks:
        for epoch in rank.epochs:
            steps = " | ".join(" ".join(map(str, step)) for step in epoch.steps)
            yield f"  rank {rank.rank}, epoch {epoch.number}: {steps or '(no steps)'}"
        if rank.failure:
            yield f"  rank {rank.rank}: {rank.failure.sentence()}"
