"""One run against one implementation: decides the order of things (smoke, known failures, campaigns) and each outcome.

Families run when the first of their clauses is asked for, so that a run of one clause costs one family.
"""

import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from math import inf
from typing import Any

from conformance.contract import AdapterError, Claims
from conformance.processes.fleet import Fleet
from conformance.processes.hangs import TimeIsOver
from conformance.processes.origin import Origin
from conformance.processes.own_errors import SuiteError
from conformance.processes.sources import Source
from conformance.shapes.source import told_of
from conformance.trace import Scenario
from conformance.trial.campaign import Campaign
from conformance.trial.clause import CLAUSES, Clause
from conformance.trial.family import FAMILIES
from conformance.trial.floors import floor_of
from conformance.trial.judged import judged
from conformance.trial.known import parse_known
from conformance.trial.outcome import Outcome, Report
from conformance.trial.progress import Shows, nothing
from conformance.trial.refuted import Refuted, look
from conformance.trial.replay import family_clauses, replay, verdict_of
from conformance.trial.result import Case, Result, joined
from conformance.trial.tiers import TIERS, Tier
from conformance.trial.tolerated import Tolerated
from conformance.trial.unjudged import of_nobody

_LONGEST_PATIENCE = 86_400.0
# After the time limit what was begun may go on for these seconds, and what was found be seen again.
_AFTER_THE_LIMIT = 3.0
# Of a run in which the suite itself failed, and of one whose adapter can't be used.
EXIT_BROKEN, EXIT_INVALID = 3, 4


@dataclass(frozen=True)
class Options:
    """What a person may choose of a run. `case` replays one case instead of trying anything.

    After `time_limit` seconds nothing more is tried: the run ends a few seconds later with the verdicts so far.
    """

    tier: str = "gate"
    seed: int = 0
    patience: float = 10.0
    strict: bool = False
    known: Mapping[str, Any] = field(default_factory=dict)
    case: tuple[str, Scenario] | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.tier not in TIERS:
            raise AdapterError(f"the tier {self.tier!r} is not one of {', '.join(TIERS)}; choose one of them")
        if not 0 < self.patience <= _LONGEST_PATIENCE:
            what = "never ends" if self.patience > 0 else "lets no loader answer"
            raise AdapterError(
                f"a patience of {self.patience:g} s {what}; give seconds above 0 and at most {_LONGEST_PATIENCE:g}"
            )
        if self.time_limit is not None and not self.time_limit > 0:
            raise AdapterError(f"a time limit of {self.time_limit:g} s leaves no time; give seconds above 0")


class Session:
    """A fleet with its outcomes so far. Use it as a context manager. AdapterError if the adapter can't be used."""

    def __init__(self, source: Source, name: str, options: Options, shows: Shows = nothing) -> None:
        self.shows = shows
        self._began = time.monotonic()
        self.name = name
        self.options = options
        self.tier: Tier = TIERS[options.tier]
        self.fleet = Fleet(source, options.patience)
        try:
            self.claims: Claims = self.fleet.claims
            self.origin: Origin = self.fleet.origin
            known = parse_known({**self.fleet.known_failures, **options.known})
            self.invalid = self._open() or self._smoke()
            if self.origin.shape is not None and not self.invalid:
                self.claims = self._assumed()
            self.refuted = Refuted(self.claims, self.claims)
            self.tolerated = Tolerated(known, self._known_again)
            self.exit_code = EXIT_INVALID
            # The clause in whose judging the run came to its end before its time, if it did.
            self.ended_by = ""
        except BaseException:
            self.fleet.close()
            raise
        # An adapter is looked at in any case.
        self.fleet.hangs.end = self._began + (options.time_limit or inf) + _AFTER_THE_LIMIT
        self._campaigns: dict[str, Campaign] = {}
        self._results: dict[str, Result] = {}
        # The families whose failure that no clause owns was told.
        self._told: set[str] = set()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the run."""
        self.fleet.close()

    def _smoke(self) -> str:
        """Why the adapter can't be used, before anything is judged; "" if it can."""
        lane = self.fleet.lanes[0]
        faults = (family.smoke(lane, self.claims) for family in FAMILIES.values())
        return next((fault for fault in faults if fault), "")

    def _open(self) -> str:
        """What an implementation without an adapter must be given, and nothing gives; or ""."""
        shape = self.origin.shape
        if shape is None or not shape.open:
            return ""
        one = shape.open[0]
        return (
            f"{shape.name} must be given {', '.join(shape.open)}, which is no usual name of anything that a loader is "
            f"asked for; write an adapter that gives {one}: loaderspec init {self.name} begins one"
        )

    def _assumed(self) -> Claims:
        """The claims of an implementation whose author has written none."""
        lane = self.fleet.lanes[0]
        for family in FAMILIES.values():
            self.claims = replace(self.claims, **family.assumed(lane, self.claims))
        return self.claims

    def look(self, clauses: Iterable[Clause]) -> None:
        """Look at the claims that others of these clauses rely on. Before any is judged, and not for a single case."""
        # What ends the run ends it at a clause, which asks again.
        with suppress(TimeIsOver, AdapterError, SuiteError):
            if not self.invalid and not self.options.case:
                self.refuted = look(self.fleet, self.claims, filter(self._owes, clauses))

    def begin(self, clauses: Iterable[Clause]) -> None:
        """Begin what waits long, of all that these clauses need: it waits while the rest is judged."""
        if self.invalid or self.options.case:
            return
        owed = filter(self._owes, clauses)
        for family in dict.fromkeys(family for clause in owed for family in clause.families):
            with suppress(TimeIsOver, AdapterError, SuiteError):
                self._campaign(family).begin()

    def _owes(self, clause: Clause) -> bool:
        return clause.id not in self.fleet.beyond and clause.applies(self.refuted.claims_for(clause.id))

    def outcome(self, clause: Clause) -> Outcome:
        """The outcome of one clause; the first of a family runs that family's campaign."""
        blank = Outcome(clause.id, clause.level, "NOT CLAIMED", 0)
        if self.invalid:
            note = f"not judged, because the run ended with {self.ended_by}" if self.ended_by else self.invalid
            return replace(blank, status="INVALID", note=note, exit_code=self.exit_code)
        if clause.id in self.fleet.beyond:
            return replace(blank, note=self.fleet.beyond[clause.id])
        if not clause.applies(self.claims):
            return blank
        if not clause.applies(self.refuted.claims_for(clause.id)):
            return replace(blank, note=self.refuted.why)
        try:
            return self._outcome(clause, blank)
        except TimeIsOver:
            return self._untried(blank)
        except AdapterError as error:
            # Its process is gone, so nothing more can be run.
            self.invalid, self.ended_by = str(error), clause.id
        except SuiteError as error:
            self.invalid, self.ended_by, self.exit_code = str(error), clause.id, EXIT_BROKEN
        return replace(blank, status="INVALID", note=self.invalid, exit_code=self.exit_code)

    def _outcome(self, clause: Clause, blank: Outcome) -> Outcome:
        if self.options.case:
            return self._replayed(clause, blank)
        if self._left() <= 0 and clause.family not in self._results:
            return self._untried(blank)
        stale = self.tolerated.replay(clause)
        if stale:
            return replace(blank, status="INVALID", note=stale)
        result = self._result(clause.family)
        for family in clause.also:
            if family_clauses(family, self.refuted.judged):
                result = joined(result, self._result(family))
        return self._judged(clause, result, blank)

    def _untried(self, blank: Outcome) -> Outcome:
        note = f"not tried: the time limit of {self.options.time_limit:g} s was reached"
        return replace(blank, status="NOT EXERCISED", note=note)

    def report(self, clauses: list[Clause] | None = None) -> Report:
        """The report over these clauses, or over all."""
        chosen = sorted(clauses or CLAUSES.values(), key=lambda clause: clause.number)
        if self.options.case:
            chosen = [CLAUSES[self.options.case[0]]]
        self.look(chosen)
        self.begin(chosen)
        return self.report_of([self.outcome(clause) for clause in chosen])

    def report_of(self, outcomes: list[Outcome]) -> Report:
        """The report that these outcomes make."""
        options = self.options
        return Report(
            self.name,
            self.claims,
            options.tier,
            options.seed,
            tuple(outcomes),
            options.strict,
            self.notes(),
            f"{options.case[0]}-{options.case[1].code}" if options.case else "",
            options.patience,
            self.origin,
        )

    def notes(self) -> tuple[str, ...]:
        """What a reader must know beside the outcomes."""
        notes = tuple(note for family in FAMILIES.values() for note in family.notes(self.claims))
        return (*told_of(self.origin.shape, self.claims), *notes) if self.origin.shape else notes

    def _result(self, family: str) -> Result:
        if family not in self._results:
            self._results[family] = self._campaign(family).run(self.tolerated.kinds_of(family))
        return self._results[family]

    def _campaign(self, family: str) -> Campaign:
        if family not in self._campaigns:
            self._campaigns[family] = Campaign(
                self.fleet, self.refuted.judged, family, self.tier, self.options.seed, left=self._left, shows=self.shows
            )
        return self._campaigns[family]

    def _left(self) -> float:
        """The seconds that are left of the time that the run may take."""
        return self._began + (self.options.time_limit or inf) - time.monotonic()

    def _again(self, clause: Clause, scenario: Scenario) -> tuple[Case | None, bool]:
        return replay(self.fleet, self.refuted.claims_for(clause.id), clause, scenario)

    def _known_again(self, clause: Clause, scenario: Scenario) -> tuple[Case | None, bool]:
        """A known failure: as it was seen, where it waits long and was begun with the run; else in new processes."""
        trace = self._campaign(clause.family).trace_of_long(scenario)
        if trace is not None and not trace.hung:
            verdict, trace = verdict_of(self.fleet, self.refuted.claims_for(clause.id), clause, trace)
            if verdict:
                return Case(clause.id, scenario, verdict[0], trace), True
        return self._again(clause, scenario)

    def _replayed(self, clause: Clause, blank: Outcome) -> Outcome:
        assert self.options.case is not None
        clause_id, scenario = self.options.case
        if clause.id != clause_id:
            return replace(blank, note="not asked for")
        case, exercised = self._again(clause, scenario)
        if case is not None:
            return replace(blank, status="VIOLATED", exercised=1, case=case)
        if not exercised:
            return replace(blank, status="NOT EXERCISED", note="this case can't exercise the clause; choose another")
        return replace(blank, status="HOLDS", exercised=1)

    def _judged(self, clause: Clause, result: Result, blank: Outcome) -> Outcome:
        outcome = self._judged_alone(clause, result, blank)
        # One clause tells what a family has: the first that was asked for and has nothing else to tell.
        for family in clause.families:
            unowned = self._results[family].unowned if family in self._results else None
            if unowned and family not in self._told and outcome.status == "HOLDS":
                self._told.add(family)
                return replace(outcome, status="NOT EXERCISED", note=of_nobody(clause, *unowned))
        return outcome

    def _judged_alone(self, clause: Clause, result: Result, blank: Outcome) -> Outcome:
        refuted = self.refuted.case_of(clause.id, self.tolerated.kinds.get(clause.id, frozenset()))
        if refuted:
            exercised, why = result.exercised[clause.id], self.refuted.why
            return replace(blank, status="VIOLATED", exercised=exercised, case=refuted, note=why)
        return judged(clause, result, blank, self.tolerated, floor_of(clause, self.tier, self.claims, result.is_short))
