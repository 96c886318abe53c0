"""The facts of a case: decides which constants a reproduction script has, for its request, runs, claims and places."""

import re
import textwrap
from collections.abc import Sequence
from dataclasses import MISSING, asdict
from dataclasses import fields as fields_of
from typing import Any

from conformance.contract import Claims, Request
from conformance.loader.asked import arguments_of, hooks_of
from conformance.loader.patience import GRACE, SHORT_GRACE
from conformance.loader.runs import SEED_STRIDE, UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.processes.task import Task
from conformance.report.adapter_source import Adapter
from conformance.report.choice import COUNTED
from conformance.report.planned import Plan
from conformance.report.reached import scripting_of
from conformance.trial.result import Case
from conformance.trial.words import place_of

# A loader that orders by the clock, or by nothing at all, gives the same small order twice now and then.
_OF_REPEATING = ("PART-7", "ORDER-5", "ORDER-9", "DRAW-5")
_OF_RACING = ("WORK-6", "ERROR-2")  # of workers that race the right one may win
_UNUSED = {"replication_factor": 1, "device_iterations": 1, "gradient_accumulation": 1, "asynchronous": False}


def constants(case: Case, claims: Claims, adapter: Adapter, plan: Plan, patience: float) -> list[str]:
    """All constants but those that the check reads."""
    main = plan.tasks[0]
    usual, asked = usual_and_asked(case, plan)
    request = {**usual, **asked}
    values = {**adapter.constants, "ASKED": case.scenario.describe(), "EXPECTED": case.finding.expected}
    # Two rounds of one reading, and the grace in which things may end.
    seconds = patience + 2 * GRACE if case.scenario.is_troubled else patience
    return [
        *(f"{name} = {value!r}" for name, value in values.items()),
        f"SAMPLES = {case.scenario.samples}",
        f"RANKS = {[task.rank for task in main]}",
        f"REQUEST = {keywords('dict', request)}",
        f"RANDOM_SEED = {main[0].random_seed}  # of the global generators, before each run",
        f"PATIENCE = {seconds:g}  # seconds for a run of all its epochs",
        f"ATTEMPTS = {attempts(case)}  # without a fault, before it counts as fixed",
        *_places(case, claims),
        "# What each run changes, and the epochs that it reads.",
        f"RUNS = {runs_of(case, plan)}",
    ]


def usual_and_asked(case: Case, plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
    """The fields of a request that the case says nothing of, as an adapter may read any of them, and the others."""
    usual = {each.name: each.default for each in fields_of(Request) if each.default is not MISSING} | _UNUSED
    found = {**usual, **_arguments(case, plan.tasks[0][0]), **hooks_of(scripting_of(case).as_loader(case.scenario))}
    del found["rank"]
    asked = {name: value for name, value in found.items() if name not in usual or value is not usual[name]}
    return {name: value for name, value in usual.items() if name not in asked}, asked


def attempts(case: Case) -> int:
    """How often a script tries, where a faulty loader may look like a correct one by chance."""
    by_chance = case.clause in _OF_REPEATING or (case.clause in _OF_RACING and case.scenario.num_workers > 0)
    return 6 if by_chance else 1


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


def runs_of(case: Case, plan: Plan) -> str:
    """What each run changes, and the epochs that it reads."""
    runs = [_run(case, plan, at) for at in range(len(plan.names))]
    if scripting_of(case).as_loader(case.scenario).seeds == 1:
        named = [f"{name!r}: {run}" for name, run in zip(plan.names, runs, strict=True)]
        return f"{{{named[0]}}}" if len(named) == 1 else "{\n" + "".join(f"    {each},\n" for each in named) + "}"
    first = case.scenario.seed
    seeds = f"range({first + SEED_STRIDE}, {first + case.scenario.seeds * SEED_STRIDE}, {SEED_STRIDE})"
    epochs = _epochs(plan.tasks[0][0].epochs)
    each = f'**{{f"seed {{seed}}": dict(epochs={epochs}, seed=seed) for seed in {seeds}}}'
    return f'{{\n    "main": {runs[0]},\n    {each},\n}}'


def _run(case: Case, plan: Plan, at: int) -> str:
    task, usual, scripting = plan.tasks[at][0], plan.tasks[0][0], scripting_of(case)
    before = _arguments(case, usual)
    changes = {name: value for name, value in _arguments(case, task).items() if value != before.get(name)}
    fields = [f"epochs={_epochs(task.epochs[:1] if scripting.once(case.scenario) else task.epochs)}"]
    fields += [f"{name}={value!r}" for name, value in changes.items()]
    fields += [f"random_seed={task.random_seed}"] if task.random_seed != usual.random_seed else []
    fields += [f"others={[*task.others]}"] if task.others else []
    fields += scripting.said(task.scenario, plan.names[at])
    return f"dict({', '.join(fields)})"


def _arguments(case: Case, task: Task) -> dict[str, Any]:
    return (scripting_of(case).arguments or arguments_of)(task.scenario, task.rank)


def _epochs(numbers: Sequence[int]) -> str:
    return f"range({len(numbers)})" if list(numbers) == list(range(len(numbers))) else repr(list(numbers))


def numbers_and_claims(case: Case, claims: Claims, source: str) -> str:
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
        "evens": claims.equal_steps and scenario.world_size > 1,
        "errors": claims.errors,
        "undisturbed": _undisturbed(case) if isinstance(scenario, Scenario) else [],
        "epochs_claim": claims.epochs,
        **scripting_of(case).facts(case.clause, scenario, claims),
        "end_of_epoch": claims.end_of_epoch,
    }
    names = dict.fromkeys(re.findall(r"\b(?:case|CASE)\.(\w+)", source))
    return f"CASE = {keywords('SimpleNamespace', {name: known[name] for name in names})}"


def _undisturbed(case: Case) -> list[int]:
    """The samples of an epoch of the same request that nothing disturbs."""
    run = case.trace.variant(UNDISTURBED)
    if run is None or run.failed:
        return list(range(case.scenario.samples))
    return list(run.ranks[0].epochs[0].samples)


def keywords(function: str, fields: dict[str, Any]) -> str:
    """A call with these keywords, on one line or on several."""
    words = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    if len(function) + len(words) < 110:
        return f"{function}({words})"
    return f"{function}(\n{textwrap.fill(words, 110, initial_indent='    ', subsequent_indent='    ')},\n)"
