"""What a campaign's result means for one clause: decides between HOLDS, VIOLATED, KNOWN and NOT EXERCISED."""

from dataclasses import replace

from conformance.trial.clause import Clause
from conformance.trial.outcome import Outcome
from conformance.trial.result import Result
from conformance.trial.tolerated import Tolerated
from conformance.trial.unjudged import UNSHRUNK, hidden_by, not_again, too_late, too_seldom, unwaited


def judged(clause: Clause, result: Result, blank: Outcome, tolerated: Tolerated, floor: int) -> Outcome:
    """The clause's outcome; `floor`: in how many cases it must have been able to fail before it is said to hold."""
    exercised = result.exercised[clause.id]
    known = tolerated.cases.get(clause.id, ())
    outcome = replace(blank, exercised=exercised, case=result.cases.get(clause.id), known=known)
    if outcome.case is not None:
        return replace(outcome, status="VIOLATED", note=UNSHRUNK if clause.id in result.unshrunk else "")
    unseen = _not_seen_again(clause, result)
    if unseen:
        return replace(outcome, status="NOT EXERCISED", note=unseen)
    if clause.id in tolerated.kinds:
        return replace(outcome, status="KNOWN", note=tolerated.reasons(clause.id))
    if exercised >= floor:
        return replace(outcome, status="HOLDS")
    # What a tolerated fault hides is tolerated with it; one that is violated fails the run by itself as well.
    hiding = [each for each in hidden_by(clause) if each in tolerated.kinds]
    if hiding and hiding[0] not in result.cases:
        note = f"can't be judged while {hiding[0]} is a known failure: {tolerated.reasons(hiding[0])}"
        return replace(outcome, status="KNOWN", note=note)
    note = too_seldom(clause, exercised, floor, result.cases, result.untried)
    return replace(outcome, status="NOT EXERCISED", note=note)


def _not_seen_again(clause: Clause, result: Result) -> str:
    """Why a violation that was seen once is none to report; "" if none was."""
    if clause.id in result.too_late:
        return too_late(clause, result.too_late[clause.id])
    if clause.id in result.unconfirmed:
        return not_again(clause, result.unconfirmed[clause.id])
    if clause.id in result.unwaited:
        return unwaited(clause, result.unwaited[clause.id])
    return ""
