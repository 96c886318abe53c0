"""How the cases of a family are read in a script: decides whom to ask, which is the family itself."""

from collections.abc import Mapping

from conformance.clauses import CLAUSES, FAMILIES
from conformance.trial.result import Case
from conformance.trial.scripting import Scripting

# The loops that stand at the beginning of a script: how its ranks read.
LOOPS = ("read_in_brief", "read_launched", "read_beside", "read_restarted", "read_stopped")
_VARIED = ("read_beside", "read_restarted")  # those that are told more of a run than its epochs


def scripting_of(case: Case) -> Scripting:
    """What the case's family tells of it."""
    return FAMILIES[CLAUSES[case.clause].family].scripting


def needs_of(case: Case) -> Mapping[str, bool]:
    """The lines that only scripts of its family need."""
    scripting = scripting_of(case)
    varied = scripting.reading(case.scenario) in _VARIED
    return {"epochs": not varied, "varied": varied, **scripting.needs(case.clause, case.scenario)}
