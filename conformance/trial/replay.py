"""One scenario again, in new processes: decides what a clause says of it, and which clauses are asked."""

from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.trace import Scenario, Trace
from conformance.trial.clause import CLAUSES, Clause, Verdict
from conformance.trial.family import FAMILIES, observe, with_twins
from conformance.trial.result import Case


def verdict_of(fleet: Fleet, claims: Claims, clause: Clause, trace: Trace) -> tuple[Verdict, Trace]:
    """The clause's verdict on a trace, and the trace with whatever else had to be run for it."""
    verdict = clause.judge(trace.scenario, claims, trace)
    if verdict and clause.twin:
        trace = with_twins(fleet.lanes[0], FAMILIES[clause.family], trace)
        verdict = clause.judge(trace.scenario, claims, trace)
    return verdict, trace


def replay(fleet: Fleet, claims: Claims, clause: Clause, scenario: Scenario) -> tuple[Case | None, bool]:
    """Run one scenario in new processes: the case if the clause is violated, and whether it could have been."""
    fleet.renew()
    with fleet.whole_patience():
        verdict, trace = verdict_of(fleet, claims, clause, observe(fleet.lanes[0], FAMILIES[clause.family], scenario))
    return (Case(clause.id, scenario, verdict[0], trace) if verdict else None), verdict is not None


def family_clauses(family: str, claims: Claims) -> list[Clause]:
    """The clauses that a family judges for these claims, in order."""
    mine = [each for each in CLAUSES.values() if family in each.families and each.applies(claims)]
    # Those of another family alone are no reason to try one that has its own: nobody claims what it is about.
    has_its_own = any(each.family == family for each in CLAUSES.values())
    if has_its_own and all(each.family != family for each in mine):
        return []
    return sorted(mine, key=lambda clause: clause.number)
