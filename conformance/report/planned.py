"""The runs of a case: decides what a reproduction script asks of its ranks, run by run.

The very code that runs a scenario is asked, with a lane that only takes notes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

from conformance.clauses import CLAUSES, FAMILIES
from conformance.contract import Claims
from conformance.loader.runs import FIRST_EPOCH, ONCE_MORE, UNDISTURBED
from conformance.loader.scenario import Scenario
from conformance.loader.starting import Start
from conformance.processes.lane import Lane
from conformance.processes.task import Task
from conformance.trace import Epoch, RankRun, Saved, Trace
from conformance.trial.family import observe, with_twins
from conformance.trial.result import Case


@dataclass
class Plan:
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
    """A run that ended, and left a state if the next one continues with it."""
    scenario = task.scenario
    if not isinstance(scenario, Scenario) or scenario.conduct.startswith("stopped"):
        return RankRun(task.rank, tuple(Epoch(at, ()) for at in task.epochs), saved=Saved(b""))
    leaves = scenario.saves and (not task.saved or {"again", "relayed"} & set(scenario.words))
    saved = Saved(b"", later=b"later" if "held" in scenario.words else b"") if leaves else None
    return RankRun(task.rank, tuple(Epoch(at, ()) for at in task.epochs), saved=saved)


def plan_of(case: Case) -> Plan:
    """What each run of a case asks, under its name."""
    plan = Plan()
    clause, lane = CLAUSES[case.clause], cast(Lane, plan)
    trace: Trace = observe(lane, FAMILIES[clause.family], case.scenario)
    if clause.twin:
        trace = with_twins(lane, FAMILIES[clause.family], trace)
    # What continues with a state has another process, as what is read again.
    plan.names = ["again" if run.name == "resumed" and clause.family == "endless" else run.name for run in trace.runs]
    compares = case.clause in ("ORDER-3", "ORDER-4")
    unread = {"untouched", UNDISTURBED, FIRST_EPOCH, ONCE_MORE} | (set() if compares else {"unshuffled"})
    # What was not asked for was made to see who is to blame.
    unread |= {"workers", "synchronous"} - {case.scenario.variant}
    for name in unread & set(plan.names):
        # Only RESUME-6 compares with the first, and of the second a script holds what came; the others name a fault.
        at = plan.names.index(name)
        del plan.names[at], plan.tasks[at], plan.shifts[at]
    return plan
