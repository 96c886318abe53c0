"""The known failures of one run: replayed once, before the clauses that they excuse are judged."""

from collections.abc import Callable, Mapping

from conformance.trace import Scenario
from conformance.trial.clause import CLAUSES, Clause
from conformance.trial.known import Known
from conformance.trial.outcome import KnownCase
from conformance.trial.result import Case

Again = Callable[[Clause, Scenario], tuple[Case | None, bool]]


class Tolerated:
    """What is tolerated: by the id of a clause, the `kinds` of finding, and the `cases` that showed them."""

    def __init__(self, known: Mapping[str, tuple[Known, ...]], again: Again) -> None:
        self._known = known
        self._again = again
        self.kinds: dict[str, frozenset[str]] = {}
        self.cases: dict[str, tuple[KnownCase, ...]] = {}

    def kinds_of(self, family: str) -> dict[str, frozenset[str]]:
        """The kinds of finding that are tolerated of each clause; known failures of a family are replayed once."""
        for clause in CLAUSES.values():
            if family in clause.families:
                self.replay(clause)
        return self.kinds

    def replay(self, clause: Clause) -> str:
        """Replay the clause's known failures, once. The sentence that says that one is stale, or nothing."""
        if clause.id not in self._known or clause.id in self.cases:
            return ""
        found, kinds = [], set()
        for known in self._known[clause.id]:
            if known.race:
                kinds.add(known.race)
                continue
            case, _ = self._again(clause, known.scenario)
            if case is None and known.perhaps:
                continue
            if case is None:
                stored = f"{clause.id}-{known.scenario.code}"
                return f"the known failure {stored} does not fail (any more); remove it, or store a case that does"
            found.append(KnownCase(case, known.reason, known.issue))
        self.cases[clause.id] = tuple(found)
        kinds.update(each.case.finding.kind for each in found)
        if kinds:
            self.kinds[clause.id] = frozenset(kinds)
        return ""

    def reasons(self, clause: str) -> str:
        """Why its failures are tolerated."""
        return "; ".join(dict.fromkeys(known.reason for known in self._known[clause]))
