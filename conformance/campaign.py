"""One campaign: decides how a family of scenarios is tried, judged, counted, and how the smallest case is found.

First every scenario is run once and judged by every clause of the family; then, for each clause that was violated,
Hypothesis shrinks that clause's case by itself, over remembered verdicts; then the case is run once more in new
processes, and only what shows there as well is reported.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any

from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import seed as hypothesis_seed
from hypothesis.errors import NoSuchExample
from hypothesis.internal.conjecture import providers

from conformance.clauses import CLAUSES, Clause, Finding, Verdict
from conformance.contract import Claims
from conformance.fleet import Fleet
from conformance.observe import observe, with_unshuffled
from conformance.scenario import Scenario
from conformance.scenarios import Tier, drawn, listed
from conformance.trace import Trace

# Scenarios that hang cost the whole patience each: so many are spent on looking for a smaller one.
_HANGS_WHILE_SHRINKING = 6
_SHORT_PATIENCE = 0.3  # of the patience, for a scenario that is only tried to make a hang smaller


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
    kinds: dict[str, set[str]] = field(default_factory=dict)


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

    def run(self) -> Result:
        """Try the family's scenarios, and find the smallest case of each violated clause."""
        result = Result({clause.id: 0 for clause in self.clauses})
        if not self.clauses:
            return result
        for scenario in self._tried():
            for clause_id, verdict in self._judge(scenario).items():
                result.exercised[clause_id] += verdict is not None
                result.kinds.setdefault(clause_id, set()).update(finding.kind for finding in verdict or [])
        for clause in self.clauses:
            if result.kinds.get(clause.id):
                case = self._confirmed(clause, self._smallest(clause))
                if case:
                    result.cases[clause.id] = case
        return result

    def _tried(self) -> list[Scenario]:
        if self.family not in self.tier.examples:
            return listed(self.family, self.claims, self.tier)
        tried: dict[Scenario, None] = {}
        _draw(drawn(self.family, self.claims), self.tier.examples[self.family], self.seed, lambda scenario: tried.setdefault(scenario))
        return list(tried)

    def _judge(self, scenario: Scenario) -> dict[str, Verdict]:
        if scenario not in self._verdicts:
            trace = observe(self.fleet, scenario)
            self._verdicts[scenario] = {clause.id: self._verdict(clause, trace)[0] for clause in self.clauses}
        return self._verdicts[scenario]

    def _verdict(self, clause: Clause, trace: Trace) -> tuple[Verdict, Trace]:
        verdict = clause.judge(trace.scenario, self.claims, trace)
        if verdict and clause.twin:
            trace = with_unshuffled(self.fleet, trace)
            verdict = clause.judge(trace.scenario, self.claims, trace)
        return verdict, trace

    def _violates(self, scenario: Scenario, clause: Clause) -> bool:
        return bool(self._judge(scenario).get(clause.id))

    def _smallest(self, clause: Clause) -> Scenario:
        known = [scenario for scenario in self._verdicts if self._violates(scenario, clause)]
        if self.family not in self.tier.examples:
            return known[0]
        budget = _Budget(self, clause)
        try:
            return _find(drawn(self.family, self.claims), budget.violates, self.tier.examples[self.family], self.seed)
        except NoSuchExample:
            return min(known, key=_size)

    def _confirmed(self, clause: Clause, scenario: Scenario) -> Case | None:
        self.fleet.renew()
        verdict, trace = self._verdict(clause, observe(self.fleet, scenario))
        return Case(clause.id, scenario, verdict[0], trace) if verdict else None


class _Budget:
    """Says whether a scenario violates a clause, and stops trying new ones when too many of them hung."""

    def __init__(self, campaign: Campaign, clause: Clause) -> None:
        self.campaign = campaign
        self.clause = clause
        self.hangs = 0

    def violates(self, scenario: Scenario) -> bool:
        known = scenario in self.campaign._verdicts
        if not known and self.hangs >= _HANGS_WHILE_SHRINKING:
            return False
        violated = self.campaign._violates(scenario, self.clause)
        if not known and violated and any(finding.kind.startswith("hung") for finding in self.campaign._judge(scenario)[self.clause.id] or []):
            self.hangs += 1
        return violated


def family_clauses(family: str, claims: Claims) -> list[Clause]:
    """The clauses that a family judges for these claims, in order."""
    mine = [clause for clause in CLAUSES.values() if clause.family == family and clause.applies(claims)]
    return sorted(mine, key=lambda clause: clause.number)


def _size(scenario: Scenario) -> tuple[Any, ...]:
    return (scenario.samples, scenario.world_size, scenario.combined_batch, scenario.epochs, scenario.code)


def _draw(strategy: Any, examples: int, seed: int, take: Callable[[Scenario], Any]) -> None:
    @hypothesis_seed(seed)
    @_settings(examples, (Phase.generate,))
    @given(strategy)
    def each(scenario: Scenario) -> None:
        take(scenario)

    with _nothing_local():
        each()


def _find(strategy: Any, violates: Callable[[Scenario], bool], examples: int, seed: int) -> Scenario:
    with _nothing_local():
        found: Scenario = find(
            strategy, violates, settings=_settings(examples, (Phase.generate, Phase.shrink)), random=Random(seed)
        )
    return found


def _settings(examples: int, phases: tuple[Phase, ...]) -> Any:
    return settings(
        max_examples=examples, phases=phases, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )


@contextmanager
def _nothing_local() -> Iterator[None]:
    """Keep Hypothesis from drawing constants out of whatever source files lie in the person's folder.

    It would make the examples depend on where the suite is run from and on which modules happen to be loaded.
    """
    name = "_get_local_constants"
    before = getattr(providers, name, None)
    if before is None:  # an older or newer Hypothesis that does not do this
        yield
        return
    empty = providers.Constants()
    setattr(providers, name, lambda: empty)
    try:
        yield
    finally:
        setattr(providers, name, before)


def digest(text: str) -> str:
    """Twelve hex digits that stand for a text, in reports."""
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
