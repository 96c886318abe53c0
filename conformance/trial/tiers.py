"""How much a run tries. How many scenarios of a kind are drawn at each tier, its family says."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tier:
    """How much a run tries: draws of the statistics, and the share of a clause's floor that must be reached.

    `hangs`: this many times the patience may be waited for hangs, and `again` more for those that are reported; with
    `waits_for_each` one hang of each clause is waited for again, however long hangs have taken.
    """

    name: str
    small_draws: int
    floor_share: float
    hangs: float = float("inf")
    again: float = 1.5
    waits_for_each: bool = True


TIERS = {
    tier.name: tier
    for tier in (
        Tier("quick", small_draws=480, floor_share=0.05, hangs=2, waits_for_each=False),
        Tier("gate", small_draws=4000, floor_share=1.0, hangs=30),
        Tier("deep", small_draws=40_000, floor_share=1.0),
    )
}
