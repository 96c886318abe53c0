"""What the middle knows of a wing: the families of scenarios that it has, and nothing else."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeVar

from conformance.contract import Claims
from conformance.processes.lane import Lane
from conformance.trace import Run, Scenario, Trace
from conformance.trial.scripting import USUAL, Scripting
from conformance.trial.tiers import Tier

S = TypeVar("S", bound=Scenario)
Violates = Callable[[S], bool]


def _as_it_is(scenario: S, violates: Violates[S]) -> S:
    return scenario


@dataclass(frozen=True)
class Refutation(Generic[S]):
    """A claim that is not kept, in a case that chance has no part in.

    Everything but the clause that says so is judged with the claims `instead`; `why` is told in the report.
    """

    scenario: S
    instead: Mapping[str, Any]
    why: str


@dataclass(frozen=True)
class Family(Generic[S]):
    """How one kind of scenario is drawn, read back, run and made smaller, and what is said of it.

    `listed` are the scenarios that are always tried, before any is drawn; `examples` says how many are drawn at each
    tier by the Hypothesis strategy that `drawn` makes, and is empty for a family that is only listed. `read` raises
    ValueError for a code that is none of this family's. `runs` makes the runs of a scenario one after the other, the
    main one first; `twins` makes the runs more that some clauses want to see before they accuse. `smaller` gives the
    smallest scenario near one that violates.

    `blamed`: what a hang is about, where hangs are counted by that and not together. `hides`: for a clause, those whose
    violation keeps it from being judged; `of_failed_runs`: the clauses that alone are judged on a run that failed.
    `may_fail`: whether an error is allowed, whatever the clauses say, because something was to fail or the request
    can't be met. `may_hang`: whether it may take longer than anybody waits. To die is never allowed.

    `refutes`: for a clause, the look at a loader that is taken before anything is judged, where a claim that is not
    kept would make chance of what other clauses say. `few`: those of the scenarios that are tried, where each takes
    long with this implementation; all of them else.
    `within`: the nearest scenario that a loader of these claims can be asked for (`Claims.without`), if there is one.
    `assumed`: what a loader whose author claims nothing is taken to claim, after a look at what it does.
    `smoke`: why the adapter can't be used, or "", before anything is judged. `notes`: what a reader of the report must
    know beside the outcomes. `promises`: what the clauses that held promise, weakest first. `scripting`: how a case is
    read in a reproduction script.
    """

    name: str
    read: Callable[[str], S]
    runs: Callable[[Lane, S], Iterable[Run]]
    listed: Callable[[Claims, Tier], Iterable[S]]
    examples: Mapping[str, int] = field(default_factory=dict)
    drawn: Callable[[Claims], Any] | None = None
    smaller: Callable[[S, Violates[S]], S] = _as_it_is
    twins: Callable[[Lane, Trace], Iterable[Run]] | None = None
    blamed: Callable[[S], str] = lambda scenario: ""
    hides: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    of_failed_runs: tuple[str, ...] = ()
    may_fail: Callable[[S, Claims], bool] = lambda scenario, claims: False
    may_hang: Callable[[S], bool] = lambda scenario: False
    refutes: Mapping[str, Callable[[Lane, Claims], Refutation[S] | None]] = field(default_factory=dict)
    few: Callable[[Lane, Tier, Sequence[S]], Sequence[S]] = lambda lane, tier, scenarios: scenarios
    within: Callable[[S, Claims], S | None] = lambda scenario, claims: scenario
    assumed: Callable[[Lane, Claims], Mapping[str, Any]] = lambda lane, claims: {}
    smoke: Callable[[Lane, Claims], str] = lambda lane, claims: ""
    notes: Callable[[Claims], Iterable[str]] = lambda claims: ()
    promises: Callable[[Claims, frozenset[str]], Iterable[str]] = lambda claims, held: ()
    scripting: Scripting = USUAL


# By name, in the order of the chapters: filled by `conformance.clauses`, which knows the wings.
FAMILIES: dict[str, Family[Any]] = {}


def observe(lane: Lane, family: Family[S], scenario: S) -> Trace:
    """Run the implementation once for each run that the scenario means, and write down what was delivered."""
    return Trace(scenario, tuple(map(_without_states, family.runs(lane, scenario))))


def with_twins(lane: Lane, family: Family[Any], trace: Trace) -> Trace:
    """The trace with the runs more that its family makes for a clause in doubt; they are made once."""
    if family.name in trace.doubted:
        return trace
    assert family.twins is not None, f"the family {family.name} makes no twins"
    return Trace(trace.scenario, (*trace.runs, *family.twins(lane, trace)), trace.doubted | {family.name})


def _without_states(run: Run) -> Run:
    """What was saved is for the runs that resume from it, and no part of a trace."""
    return replace(run, ranks=tuple(replace(rank, saved=None) for rank in run.ranks))
