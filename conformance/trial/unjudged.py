"""Why a clause could not be judged: decides which other fault is to blame for that, and the sentences that say so."""

from collections.abc import Collection

from conformance.clauses import Clause
from conformance.loader.scenario import Scenario
from conformance.trial.words import count

# Clauses that can't be judged of a loader that violates one of those on the right. Who swallows errors has none that
# comes in its place, and nothing after it; who ignores seed or epoch does not add them. Who goes on wrongly after one
# restart does after the second.
HIDDEN_BY = {
    "ERROR-2": ("ERROR-1",),
    "WORK-14": ("ERROR-1",),
    "ORDER-14": ("ORDER-6", "ORDER-7"),
    **{f"RESUME-{number}": ("RESUME-8", "RESUME-1") for number in (2, 3, 4, 5, 6, 7, 9, 11)},
    "RESUME-1": ("RESUME-8",),
}
# The clauses that alone are judged on a run that failed, by family (specs/README.md, "The scope rule").
_OF_FAILED_RUNS = {"map": ("COUNT-6", "COUNT-7"), "workers": ("WORK-1",), "iterable": ("WORK-3", "WORK-4")}


def too_seldom(clause: Clause, exercised: int, floor: int, violated: Collection[str]) -> str:
    """Why fewer cases than the floor could have shown a fault; `violated` are the clauses that were, in this family."""
    told = f"{count(exercised, 'case')} could have shown a fault, but {floor} {'is' if floor == 1 else 'are'} needed"
    blamed = (*HIDDEN_BY.get(clause.id, ()), *_OF_FAILED_RUNS.get(clause.family, ()))
    first = next((each for each in blamed if each in violated and each != clause.id), None)
    if first:
        return f"could not be judged because {first} is violated: {told}; mend {first} first"
    return f"{told}; a higher --tier or another --seed tries others"


def not_again(clause: Clause, scenario: Scenario) -> str:
    """What is known of a violation that did not come again in new processes: never more than that."""
    case = f"{clause.id}-{scenario.code}"
    return (
        f"violated once in {case}, and not when that was run again in new processes: what the loader does there "
        "depends on chance (a race, the clock) or on what its process had loaded before; "
        f"look further with --case={case}"
    )
