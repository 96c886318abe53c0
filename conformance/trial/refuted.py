"""Claims that are seen not to be kept before anything is judged: decides by which claims each clause judges.

A claim that is broken by chance, now here and now there, would make chance of every clause that relies on it. Where a
family has a case in which it is always broken (`Family.refutes`), one clause accuses in that case, and the others judge
as if the claim were not made: the same loader gives the same report.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from conformance.contract import Claims
from conformance.processes.fleet import Fleet
from conformance.trial.clause import Clause
from conformance.trial.family import FAMILIES
from conformance.trial.replay import replay
from conformance.trial.result import Case


@dataclass(frozen=True)
class Refuted:
    """What is `promised`, by what is `judged`, the cases in which a promise was refuted, and why that is so."""

    promised: Claims
    judged: Claims
    cases: tuple[Case, ...] = ()
    why: str = ""

    def claims_for(self, clause: str) -> Claims:
        """The claims that a clause judges by."""
        return self.promised if self.case_of(clause, frozenset()) else self.judged

    def case_of(self, clause: str, known: frozenset[str]) -> Case | None:
        """The case of a clause, unless its finding is of a kind that is known."""
        return next((each for each in self.cases if each.clause == clause and each.finding.kind not in known), None)


def look(fleet: Fleet, claims: Claims, clauses: Iterable[Clause]) -> Refuted:
    """Look at what these clauses would say of claims that others rely on."""
    found = Refuted(claims, claims)
    for clause in clauses:
        refutes = FAMILIES[clause.family].refutes.get(clause.id)
        refuted = refutes(fleet.lanes[0], claims) if refutes and clause.applies(claims) else None
        case = replay(fleet, claims, clause, refuted.scenario)[0] if refuted else None
        if refuted and case:
            found = Refuted(
                claims,
                replace(found.judged, **refuted.instead),
                (*found.cases, case),
                "; ".join(filter(None, (found.why, refuted.why))),
            )
    return found
