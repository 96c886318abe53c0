"""The families of chapters 1 to 3: map-style datasets, epochs cut short, what must be refused, and many shuffles."""

from conformance.epochs import batches, callers_state, counts, drawn, layout, order, partition, uniformity
from conformance.epochs.policies import assumed
from conformance.epochs.promises import promises
from conformance.loader.runs import runs, twins
from conformance.loader.scenario import from_code, may_fail, within
from conformance.loader.simpler import simplified
from conformance.loader.smoke import smoke
from conformance.loader.starting import few
from conformance.trial.family import Family

CHAPTERS = ("BATCH", "COUNT", "PART", "ORDER")
# Imported, so that they register their clauses.
JUDGES = (batches, counts, partition, layout, order, callers_state, uniformity)


FAMILIES = (
    Family(
        "map",
        from_code,
        runs,
        drawn.always_tried,
        {"quick": 200, "gate": 700, "deep": 40_000},
        drawn.map_style,
        simplified,
        twins=twins,
        # A loader that ignores seed or epoch does not add them.
        hides={"ORDER-14": ("ORDER-6", "ORDER-7")},
        of_failed_runs=("COUNT-6", "COUNT-7"),
        smoke=smoke,
        assumed=assumed,
        promises=promises,
        may_fail=may_fail,
        may_hang=counts.out_of_reach,
        within=within,
    ),
    Family(
        "cut short",
        from_code,
        runs,
        drawn.cut_short,
        # What a loader that is left or closed makes of that is chapter 4's, which tries the same.
        may_fail=lambda scenario, claims: may_fail(scenario, claims) or bool(scenario.conduct),
        within=within,
        few=few,
    ),
    Family("refusals", from_code, runs, drawn.refusals, may_fail=may_fail, within=within),
    Family(
        "statistics",
        from_code,
        runs,
        drawn.statistics,
        # Epochs that come round again say nothing of a shuffle.
        hides=dict.fromkeys(("PART-8", "ORDER-12", "ORDER-13"), ("ORDER-6",)),
        may_fail=may_fail,
        within=within,
    ),
)
