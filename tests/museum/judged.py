"""How a loader of the museum is judged: decides tier, patience and process, and what is kept of the report."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import pytest

from conformance.clauses import CLAUSES
from conformance.loader import patience
from conformance.processes.resolve import resolve
from conformance.processes.sources import ForkedSource, Source, SpawnedSource, source_of
from conformance.trace import Scenario
from conformance.trial.campaign import Campaign
from conformance.trial.outcome import Report
from conformance.trial.session import Options, Session
from tests.known_bad.correct import KnownBad
from tests.known_bad.faults import remove_segments


def judged(loader: Any, tier: str = "gate", case: tuple[str, Scenario] | None = None) -> Report:
    """The report over a loader, of the families that it names, or of one case."""
    source, name = _source(loader)
    if "device" in getattr(loader, "families", ()):
        # Here, and not in the processes of each of them: it imports what an optimizer of torch needs.
        import_module("conformance.device.models").warm_up()
    options = Options(tier=tier, patience=getattr(loader, "patience", 10.0), case=case)
    families = getattr(loader, "families", ()) or _families_of_its_chapters(loader)
    clauses = [clause for clause in CLAUSES.values() if not families or clause.family in families]
    grace, awaits = getattr(loader, "grace", patience.GRACE), getattr(loader, "awaits", patience.LONGEST)
    try:
        with _waiting(grace, awaits), Session(source, name, options) as session:
            return session.report() if case else session.report(clauses)
    finally:
        remove_segments()


def _source(loader: Any) -> tuple[Source, str]:
    name = f"{loader.__module__}:{loader.__name__}"
    if getattr(loader, "spawned", False):
        return SpawnedSource(name), name
    # Instances of a job import it by its name.
    return (ForkedSource(resolve(name)), name) if hasattr(loader, "launch") else source_of(loader)


def _families_of_its_chapters(loader: Any) -> tuple[str, ...]:
    # A bad loader of chapters 1 to 3 is not judged by chapters 4 and 10 as well: the whole museum would take long.
    if not issubclass(loader, KnownBad):
        return ()
    return ("map", "refusals", "statistics", *(("workers",) if loader.claims.get("workers") else ()))


@contextmanager
def _waiting(grace: float, awaits: float) -> Iterator[None]:
    """Wait so long for what a loader leaves behind or reads early, in this process and in those forked from it."""
    changed = dict(
        GRACE=grace,
        SHORT_GRACE=min(grace, patience.SHORT_GRACE),
        JOB_ENDS=min(2 * grace, patience.JOB_ENDS),
        ORPHANS_END=min(2 * grace, patience.ORPHANS_END),
        LONGEST=awaits,
    )
    with pytest.MonkeyPatch.context() as patched:
        for name, seconds in changed.items():
            patched.setattr(patience, name, seconds)
        yield


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
