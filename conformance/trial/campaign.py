"""One campaign: decides how a family of scenarios is tried, judged, counted, and how the smallest case is found.

First every scenario is run once and judged by every clause of the family; then, for each clause that was violated,
Hypothesis shrinks that clause's case by itself, over remembered verdicts; then the case is run once more in new
processes, and only what shows there as well is reported.
"""

from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from hypothesis.errors import NoSuchExample

from conformance.clauses import CLAUSES, Clause, Finding, Verdict
from conformance.contract import Claims
from conformance.loader.runs import observe, with_unshuffled
from conformance.loader.scenario import Scenario
from conformance.pipelines.judges import owner
from conformance.processes.fleet import Fleet, Lane
from conformance.trace import Trace
from conformance.trial.drawing import draw, find
from conformance.trial.smallest import has_options, simplified
from conformance.trial.tiers import Tier, always_tried, drawn, listed

# Scenarios that hang cost the whole patience each: so many are borne by a family, and again while looking for a smaller
# case of each clause. What was not tried then shows as NOT EXERCISED beside the hang. Of a family in which each failure
# is one clause's matter, so many are borne of each clause, so that none hides another.
_HANGS_BORNE = 6
_HANGS_BORNE_OF_EACH = 2
# Cases that are run again in new processes until one of them fails there too.
_CONFIRMATIONS = 4


@dataclass(frozen=True)
class Case:
    """A violated clause with its smallest case: the scenario, what was found, and all that was delivered."""

    clause: str
    scenario: Scenario
    finding: Finding
    trace: Trace

    @property
    def id(self) -> str:
        """What `--case` takes: the clause and the scenario's code."""
        return f"{self.clause}-{self.scenario.code}"


@dataclass
class Result:
    """What a campaign learned: per clause the exercises, and the smallest case where it was violated."""

    exercised: dict[str, int]
    cases: dict[str, Case] = field(default_factory=dict)
    # Violated once, and not again in new processes.
    unconfirmed: dict[str, Scenario] = field(default_factory=dict)


class Campaign:
    """The runs and verdicts of one family against one fleet."""

    def __init__(self, fleet: Fleet, claims: Claims, family: str, tier: Tier, seed: int = 0) -> None:
        self.fleet = fleet
        self.claims = claims
        self.family = family
        self.tier = tier
        self.seed = seed
        self.clauses = family_clauses(family, claims)
        self._verdicts: dict[Scenario, dict[str, Verdict]] = {}
        self._hangs: Counter[str] = Counter()

    @property
    def scenarios(self) -> frozenset[Scenario]:
        """Those that were judged so far."""
        return frozenset(self._verdicts)

    def run(self, known_kinds: Mapping[str, frozenset[str]] | None = None) -> Result:
        """Try the family's scenarios, and find the smallest case of each violated clause.

        `known_kinds` maps a clause to the kinds of finding that are known and tolerated there.
        """
        known_kinds = known_kinds or {}
        result = Result({clause.id: 0 for clause in self.clauses})
        if not self.clauses:
            return result
        violated: set[str] = set()
        tried = self._tried()
        ahead = self._run_ahead([scenario for scenario in tried if scenario.is_waited_for])
        for scenario in tried:
            if self._has_hung_enough(scenario) and scenario not in self._verdicts:
                continue
            for clause_id, verdict in self._judge(scenario, ahead.get(scenario)).items():
                result.exercised[clause_id] += verdict is not None
                if _news(verdict, known_kinds.get(clause_id, frozenset())):
                    violated.add(clause_id)
        for clause in self.clauses:
            if clause.id in violated:
                self._confirm(clause, known_kinds.get(clause.id, frozenset()), result)
        return result

    def _has_hung_enough(self, scenario: Scenario) -> bool:
        about = _about(scenario)
        return self._hangs[about] >= (_HANGS_BORNE_OF_EACH if about else _HANGS_BORNE)

    def _confirm(self, clause: Clause, known: frozenset[str], result: Result) -> None:
        """Run the smallest case again in new processes, or others if it does not fail there.

        What fails only in a used process may agree by chance in a small case, so larger ones are among the others.
        """
        smallest = self._smallest(clause, known)
        others = sorted(self._violating(clause, known), key=_size)
        spread = others[:: max(1, len(others) // _CONFIRMATIONS)]
        for scenario in dict.fromkeys([smallest, *others[: _CONFIRMATIONS - 1], *spread]):
            case, _ = replay(self.fleet, self.claims, clause, scenario)
            if case:
                result.cases[clause.id] = case
                return
        result.unconfirmed[clause.id] = smallest

    def _violating(self, clause: Clause, known: frozenset[str]) -> list[Scenario]:
        return [scenario for scenario, verdicts in self._verdicts.items() if _news(verdicts[clause.id], known)]

    def _tried(self) -> list[Scenario]:
        if self.family not in self.tier.examples:
            return listed(self.family, self.claims, self.tier)
        tried: dict[Scenario, None] = dict.fromkeys(always_tried(self.family, self.claims))
        draw(
            drawn(self.family, self.claims),
            self.tier.examples[self.family],
            self.seed,
            lambda scenario: tried.setdefault(scenario),
        )
        return list(tried)

    def _run_ahead(self, scenarios: list[Scenario]) -> dict[Scenario, Trace]:
        """Run scenarios that mostly wait (for a time-out, for a death to be noticed) side by side, one lane each.

        Which lane runs what, and in which order, is the same every time. A lane that met a hang stops.
        """

        def one_after_the_other(lane: Lane, mine: list[Scenario]) -> dict[Scenario, Trace]:
            traces: dict[Scenario, Trace] = {}
            for scenario in mine:
                traces[scenario] = observe(lane, scenario)
                if traces[scenario].hung:
                    break
            return traces

        lanes = self.fleet.lanes
        shares = [scenarios[lane.number :: len(lanes)] for lane in lanes]
        with ThreadPoolExecutor(len(lanes)) as threads:
            done = list(threads.map(one_after_the_other, lanes, shares))
        return {scenario: trace for traces in done for scenario, trace in traces.items()}

    def _judge(self, scenario: Scenario, trace: Trace | None = None) -> dict[str, Verdict]:
        if scenario not in self._verdicts:
            trace = trace or observe(self.fleet, scenario)
            self._hangs[_about(scenario)] += trace.hung
            self._verdicts[scenario] = {
                clause.id: verdict_of(self.fleet, self.claims, clause, trace)[0] for clause in self.clauses
            }
        return self._verdicts[scenario]

    def _smallest(self, clause: Clause, known: frozenset[str]) -> Scenario:
        violating = self._violating(clause, known)
        if self.family not in self.tier.examples:
            return violating[0]
        limit = self._hangs.total() + _HANGS_BORNE

        def violates(scenario: Scenario) -> bool:
            if self._hangs.total() >= limit and scenario not in self._verdicts:
                return False
            return _news(self._judge(scenario)[clause.id], known)

        try:
            found = find(drawn(self.family, self.claims), violates, self.tier.examples[self.family], self.seed)
        except NoSuchExample:
            found = min(violating, key=_size)
        simplest = simplified(found, violates)
        # A smaller step, or fewer ranks, may need fewer samples, which were tried with more.
        return simplified(simplest, violates) if has_options(simplest) else simplest


def _about(scenario: Scenario) -> str:
    """The clause whose matter a hang would be, or "" where that is not one clause's."""
    return owner(scenario) if scenario.subject == "pipeline" else ""


def verdict_of(fleet: Fleet, claims: Claims, clause: Clause, trace: Trace) -> tuple[Verdict, Trace]:
    """The clause's verdict on a trace, and the trace with whatever else had to be run for it."""
    verdict = clause.judge(trace.scenario, claims, trace)
    if verdict and clause.twin:
        trace = with_unshuffled(fleet, trace)
        verdict = clause.judge(trace.scenario, claims, trace)
    return verdict, trace


def replay(fleet: Fleet, claims: Claims, clause: Clause, scenario: Scenario) -> tuple[Case | None, bool]:
    """Run one scenario in new processes: the case if the clause is violated, and whether it could have been."""
    fleet.renew()
    verdict, trace = verdict_of(fleet, claims, clause, observe(fleet, scenario))
    return (Case(clause.id, scenario, verdict[0], trace) if verdict else None), verdict is not None


def _news(verdict: Verdict, known: frozenset[str]) -> bool:
    return any(finding.kind not in known for finding in verdict or [])


def family_clauses(family: str, claims: Claims) -> list[Clause]:
    """The clauses that a family judges for these claims, in order."""
    mine = [clause for clause in CLAUSES.values() if clause.family == family and clause.applies(claims)]
    return sorted(mine, key=lambda clause: clause.number)


def _size(scenario: Scenario) -> tuple[Any, ...]:
    return (scenario.samples, scenario.world_size, scenario.combined_batch, scenario.epochs, scenario.code)
