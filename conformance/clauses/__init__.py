"""The judges, a module a chapter; importing this package registers them all in `CLAUSES`."""

from conformance.clauses import arithmetic, faults, life, order, partition, uniformity, workers
from conformance.clauses.base import CLAUSES, Clause, Finding, Verdict

__all__ = [
    "CLAUSES",
    "Clause",
    "Finding",
    "Verdict",
    "arithmetic",
    "faults",
    "life",
    "order",
    "partition",
    "uniformity",
    "workers",
]
