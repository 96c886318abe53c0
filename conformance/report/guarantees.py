"""The line of plain guarantees: what the reader of a report may rely on.

Every guarantee follows from clauses that HOLD in this very report. A clause that was violated, not claimed or not
exercised supports nothing. Each chapter says what its clauses promise (`Family.promises`), weakest first: what is
lost or repeated stands before what is promised in full.
"""

from conformance.clauses import CLAUSES, FAMILIES
from conformance.trial.outcome import Report

# Clauses that compare draws: with the few of the quick tier they see a coarse bias, and a promise would say more.
_OF_MANY_DRAWS = {"ORDER-12", "ORDER-13"}


def guarantees(report: Report) -> tuple[str, ...]:
    """What holds, in plain words, weakest first; empty if nothing that was judged supports a promise."""
    # That a clause holds in the one case that was replayed says nothing of all others.
    if report.replayed:
        return ()
    held = frozenset(outcome.clause for outcome in report.outcomes if outcome.status == "HOLDS")
    if report.tier == "quick":
        held -= _OF_MANY_DRAWS
    return tuple(words for family in FAMILIES.values() for words in family.promises(report.claims, held))


def guarantee_line(report: Report) -> str:
    """The guarantees as one sentence without a full stop."""
    found = guarantees(report)
    if found:
        return "; ".join(found)
    judged = [outcome.clause for outcome in report.outcomes if outcome.status not in ("NOT CLAIMED", "INVALID")]
    if judged and report.replayed:
        return f"only one case of {judged[0]} was replayed: no guarantee is given"
    if judged and len(report.outcomes) < len(CLAUSES):
        return f"only {_named(judged)} judged: no guarantee is given"
    return "nothing is guaranteed: none of the judged clauses supports a guarantee"


def _named(clauses: list[str]) -> str:
    """The subject and verb of a sentence about some of the clauses."""
    if len(clauses) == 1:
        return f"{clauses[0]} was"
    return f"{' and '.join(clauses)} were" if len(clauses) == 2 else f"{len(clauses)} of {len(CLAUSES)} clauses were"
