"""Why a clause could not be judged: decides which other fault is to blame for that, and the sentences that say so."""

from collections.abc import Collection

from conformance.trace import Scenario
from conformance.trial.clause import Clause
from conformance.trial.family import FAMILIES
from conformance.trial.words import count


def hidden_by(clause: Clause) -> tuple[str, ...]:
    """The clauses whose violation keeps this one from being judged."""
    return FAMILIES[clause.family].hides.get(clause.id, ())


def too_seldom(clause: Clause, exercised: int, floor: int, violated: Collection[str], untried: int = 0) -> str:
    """Why fewer cases than the floor could have shown a fault; `violated` are the clauses that were, in this family.

    `untried`: how many cases of the family were not tried, because others hung or the time was over.
    """
    told = f"{count(exercised, 'case')} could have shown a fault, but {floor} {'is' if floor == 1 else 'are'} needed"
    blamed = (*hidden_by(clause), *FAMILIES[clause.family].of_failed_runs)
    skipped = f"{count(untried, 'case')} of its family were not tried, after hangs or at the end of the time"
    first = next((each for each in blamed if each in violated and each != clause.id), None)
    if first:
        hint = f"{skipped}; fix" if untried else "fix"
        return f"could not be judged because {first} is violated: {told}; {hint} {first} first"
    if untried:
        return f"{told}; {skipped}"
    return f"{told}; a higher --tier or another --seed tries others"


def not_again(clause: Clause, scenario: Scenario) -> str:
    """What is known of a violation that did not come again in new processes: never more than that."""
    case = f"{clause.id}-{scenario.code}"
    return (
        f"violated once in {case}, but not when rerun in fresh processes: what the loader does there "
        "depends on chance (a race, the clock) or on what its process had loaded before; "
        f"look further with --case={case}"
    )


def unwaited(clause: Clause, scenario: Scenario) -> str:
    """What is known of a hang that was not waited for again."""
    case = f"{clause.id}-{scenario.code}"
    return (
        f"violated once, by a hang in {case}, which was not run again in fresh processes: hangs have taken as long as "
        f"this tier waits for them; look further with --case={case}"
    )


def too_late(clause: Clause, scenario: Scenario) -> str:
    """What is known of a violation that the time did not suffice to see again."""
    case = f"{clause.id}-{scenario.code}"
    return (
        f"violated once, in {case}, which was not run again in fresh processes before the time limit; "
        f"look further with --case={case}"
    )


UNSHRUNK = "the time limit was reached before all smaller cases were tried; without it the smallest case may be smaller"


def of_nobody(clause: Clause, scenario: Scenario, failure: str) -> str:
    """What is known of a run that failed without any clause being violated by that."""
    case = f"{clause.id}-{scenario.code}"
    return (
        "a run failed, and no clause of its family says why; if COUNT-7 is violated elsewhere, fix that first: in the "
        f"case {scenario.code} ({scenario.describe()}) {failure}; look at it with --case={case}"
    )
