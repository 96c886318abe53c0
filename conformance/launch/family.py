"""The family of chapter 7: launches. They cost seconds, so none is drawn."""

from collections.abc import Iterator

from conformance.launch import drawn, judges
from conformance.launch.run import LONGEST
from conformance.launch.scenario import LaunchScenario, from_code
from conformance.processes.lane import Lane
from conformance.processes.task import Task
from conformance.trace import Run
from conformance.trial.family import Family

CHAPTERS = ("LAUNCH",)
# Imported, so that they register their clauses.
JUDGES = (judges,)


def _runs(lane: Lane, scenario: LaunchScenario) -> Iterator[Run]:
    # One process: the launcher starts the others itself.
    task = Task("conformance.launch.run", scenario, rank=0, epochs=(0,))
    yield Run("main", lane.run([task], patience=lane.patience + LONGEST))


FAMILIES = (
    Family("launch", from_code, _runs, drawn.launches, may_fail=lambda scenario, claims: not scenario.can_be_met),
)
