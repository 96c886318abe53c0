"""The command `loaderspec claims TARGET`: shows what a loader can promise, and writes it into its adapter."""

import argparse
import ast
import sys
import textwrap
from itertools import groupby
from pathlib import Path
from typing import Any

from conformance.claiming.init import EXIT_DONE, EXIT_USAGE, beside, place_of
from conformance.claiming.search import NOT_LOOKED_FOR, Findings, Search, Tried, made_of, unless_claimed
from conformance.claiming.struck import claims_of_text, kept, struck
from conformance.claiming.words import literal, refuted
from conformance.clauses import CLAUSES
from conformance.contract import AdapterError, Claims
from conformance.processes.sources import source_of
from conformance.shapes.shape import Shape
from conformance.shapes.source import adapter, claims_lines
from conformance.trial.session import Options, Session
from conformance.trial.words import about, printable

_COLUMNS = 110
_NO_PROMISE = """\
THIS IS NOT A PROMISE. It is what held in {tier} cases of small datasets, on one machine. A loader promises what its
author knows that it does: strike out what is so by chance, and sign the rest by putting it into the adapter."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of `loaderspec claims`."""
    parser.add_argument("target", help="what --impl takes: an adapter, or a class or function that needs none")
    parser.add_argument("--tier", default="gate", help="how much is tried: quick, gate (default) or deep")
    parser.add_argument("--seed", type=int, default=0, help="seed of the scenarios")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds a rank may take over one scenario")
    parser.add_argument("--write", action="store_true", help="put what holds into the adapter, or write one with it")


def claims(given: argparse.Namespace) -> int:
    """Find out what holds and show it. Code 4 if the adapter can't be used."""
    try:
        source, name = source_of(given.target)
        with Session(source, name, Options(tier=given.tier, seed=given.seed, patience=given.patience)) as session:
            if session.invalid:
                raise AdapterError(session.invalid)
            found = Search(session).run()
            shape = session.origin.shape
        print(printable("\n".join(shown(found, name, given.tier))))
        if given.write:
            path = Path(place_of(given.target) or given.target) if shape is None else beside(given.target, shape)
            print(printable("\n".join(_written(path, given.target, shape, found))))
    except (AdapterError, OSError) as error:
        print(printable(f"loaderspec: {about(given.target, str(error))}"), file=sys.stderr)
        return EXIT_USAGE
    return EXIT_DONE


def _written(path: Path, target: str, shape: Shape | None, found: Findings) -> list[str]:
    """Write the claims into an adapter that is there, or one with them; the lines that say what was done."""
    before = Claims()
    if path.exists() or shape is None:
        before = claims_of_text(assignment(path).value)
        text = rewritten(path, dict(made_of(kept(before, found.claims))))
    else:
        text = adapter(shape, place_of(target), dict(made_of(found.claims)))
    path.write_text(text, encoding="utf-8")
    told = [("kept", name, "it is not looked for") for name, _ in made_of(before) if name in NOT_LOOKED_FOR]
    told += [("taken out", claim, why) for claim, why in struck(before, found)]
    lines = (_wrapped(f"{what:<17}", f"{claim}: {why}") for what, claim, why in told)
    return ["", f"written to {path}", *(line for some in lines for line in some)]


def shown(found: Findings, name: str, tier: str) -> list[str]:
    """The findings for a person: a paragraph a claim, what is violated anyway, and the claims for an adapter."""
    lines = [f"what {name} could claim", ""]
    for claim, tried in groupby((each for each in found.tried if not each.skipped), lambda each: each.claim):
        lines += _wrapped(f"{claim:<17}", "; ".join(map(_told, tried)))
    heads: dict[str, list[str]] = {}
    for case in found.always:
        claim = unless_claimed(CLAUSES[case.clause], found.claims)
        head = f"violated where {claim} is not claimed" if claim else "violated whatever is claimed"
        heads.setdefault(head, []).extend(_wrapped(f"  {case.clause:<15}", refuted(case)))
    for head in sorted(heads, key=lambda head: "where" in head):
        lines += ["", head, *heads[head]]
    reasons: dict[str, list[str]] = {}
    for each in found.tried:
        if each.skipped:
            reasons.setdefault(each.reason, []).append(each.claim if each.claim != "hooks" else each.value)
    skipped = "; ".join(f"{', '.join(names)}: {reason}" for reason, names in reasons.items())
    lines += ["", *_wrapped("not tried        ", skipped)] if skipped else []
    lines += ["", *_wrapped("not looked for   ", f"{', '.join(NOT_LOOKED_FOR)}: claim what it is meant to do"), ""]
    return [*lines, *claims_lines(dict(made_of(found.claims))), "", *_NO_PROMISE.format(tier=tier).split("\n")]


def _wrapped(head: str, text: str) -> list[str]:
    return textwrap.wrap(
        head + text, _COLUMNS, subsequent_indent=" " * len(head), break_on_hyphens=False, break_long_words=False
    )


def _told(tried: Tried) -> str:
    value = literal(tried.value)
    if tried.holds:
        return f"{value}: holds in {tried.cases} cases" if tried.cases else f"{value}: holds"
    if tried.reason.startswith("not found out"):
        return f"{value}: {tried.reason}"
    return f"{value}: no, {refuted(tried.case) if tried.case else tried.reason}"


def rewritten(path: Path, claims: dict[str, Any]) -> str:
    """The text of an adapter with other claims. AdapterError if it has no `claims = ...` of its own."""
    written = assignment(path)
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[written.lineno - 1 : written.end_lineno] = claims_lines(claims)
    return "\n".join(lines)


def assignment(path: Path) -> ast.Assign | ast.AnnAssign:
    """Where an adapter says what it claims. AdapterError if it has no `claims = ...` of its own."""
    if path.suffix != ".py" or not path.is_file():
        raise AdapterError(f"{path} is no file of an adapter; put the claims where they belong by hand")
    for each in ast.parse(path.read_text(encoding="utf-8")).body:
        targets = each.targets if isinstance(each, ast.Assign) else [getattr(each, "target", None)]
        is_claims = isinstance(targets[0], ast.Name) and targets[0].id == "claims"
        if isinstance(each, ast.Assign | ast.AnnAssign) and is_claims:
            return each
    raise AdapterError(f"{path} has no `claims = ...` at its top; put the claims where they belong by hand")
