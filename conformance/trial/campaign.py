"""One campaign: decides how a family of scenarios is tried, judged, counted, and how the smallest case is found.

First every scenario is run once and judged by every clause of the family; then, for each clause that was violated,
Hypothesis shrinks that clause's case by itself, over remembered verdicts; then the case is run once more in new
processes, and only what shows there as well is reported.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import cached_property
from math import inf
from typing import Any

from hypothesis.errors import NoSuchExample

from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.processes.hangs import TimeIsOver
from conformance.processes.lane import Lane
from conformance.trace import Scenario, Trace
from conformance.trial.clause import Clause, Verdict
from conformance.trial.drawing import draw, find
from conformance.trial.family import FAMILIES, Family, observe, with_twins
from conformance.trial.progress import Progress, Shows, nothing
from conformance.trial.replay import family_clauses, replay, verdict_of
from conformance.trial.result import Case, Result
from conformance.trial.side_by_side import SideBySide
from conformance.trial.tiers import Tier
from conformance.trial.unowned import unowned_failure

# Scenarios that hang cost the whole patience each: a family tolerates this many, and again while looking for a smaller
# case of each clause. What was not tried then shows as NOT EXERCISED beside the hang. Where a family tells what a hang
# is about, the second number is tolerated of each, so that none masks another.
_TOLERATED_HANGS = 6
_TOLERATED_HANGS_OF_EACH = 2
# Cases that are run again in new processes until one of them fails there too.
_CONFIRMATIONS = 4


class Campaign:
    """The runs and verdicts of one family, by its name, against one fleet.

    `examples`: how many scenarios are drawn, if not as many as the family says for the tier. `left` says how many
    seconds there still are for trying; after that what was found is confirmed. `shows` is told how far it is.
    """

    def __init__(
        self,
        fleet: Fleet,
        claims: Claims,
        family: str,
        tier: Tier,
        seed: int = 0,
        examples: int | None = None,
        left: Callable[[], float] = lambda: inf,
        shows: Shows = nothing,
    ) -> None:
        self.fleet = fleet
        self.claims = claims
        self.family: Family[Any] = FAMILIES[family]
        self.tier = tier
        self.seed = seed
        self.left = left
        self.shows = shows
        self.clauses = [clause for clause in family_clauses(family, claims) if clause.id not in fleet.beyond]
        self._examples = self.family.examples.get(tier.name, 0) if examples is None else examples
        self._verdicts: dict[Scenario, dict[str, Verdict]] = {}
        self._hangs: Counter[str] = Counter()
        self._hung: set[Scenario] = set()
        self._again: dict[Scenario, Trace] = {}
        self._unowned: dict[Scenario, str] = {}
        self.aside = SideBySide(fleet, self._observed_aside, self._is_over)

    @property
    def scenarios(self) -> frozenset[Scenario]:
        """Those that were judged so far."""
        return frozenset(self._verdicts)

    def run(self, known_kinds: Mapping[str, frozenset[str]] | None = None) -> Result:
        """Try the family's scenarios, and find the smallest case of each violated clause.

        `known_kinds` maps a clause to the kinds of finding that are known and tolerated there.
        """
        known_kinds = known_kinds or {}
        result, violated = self.look(known_kinds)
        for clause in self.clauses:
            if clause.id in violated:
                self.confirm(clause, known_kinds.get(clause.id, frozenset()), result)
        result.unowned = self._failure_of_nobody()
        return result

    def look(self, known_kinds: Mapping[str, frozenset[str]]) -> tuple[Result, set[str]]:
        """Try the family's scenarios: how often each clause was exercised, and those that were violated."""
        result = Result({clause.id: 0 for clause in self.clauses})
        violated: set[str] = set()
        if not self.clauses:
            return result, violated
        tried = self._chosen
        result.is_short = self._is_short
        self.begin()
        with closing(self.aside.each(tried, self._is_short)) as each_of_them:
            for at, (scenario, trace) in enumerate(each_of_them):
                self.shows(Progress(self.family.name, at, len(tried), len(self._hung), frozenset(violated)))
                verdicts = self._verdicts_if_tried(scenario, trace)
                result.untried += not verdicts
                for clause_id, verdict in verdicts.items():
                    result.exercised[clause_id] += verdict is not None
                    if _news(verdict, known_kinds.get(clause_id, frozenset())):
                        violated.add(clause_id)
        self.shows(Progress(self.family.name, len(tried), len(tried), len(self._hung), frozenset(violated)))
        # What comes first is told first, whichever of them had to wait.
        self._verdicts = {each: self._verdicts[each] for each in tried if each in self._verdicts}
        return result, violated

    def _verdicts_if_tried(self, scenario: Scenario, trace: Trace | None) -> dict[str, Verdict]:
        """What the clauses say of it; nothing if the time is over, or so much has hung that it is not tried."""
        is_new = scenario not in self._verdicts
        if not is_new or not (self._has_hung_enough(scenario) or self._is_over()):
            with suppress(TimeIsOver):
                return self._judge(scenario, trace)
        return {}

    def _is_over(self) -> bool:
        """Whether nothing more may be tried. What has hung is waited for once more, and needs its time."""
        return self.left() <= (self.fleet.patience if self._hung and not self._again else 0)

    def begin(self) -> None:
        """Begin those that wait long, so that they wait beside what comes before this family. Once is enough."""
        if self.clauses:
            self.aside.begin(self._chosen, self._is_short)

    def trace_of_long(self, scenario: Scenario) -> Trace | None:
        """What came of a scenario that waits long, once it is known; None where it was not begun."""
        return self.aside.trace_of_long(scenario)

    @cached_property
    def _found(self) -> list[Scenario]:
        return self.tried()

    @property
    def _is_short(self) -> bool:
        return len(self._chosen) < len(self._found)

    @cached_property
    def _chosen(self) -> Sequence[Scenario]:
        if self._is_over():
            return self._found
        try:
            return self.family.few(self.fleet.lanes[0], self.tier, self._found)
        except TimeIsOver:
            return self._found

    def _failure_of_nobody(self) -> tuple[Scenario, str] | None:
        """The smallest scenario of which a run failed that no clause accuses, if it fails in new processes too."""
        for scenario in sorted(self._unowned, key=_size)[:_CONFIRMATIONS]:
            if scenario in self._hung and self._may_not_confirm():
                return scenario, self._unowned[scenario]
            self.fleet.renew()
            try:
                with self.fleet.whole_patience():
                    trace = observe(self.fleet.lanes[0], self.family, scenario)
            except TimeIsOver:
                return scenario, self._unowned[scenario]
            failure = unowned_failure(self.family, self.claims, trace, self._verdicts_on(trace))
            if failure:
                return scenario, failure
        return None

    def _may_not_wait(self, more: float = 0.0) -> bool:
        """Whether the run has waited for hangs as long as it may."""
        return self.fleet.hangs.seconds > (self.tier.hangs + more) * self.fleet.patience

    def _may_not_confirm(self) -> bool:
        return self.fleet.hangs.confirmed > 0 and self._may_not_wait(self.tier.again)

    def _has_hung_enough(self, scenario: Scenario) -> bool:
        if self._may_not_wait() and self._hung:
            return True
        about = self.family.blamed(scenario)
        return self._hangs[about] >= (_TOLERATED_HANGS_OF_EACH if about else _TOLERATED_HANGS)

    def confirm(self, clause: Clause, known: frozenset[str], result: Result) -> None:
        """Run the smallest case again in new processes, or others if it does not fail there.

        What fails only in a used process may agree by chance in a small case, so larger ones are among the others.
        """
        smallest = self._smallest(clause, known, result)
        others = sorted(self._violating(clause, known), key=_size)
        spread = others[:: max(1, len(others) // _CONFIRMATIONS)]
        was_known = has_waited = False
        for scenario in dict.fromkeys([smallest, *others[: _CONFIRMATIONS - 1], *spread]):
            if scenario in self._hung and scenario not in self._again:
                if self._may_not_confirm() and (has_waited or not self.tier.waits_for_each):
                    result.unwaited[clause.id] = scenario
                    return
                has_waited = True
            try:
                case = self._replayed(clause, scenario)
            except TimeIsOver:
                result.too_late[clause.id] = scenario
                return
            if case and case.finding.kind in known:
                # A known failure that is a race shows as one thing, and then as another.
                was_known = True
            elif case:
                result.cases[clause.id] = case
                return
        if not was_known:
            result.unconfirmed[clause.id] = smallest

    def _replayed(self, clause: Clause, scenario: Scenario) -> Case | None:
        """The case as new processes show it. A hang is waited for once, for all the clauses that it violates."""
        if scenario not in self._hung:
            return replay(self.fleet, self.claims, clause, scenario)[0]
        if scenario not in self._again:
            self.fleet.hangs.confirmed += 1
            self.fleet.renew()
            with self.fleet.whole_patience():
                self._again[scenario] = observe(self.fleet.lanes[0], self.family, scenario)
        with self.fleet.whole_patience():
            verdict, self._again[scenario] = verdict_of(self.fleet, self.claims, clause, self._again[scenario])
        return Case(clause.id, scenario, verdict[0], self._again[scenario]) if verdict else None

    def _violating(self, clause: Clause, known: frozenset[str]) -> list[Scenario]:
        return [scenario for scenario, verdicts in self._verdicts.items() if _news(verdicts[clause.id], known)]

    def tried(self) -> list[Scenario]:
        """What is listed, and then what is drawn."""
        within = map(self._within, self.family.listed(self.claims, self.tier))
        listed = list(dict.fromkeys(each for each in within if each is not None))
        if self.family.drawn is None:
            return listed
        tried: dict[Scenario, None] = dict.fromkeys(listed)
        draw(self._drawn(), self._examples, self.seed, lambda scenario: tried.setdefault(scenario))
        return list(tried)

    def _within(self, scenario: Scenario) -> Scenario | None:
        """The scenario as far as the loader can be asked for it."""
        nearest: Scenario | None = self.family.within(scenario, self.claims)
        return nearest

    def _drawn(self) -> Any:
        """The strategy of what is drawn."""
        assert self.family.drawn is not None
        drawn = self.family.drawn(self.claims)
        return drawn.map(self._within) if self.claims.without else drawn

    def _judge(self, scenario: Scenario, trace: Trace | None = None) -> dict[str, Verdict]:
        if scenario not in self._verdicts:
            trace = trace or self.observed(self.fleet.lanes[0], scenario)
            self._hangs[self.family.blamed(scenario)] += trace.hung
            if trace.hung:
                self._hung.add(scenario)
            self._verdicts[scenario] = self._verdicts_on(trace)
            failure = unowned_failure(self.family, self.claims, trace, self._verdicts[scenario])
            if failure:
                self._unowned[scenario] = failure
        return self._verdicts[scenario]

    def _verdicts_on(self, trace: Trace) -> dict[str, Verdict]:
        verdicts: dict[str, Verdict] = {}
        for clause in self.clauses:
            # What one clause in doubt has asked for serves the others.
            verdicts[clause.id], trace = self.verdict(clause, trace)
        return verdicts

    def observed(self, lane: Lane, scenario: Scenario) -> Trace:
        """What the implementation delivers in a scenario."""
        return observe(lane, self.family, scenario)

    def _observed_aside(self, lane: Lane, scenario: Scenario) -> Trace:
        """The same, with what a clause in doubt will ask for: of what hangs, that takes long as well."""
        trace = self.observed(lane, scenario)
        return with_twins(lane, self.family, trace) if trace.hung and self.family.twins else trace

    def verdict(self, clause: Clause, trace: Trace) -> tuple[Verdict, Trace]:
        """The clause's verdict on a trace, and the trace with whatever else had to be run for it."""
        return verdict_of(self.fleet, self.claims, clause, trace)

    def _smallest(self, clause: Clause, known: frozenset[str], result: Result) -> Scenario:
        violating = self._violating(clause, known)
        if self.family.drawn is None:
            return violating[0]
        limit = self._hangs.total() + _TOLERATED_HANGS
        is_about_hangs = self._hung.issuperset(violating)
        # The first such case of a run is always made smaller, and confirmed.
        must_not_wait = is_about_hangs and self.fleet.hangs.searches > 0 and self._may_not_wait()
        self.fleet.hangs.searches += is_about_hangs

        def violates(scenario: Scenario) -> bool:
            has_hung_enough = self._hangs.total() >= limit or must_not_wait
            if self._within(scenario) != scenario:
                return False
            if scenario not in self._verdicts and has_hung_enough:
                return False
            if scenario not in self._verdicts and self._is_over():
                result.unshrunk.add(clause.id)
                return False
            try:
                return _news(self._judge(scenario)[clause.id], known)
            except TimeIsOver:
                result.unshrunk.add(clause.id)
                return False

        if self._is_over():
            # Hypothesis would draw them all again, to be told of each that there is no time.
            result.unshrunk.add(clause.id)
            return min(violating, key=_size)
        if is_about_hangs and any(map(self._has_hung_enough, violating)):
            # Nearly everything hangs: none of the few hangs that are left is to be spent on what is larger.
            shorter: Scenario = self.family.smaller(min(violating, key=_size), violates)
            return shorter
        try:
            found = find(self._drawn(), violates, self._examples, self.seed)
        except NoSuchExample:
            found = min(self._violating(clause, known), key=_size)
        smallest: Scenario = self.family.smaller(found, violates)
        return smallest


def _news(verdict: Verdict, known: frozenset[str]) -> bool:
    return any(finding.kind not in known for finding in verdict or [])


def _size(scenario: Scenario) -> tuple[Any, ...]:
    return scenario.size
