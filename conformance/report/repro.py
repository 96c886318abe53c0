"""The standalone reproduction script: decides what a script says of a case, and writes it.

A script needs Python and the implementation, and nothing of this package. It exits 1 while the bug is there, 0 once it
is fixed, 2 when it can't tell. It is put together from functions in `script/`, after the constants of the case.
"""

import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.processes.sources import HASH_SEEDS, SpawnedSource
from conformance.report.adapter_source import Adapter, adapter_of
from conformance.report.assemble import bare, imports_for, is_of_the_check, pieces_for
from conformance.report.choice import flags_of, is_brief, roots_of
from conformance.report.facts import attempts, constants, keywords, numbers_and_claims, runs_of, usual_and_asked
from conformance.report.planned import Plan, plan_of
from conformance.report.reached import LOOPS, scripting_of
from conformance.report.spec_text import clause_text
from conformance.report.text import COLUMNS, REPRO_FOLDER
from conformance.shapes.shape import Shape
from conformance.trial.result import Case

PATIENCE = 10.0
_USE = """\
This script needs Python and the implementation, and nothing else. Each rank runs in a process of its own.
It exits 1 while the bug is there, 0 once it is fixed, and 2 when it can't tell."""
_BRIEF_USE = """\
Exit code 1: the bug is there; 0: it is fixed; 2: this script can't tell. It needs only Python and the loader."""
_SHARED = "# --- What all scripts share: each rank is run in a process of its own. ---"
_PROBES = ("class Dataset", "class Elements")
_MACHINERY = "# --- How each rank is run, in a process of its own; the loader and the rule stand above. ---"
_START = """\
if __name__ == "__main__":
    if len(sys.argv) > 1:
        one_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
    main()
"""
_BRIEF_START = """\
if __name__ == "__main__":
    main()
"""


def write(
    case: Case,
    implementation_spec: str,
    folder: str | Path = REPRO_FOLDER,
    claims: Claims | None = None,
    patience: float = PATIENCE,
    shape: Shape | None = None,
) -> Path:
    """Write the script of a case into `folder`, whole or not at all, and return its path."""
    text = script(case, implementation_spec, claims, patience, shape)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    path, unfinished = folder / f"{case.id}.py", folder / f".{case.id}.{os.getpid()}"
    try:
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def script(
    case: Case,
    implementation_spec: str,
    claims: Claims | None = None,
    patience: float = PATIENCE,
    shape: Shape | None = None,
) -> str:
    """The text of the script. Without `claims` the implementation is asked, in a process of its own.

    `patience` is in seconds, as in the run that found the case. `shape` is that of an implementation without adapter.
    """
    claims = claims or _claims_of(implementation_spec)
    adapter = adapter_of(implementation_spec, shape)
    plan = plan_of(case)
    again = any(plan.shifts) and not scripting_of(case).as_loader(case.scenario).saves
    flags = flags_of(case, claims, [tasks[0] for tasks in plan.tasks], again)
    pieces = pieces_for(roots_of(case, adapter), flags)
    if is_brief(case):
        return _brief(case, implementation_spec, claims, adapter, plan, patience, pieces)
    texts = list(pieces.values())
    facts = "\n".join(
        [*constants(case, claims, adapter, plan, patience), numbers_and_claims(case, claims, "\n".join(texts))]
    )
    imports = imports_for([*texts, facts, adapter.text, _START])
    # A reader who wants to know the rule and the loader has seen both when the rest begins.
    texts.insert(next(at for at, piece in enumerate(texts) if piece.startswith(_PROBES)), _MACHINERY)
    return _joined([_docstring(case, implementation_spec, _USE), imports, facts, adapter.text.rstrip(), *texts, _START])


def _brief(
    case: Case,
    implementation: str,
    claims: Claims,
    adapter: Adapter,
    plan: Plan,
    patience: float,
    pieces: dict[str, str],
) -> str:
    """The loader, the loop and the assertion, which is what a person looks for; then what all such scripts share."""
    loops = [bare(pieces.pop(name), documented=True) for name in LOOPS if name in pieces]
    first = [*loops, *(bare(text, documented=True) for name, text in pieces.items() if is_of_the_check(name))]
    shared = [bare(text, documented=False) for name, text in pieces.items() if not is_of_the_check(name)]
    usual, asked = usual_and_asked(case, plan)
    facts = [
        *(f"{name} = {value!r}" for name, value in adapter.constants.items()),
        f"SAMPLES, RANKS = {case.scenario.samples}, {[task.rank for task in plan.tasks[0]]}",
        f"REQUEST = {keywords('dict', asked)}",
        f"RUNS = {runs_of(case, plan)}",
        numbers_and_claims(case, claims, "\n".join([*first, *shared])),
    ]
    rest = [
        keywords("REQUEST |= dict", usual),
        f"RANDOM_SEED = {plan.tasks[0][0].random_seed}  # of the global generators, before each run",
        f"PATIENCE = {patience:g}  # seconds for a run of all its epochs",
        f"ATTEMPTS = {attempts(case)}  # without a fault, before it counts as fixed",
    ]
    above = imports_for([*facts, adapter.text, *first])
    needed = imports_for([*rest, *shared, _BRIEF_START]).split("\n")
    below = _on_few_lines([line for line in needed if line not in above.split("\n")])
    head = [_docstring(case, implementation, _BRIEF_USE), above, "\n".join(facts), adapter.text.rstrip()]
    tail = ["\n".join([_SHARED, *below, "", *rest]), *shared, _BRIEF_START]
    return _joined([*head, *first, "\n\n".join(tail)])


def _on_few_lines(imports: list[str]) -> list[str]:
    modules = [line.removeprefix("import ") for line in imports if line.startswith("import ")]
    plain = textwrap.wrap(", ".join(modules), 105)
    return [*(f"import {line.removesuffix(',')}" for line in plain), *imports[len(modules) :]]


def _joined(parts: Sequence[str]) -> str:
    return "\n\n\n".join(part for part in parts if part).replace('"""\n\n\n', '"""\n\n', 1)


# --- what stands at the top of a script -----------------------------------------------------------------------------


def _docstring(case: Case, implementation: str, use: str) -> str:
    finding = case.finding
    fields = {
        "asked for": (case.scenario.describe(),),
        "expected": (finding.expected,),
        "delivered": finding.delivered,
        "why": (finding.why,),
    }
    sentence = textwrap.wrap(clause_text(case.clause).sentence, COLUMNS)
    lines = [f"{implementation} violates {case.clause}, in the case {case.scenario.code}:", *sentence, ""]
    for name, values in fields.items():
        wrapped = [line for value in values for line in textwrap.wrap(value, COLUMNS - 12)]
        lines += [f"{name if at == 0 else '':<12}{line}" for at, line in enumerate(wrapped)]
    text = "\n".join([*lines, "", use]).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _claims_of(implementation: str) -> Claims:
    with Fleet(SpawnedSource(implementation, HASH_SEEDS[:1])) as fleet:
        return fleet.claims
