"""The family of chapter 5: loaders that read ahead."""

from conformance.ahead import drawn, judges, judges_ends, judges_reads, judges_trouble, scenario
from conformance.loader.runs import runs, synchronous
from conformance.loader.scenario import from_code, may_fail, within
from conformance.loader.simpler import simplified
from conformance.loader.starting import few
from conformance.trial.family import Family

CHAPTERS = ("ASYNC",)
# Imported, so that they register their clauses and conducts.
JUDGES = (judges, judges_trouble, judges_ends, judges_reads)
CONDUCTS = scenario


FAMILIES = (
    Family(
        "async",
        from_code,
        runs,
        drawn.each_way_ahead,
        {"quick": 8, "gate": 30, "deep": 1000},
        drawn.reading_ahead,
        simplified,
        may_fail=may_fail,
        within=within,
        few=few,
        twins=synchronous,
    ),
)
