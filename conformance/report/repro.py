"""The standalone reproduction script: decides what a script says of a case, and writes it.

A script needs Python and the implementation, and nothing of this package. It exits 1 while the fault lives, 0 when it
is fixed, 2 when it can't tell. It is put together from functions in `script/`, behind the constants of the case.
"""

import os
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import MISSING, asdict, dataclass, field
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any, cast

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims, Request
from conformance.loader.asked import arguments_of, hooks_of
from conformance.loader.patience import GRACE, SHORT_GRACE
from conformance.loader.runs import FIRST_EPOCH, ONCE_MORE, SEED_STRIDE, UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.loader.starting import Start
from conformance.processes.fleet import Fleet, Lane
from conformance.processes.sources import HASH_SEEDS, SpawnedSource
from conformance.processes.task import Task
from conformance.report.adapter_source import Adapter, adapter_of
from conformance.report.assemble import imports_for, pieces_for
from conformance.report.choice import COUNTED, flags_of, roots_of
from conformance.report.spec_text import clause_text
from conformance.report.text import COLUMNS, REPRO_FOLDER
from conformance.shapes.shape import Shape
from conformance.trace import Epoch, RankRun, Saved, Trace
from conformance.trial.campaign import Case
from conformance.trial.family import observe, with_twins
from conformance.trial.words import place_of

PATIENCE = 10.0
# Whoever orders by the clock, or by nothing at all, gives the same small order twice now and then.
_OF_REPEATING = ("PART-7", "ORDER-5", "ORDER-9")
_OF_RACING = ("WORK-6", "ERROR-2")  # of workers that race the right one may win
_USE = """\
This script needs Python and the implementation, and nothing else. Each rank runs in a process of its own.
It exits 1 while the fault lives, 0 when it is fixed, and 2 when it can't tell."""
_PROBES = ("class Dataset", "class Elements")
_MACHINERY = "# --- How each rank is run, in a process of its own; the loader and the rule stand above. ---"
_START = """\
if __name__ == "__main__":
    if len(sys.argv) > 1:
        one_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
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
    plan = _plan_of(case)
    again = any(plan.shifts) and not case.scenario.saves
    flags = flags_of(case, claims, [tasks[0] for tasks in plan.tasks], again)
    pieces = pieces_for(roots_of(case, adapter), flags)
    facts = "\n".join([*_constants(case, claims, adapter, plan, patience), _case(case, claims, "\n".join(pieces))])
    imports = imports_for([*pieces, facts, adapter.text, _START])
    # A reader who wants to know the rule and the loader has seen both when the rest begins.
    pieces.insert(next(at for at, piece in enumerate(pieces) if piece.startswith(_PROBES)), _MACHINERY)
    parts = [_docstring(case, implementation_spec), imports, facts, adapter.text.rstrip(), *pieces, _START]
    return "\n\n\n".join(part for part in parts if part).replace('"""\n\n\n', '"""\n\n', 1)


# --- what the runs of the case are ----------------------------------------------------------------------------------


@dataclass
class _Plan:
    """Takes the place of a lane, and notes what each run of a scenario asks of the ranks."""

    names: list[str] = field(default_factory=list)
    tasks: list[Sequence[Task]] = field(default_factory=list)
    shifts: list[int] = field(default_factory=list)
    patience: float = 0.0
    claims: Claims = field(default_factory=Claims)

    def run(
        self, tasks: Sequence[Task], shift: int = 0, patience: float | None = None, stage: float | None = None
    ) -> tuple[RankRun, ...]:
        """Note the tasks; every rank ends at once."""
        self.tasks.append(tasks)
        self.shifts.append(shift)
        return tuple(_ended(task) for task in tasks)

    def learned(self, name: str, find_out: Callable[[], Start]) -> Start:
        """How workers start: none is started here."""
        return Start()


def _ended(task: Task) -> RankRun:
    """A run that ended, and left a state if the next one goes on with it."""
    scenario: Scenario = task.scenario
    leaves = scenario.saves and (not task.saved or {"again", "relayed"} & set(scenario.words))
    saved = Saved(b"", later=b"later" if "held" in scenario.words else b"") if leaves else None
    return RankRun(task.rank, tuple(Epoch(at, ()) for at in task.epochs), saved=saved)


def _plan_of(case: Case) -> _Plan:
    plan = _Plan()
    # The very code that runs a scenario says what its runs are.
    clause, lane = CLAUSES[case.clause], cast(Lane, plan)
    trace: Trace = observe(lane, FAMILIES[clause.family], case.scenario)
    if clause.twin:
        trace = with_twins(lane, FAMILIES[clause.family], trace)
    plan.names = [run.name for run in trace.runs]
    compares = case.clause in ("ORDER-3", "ORDER-4")
    unread = {"untouched", UNDISTURBED, FIRST_EPOCH, ONCE_MORE} | (set() if compares else {"unshuffled"})
    # What was not asked for was made to see who is to blame.
    unread |= {"workers", "synchronous"} - {case.scenario.variant}
    for name in unread & set(plan.names):
        # Only RESUME-6 compares with the first, and of the second a script holds what came; the others name a fault.
        at = plan.names.index(name)
        del plan.names[at], plan.tasks[at], plan.shifts[at]
    return plan


# --- what stands at the top of a script -----------------------------------------------------------------------------


def _docstring(case: Case, implementation: str) -> str:
    finding = case.finding
    fields = {
        "asked for": (case.scenario.describe(),),
        "expected": (finding.expected,),
        "delivered": finding.delivered,
        "why": (finding.why,),
    }
    sentence = textwrap.wrap(clause_text(case.clause).sentence, COLUMNS)
    lines = [f"{implementation} violates {case.clause}, in the case {case.scenario.code}:", "", *sentence, ""]
    for name, values in fields.items():
        wrapped = [line for value in values for line in textwrap.wrap(value, COLUMNS - 12)]
        lines += [f"{name if at == 0 else '':<12}{line}" for at, line in enumerate(wrapped)]
    text = "\n".join([*lines, "", _USE]).replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}\n"""'


def _constants(case: Case, claims: Claims, adapter: Adapter, plan: _Plan, patience: float) -> list[str]:
    main = plan.tasks[0]
    # An adapter may read any field of a request; what the case does not ask for has its usual value.
    usual = {each.name: each.default for each in fields_of(Request) if each.default is not MISSING}
    request = {**usual, **_arguments(main[0]), **hooks_of(case.scenario)}
    del request["rank"]
    by_chance = case.clause in _OF_REPEATING or (case.clause in _OF_RACING and case.scenario.num_workers > 0)
    attempts = 6 if by_chance else 1
    values = {**adapter.constants, "ASKED": case.scenario.describe(), "EXPECTED": case.finding.expected}
    # Two rounds of one reading, and the grace in which things may end.
    seconds = patience + 2 * GRACE if case.scenario.is_troubled else patience
    return [
        *(f"{name} = {value!r}" for name, value in values.items()),
        f"SAMPLES = {case.scenario.samples}",
        f"RANKS = {[task.rank for task in main]}",
        f"REQUEST = {_keywords('dict', request)}",
        f"RANDOM_SEED = {main[0].random_seed}  # of the global generators, before each run",
        f"PATIENCE = {seconds:g}  # seconds for a run of all its epochs",
        f"ATTEMPTS = {attempts}  # without a fault, before it counts as fixed",
        *_places(case, claims),
        "# What each run changes, and the epochs that it reads.",
        f"RUNS = {_runs(case, plan)}",
    ]


def _places(case: Case, claims: Claims) -> list[str]:
    """Where the fault is and when the consumer acts, in cases that have that, and what is counted."""
    lines = []
    if case.scenario.fault:
        lines.append(f"PLACE = {place_of(case.scenario.fault)}  # where the fault is: {case.scenario.fault}")
    if "@" in case.scenario.conduct:
        lines.append(f"AFTER = {place_of(case.scenario.conduct)}  # the steps that are read first")
    if case.scenario.saves:
        skips = claims.end_of_epoch == "next"
        lines.append(f"SKIPS_THE_END = {skips}  # whether a state of an epoch's end is one of the next epoch")
    if case.scenario.asynchronous:
        lines.append(f"STEP = {case.scenario.combined_batch}  # samples")
        awaited = (case.scenario.reads_before, case.scenario.reads_between)
        lines.append(f"AWAITED = {awaited}  # reads that must come before the first iterator, and before the second")
    if case.clause in COUNTED:
        lines.append(f"LEFT = {COUNTED[case.clause][1]!r}")
        lines.append(f"GRACES = {(SHORT_GRACE, GRACE)}  # seconds after each round in which things may still end")
    return lines


def _runs(case: Case, plan: _Plan) -> str:
    runs = [_run(plan, at) for at in range(len(plan.names))]
    if case.scenario.seeds == 1:
        return "{\n" + "".join(f"    {name!r}: {run},\n" for name, run in zip(plan.names, runs, strict=True)) + "}"
    first = case.scenario.seed
    seeds = f"range({first + SEED_STRIDE}, {first + case.scenario.seeds * SEED_STRIDE}, {SEED_STRIDE})"
    epochs = _epochs(plan.tasks[0][0].epochs)
    each = f'**{{f"seed {{seed}}": dict(epochs={epochs}, seed=seed) for seed in {seeds}}}'
    return f'{{\n    "main": {runs[0]},\n    {each},\n}}'


def _run(plan: _Plan, at: int) -> str:
    task, usual = plan.tasks[at][0], plan.tasks[0][0]
    before = _arguments(usual)
    changes = {name: value for name, value in _arguments(task).items() if value != before.get(name)}
    fields = [f"epochs={_epochs(task.epochs)}"]
    fields += [f"{name}={value!r}" for name, value in changes.items()]
    fields += [f"random_seed={task.random_seed}"] if task.random_seed != usual.random_seed else []
    fields += ["after_others=True"] if task.after_others else []
    return f"dict({', '.join(fields)})"


def _arguments(task: Task) -> dict[str, Any]:
    return arguments_of(task.scenario, task.rank)


def _epochs(numbers: Sequence[int]) -> str:
    return f"range({len(numbers)})" if list(numbers) == list(range(len(numbers))) else repr(list(numbers))


def _case(case: Case, claims: Claims, source: str) -> str:
    """The numbers and claims that the check reads, and no others."""
    scenario = case.scenario
    known: dict[str, Any] = {
        **asdict(scenario),
        "combined_batch": scenario.combined_batch,
        "policy": claims.policy(scenario.drop_last),
        "least_samples": claims.least_samples(scenario.world_size, scenario.combined_batch),
        "layout": claims.layout,
        "length": claims.length,
        "in_order": claims.in_order,
        "shuffle_claim": claims.shuffle,
        "iterable_workers": claims.iterable_workers,
        "errors": claims.errors,
        "undisturbed": _undisturbed(case),
        "epochs_claim": claims.epochs,
        "end_of_epoch": claims.end_of_epoch,
    }
    names = dict.fromkeys(re.findall(r"\bcase\.(\w+)", source))
    return f"CASE = {_keywords('SimpleNamespace', {name: known[name] for name in names})}"


def _undisturbed(case: Case) -> list[int]:
    """The samples of an epoch of the same request that nothing disturbs."""
    run = case.trace.variant(UNDISTURBED)
    if run is None or run.failed:
        return list(range(case.scenario.samples))
    return list(run.ranks[0].epochs[0].samples)


def _keywords(function: str, fields: dict[str, Any]) -> str:
    words = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    if len(words) < 80:
        return f"{function}({words})"
    return f"{function}(\n{textwrap.fill(words, 110, initial_indent='    ', subsequent_indent='    ')},\n)"


def _claims_of(implementation: str) -> Claims:
    with Fleet(SpawnedSource(implementation, HASH_SEEDS[:1])) as fleet:
        return fleet.claims
