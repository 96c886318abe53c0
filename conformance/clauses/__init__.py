"""The judges, a module a chapter; importing this package registers them all in `CLAUSES`."""

from conformance.clauses import (
    arithmetic,
    asynchronous,
    asynchronous_ends,
    asynchronous_reads,
    device,
    device_outputs,
    faults,
    launch,
    life,
    order,
    partition,
    pipelines,
    pipelines_ends,
    pipelines_seeds,
    uniformity,
    workers,
)
from conformance.clauses.base import CLAUSES, Clause, Finding, Verdict

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
    "uniformity",
    "workers",
]
