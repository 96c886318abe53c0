"""How a loader of the museum is judged: decides tier, patience and process, and what is kept of the report."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from conformance.clauses import CLAUSES
from conformance.loader import patience
from conformance.processes.sources import source_of
from conformance.trace import Scenario
from conformance.trial.campaign import Campaign
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from tests.known_bad.correct import KnownBad


def judged(loader: Any, tier: str = "gate", case: tuple[str, Scenario] | None = None) -> Report:
    """The report over a loader, of the families that it names, or of one case."""
    spawned = getattr(loader, "spawned", False)
    source, name = source_of(f"{loader.__module__}:{loader.__name__}" if spawned else loader)
    if "device" in getattr(loader, "families", ()):
        # Here, and not in the processes of each of them: it imports what an optimizer of torch needs.
        import_module("conformance.device.models").warm_up()
    options = Options(tier=tier, patience=getattr(loader, "patience", 10.0), case=case)
    families = getattr(loader, "families", ()) or _families_of_its_chapters(loader)
    clauses = [clause for clause in CLAUSES.values() if not families or clause.family in families]
    grace, awaits = getattr(loader, "grace", patience.GRACE), getattr(loader, "awaits", patience.LONGEST)
    with _waiting(grace, awaits), Session(source, name, options) as session:
        return session.report() if case else session.report(clauses)


def _families_of_its_chapters(loader: Any) -> tuple[str, ...]:
    # A bad loader of chapters 1 to 3 is not judged by chapters 4 and 10 as well: the whole museum would take long.
    if not issubclass(loader, KnownBad):
        return ()
    return ("map", "refusals", "statistics", *(("workers",) if loader.claims.get("workers") else ()))


@contextmanager
def _waiting(grace: float, awaits: float) -> Iterator[None]:
    """Wait so long for what a loader leaves behind or reads early, in this process and in those forked from it."""
    before = patience.GRACE, patience.SHORT_GRACE, patience.LONGEST
    patience.GRACE, patience.SHORT_GRACE, patience.LONGEST = grace, min(grace, patience.SHORT_GRACE), awaits
    try:
        yield
    finally:
        patience.GRACE, patience.SHORT_GRACE, patience.LONGEST = before


def violated(report: Report) -> dict[str, str]:
    """The clauses that fired, each with the code of its smallest case."""
    return {outcome.clause: outcome.case.scenario.code for outcome in report.outcomes if outcome.case is not None}


@contextmanager
def drawn_once() -> Iterator[None]:
    """Draw the scenarios of equal claims once: drawing costs as much as reading a loader of the museum."""
    draw = Campaign.tried
    known: dict[object, list[Scenario]] = {}

    def tried(campaign: Campaign) -> list[Scenario]:
        key = (campaign.family.name, campaign.claims, campaign.tier.name, campaign.seed)
        if key not in known:
            known[key] = draw(campaign)
        return known[key]

    Campaign.tried = tried  # type: ignore[method-assign]
    try:
        yield
    finally:
        Campaign.tried = draw  # type: ignore[method-assign]
