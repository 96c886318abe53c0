"""The judges, a module a chapter; importing this package registers them all in `CLAUSES`."""

from conformance.ahead import (
    judges as asynchronous,
)
from conformance.ahead import (
    judges_ends as asynchronous_ends,
)
from conformance.ahead import (
    judges_reads as asynchronous_reads,
)
from conformance.device import judges as device
from conformance.device import judges_outputs as device_outputs
from conformance.epochs import arithmetic, order, partition, uniformity
from conformance.faults import judges as faults
from conformance.launch import judges as launch
from conformance.pipelines import judges as pipelines
from conformance.pipelines import judges_ends as pipelines_ends
from conformance.pipelines import judges_seeds as pipelines_seeds
from conformance.restarts import (
    judges as resume,
)
from conformance.restarts import (
    judges_again as resume_again,
)
from conformance.restarts import (
    judges_others as resume_others,
)
from conformance.restarts import (
    judges_states as resume_states,
)
from conformance.trial.clause import CLAUSES, Clause, Finding, Verdict
from conformance.workers import judges as workers
from conformance.workers import judges_life as life

__all__ = [
    "CLAUSES",
    "Clause",
    "Finding",
    "Verdict",
    "arithmetic",
    "asynchronous",
    "asynchronous_ends",
    "asynchronous_reads",
    "device",
    "device_outputs",
    "faults",
    "launch",
    "life",
    "order",
    "partition",
    "pipelines",
    "pipelines_ends",
    "pipelines_seeds",
    "resume",
    "resume_again",
    "resume_others",
    "resume_states",
    "uniformity",
    "workers",
]
