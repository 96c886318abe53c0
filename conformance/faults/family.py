"""The families of chapter 10, which chapter 4 shares: trouble in the life of a loader, and samples of every kind."""

from conformance.contract import Claims
from conformance.faults import drawn, drawn_kinds, judges, judges_left, scenario
from conformance.loader.runs import runs, undisturbed
from conformance.loader.scenario import Scenario, from_code, may_fail, within
from conformance.loader.simpler import simplified
from conformance.loader.starting import few
from conformance.trial.family import Family

CHAPTERS = ("ERROR", "LEAK")
# Imported, so that they register their clauses and conducts.
JUDGES = (judges, judges_left)
CONDUCTS = scenario


def _trouble(scenario: Scenario) -> str:
    """What goes wrong or is done: a hang in one clause's cases is none in another's."""
    return (scenario.fault or scenario.conduct).partition("@")[0]


def _may_fail(scenario: Scenario, claims: Claims) -> bool:
    # WORK-12 allows a loader to refuse another loop once one was left, and judges it where it does more.
    return may_fail(scenario, claims) or scenario.conduct.startswith(("leave", "hold"))


FAMILIES = (
    Family(
        "life",
        from_code,
        runs,
        drawn.each_trouble,
        {"quick": 16, "gate": 60, "deep": 2400},
        drawn.troubled,
        simplified,
        twins=undisturbed,
        blamed=_trouble,
        # A loader that swallows errors has none that comes in its place, and nothing after it.
        hides={"ERROR-2": ("ERROR-1",), "WORK-14": ("ERROR-1",)},
        may_fail=may_fail,
        within=within,
        few=few,
    ),
    Family(
        "skipping",
        from_code,
        runs,
        drawn.skipped_on_ranks,
        twins=undisturbed,
        may_fail=may_fail,
        within=within,
        few=few,
    ),
    Family("killed", from_code, runs, drawn.readers_killed, may_fail=may_fail, within=within, few=few),
    Family("samples", from_code, runs, drawn_kinds.kinds_of_sample, may_fail=_may_fail, within=within, few=few),
)
