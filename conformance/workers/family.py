"""The families of chapter 4: worker processes over map-style datasets, and iterable datasets."""

from conformance.loader.runs import runs, without_workers
from conformance.loader.scenario import from_code, may_fail, within
from conformance.loader.simpler import simplified
from conformance.loader.starting import few
from conformance.trial.family import Family
from conformance.workers import drawn, judges, judges_hooks, judges_iterable, judges_life, overtaking

CHAPTERS = ("WORK",)
# Imported, so that they register their clauses.
JUDGES = (judges, judges_iterable, judges_hooks, judges_life)

FAMILIES = (
    Family(
        "workers",
        from_code,
        runs,
        drawn.a_few_workers,
        {"quick": 4, "gate": 16, "deep": 400},
        drawn.with_workers,
        simplified,
        twins=without_workers,
        of_failed_runs=("WORK-1",),
        may_fail=may_fail,
        within=within,
        refutes={"ORDER-8": overtaking.refuted},
        few=few,
    ),
    Family(
        "iterable",
        from_code,
        runs,
        drawn.a_few_iterables,
        {"quick": 8, "gate": 30, "deep": 800},
        drawn.iterable_style,
        simplified,
        of_failed_runs=("WORK-3", "WORK-4"),
        may_fail=may_fail,
        within=within,
        few=few,
    ),
)
