"""How a loader of the museum is judged: decides tier, patience and process, and what is kept of the report."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from conformance import check
from conformance.campaign import Campaign
from conformance.outcome import Report
from conformance.scenario import Scenario


def judged(loader: Any) -> Report:
    """The report over a loader at the gate tier."""
    spawned = getattr(loader, "spawned", False)
    implementation = f"{loader.__module__}:{loader.__name__}" if spawned else loader
    return check(implementation, tier="gate", patience=getattr(loader, "patience", 10.0))


def violated(report: Report) -> dict[str, str]:
    """The clauses that fired, each with the code of its smallest case."""
    return {outcome.clause: outcome.case.scenario.code for outcome in report.outcomes if outcome.case is not None}


@contextmanager
def drawn_once() -> Iterator[None]:
    """Draw the scenarios of equal claims once: drawing costs as much as reading a loader of the museum."""
    draw = Campaign._tried
    known: dict[object, list[Scenario]] = {}

    def tried(campaign: Campaign) -> list[Scenario]:
        key = (campaign.family, campaign.claims, campaign.tier.name, campaign.seed)
        if key not in known:
            known[key] = draw(campaign)
        return known[key]

    Campaign._tried = tried  # type: ignore[method-assign]
    try:
        yield
    finally:
        Campaign._tried = draw  # type: ignore[method-assign]
