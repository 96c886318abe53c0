"""The table of the clauses: the chapters, each with its families of scenarios and its judges.

What judges imports this first: it imports the wings, whose judges register themselves. To add a chapter: a folder like
the others (`family.py` says what it has, and imports its judges), its import and its name in the loop below, a new
claim in `contract/`, its walls in `tests/harness/test_walls.py`, the text in `specs/`, and a known-bad loader for each
clause. `tests/museum/test_traceability.py` names what is missing.
"""

from conformance.ahead import family as ahead
from conformance.chosen import family as chosen
from conformance.device import family as device
from conformance.epochs import family as epochs
from conformance.faults import family as faults
from conformance.launch import family as launch
from conformance.lives import family as lives
from conformance.loops import family as loops
from conformance.pipelines import family as pipelines
from conformance.reach import family as reach
from conformance.restarts import family as restarts
from conformance.trial.clause import CHAPTERS, CLAUSES, Clause, Finding, Verdict
from conformance.trial.family import FAMILIES
from conformance.workers import family as workers

__all__ = ["CHAPTERS", "CLAUSES", "FAMILIES", "Clause", "Finding", "Verdict"]

# In the order of the chapters.
for _wing in (epochs, workers, ahead, device, launch, pipelines, restarts, faults, chosen, reach, loops):
    CHAPTERS.extend(_wing.CHAPTERS)
    FAMILIES.update({family.name: family for family in _wing.FAMILIES})
# Of what all chapters ask: it has a clause of chapter 4.
FAMILIES.update({family.name: family for family in lives.FAMILIES})
