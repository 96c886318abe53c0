"""A performer whose stages together take longer than one may."""

import threading
from typing import Any

from conformance.processes import alive
from conformance.processes.task import Task
from conformance.trace import RankRun


def perform(implementation: Any, task: Task, workdir: str) -> RankRun:
    """Wait in two stages, in the second for longer than its patience, as it says."""
    for seconds, waits in ((0.6, 0.0), (1.2, 1.0)):
        alive.stage(waits)
        threading.Event().wait(seconds)
    return RankRun(task.rank, ())
