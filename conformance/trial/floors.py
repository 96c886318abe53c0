"""How often a clause must have been able to fail, before it is said to hold."""

from math import prod

from conformance.contract import Claims
from conformance.trial.clause import Clause
from conformance.trial.tiers import TIERS, Tier

_LEFT_WITHOUT = {"ranks": 0.5, "drop_last": 0.5, "batch_size": 0.2}


def floor_of(clause: Clause, tier: Tier, claims: Claims, is_short: bool = False) -> int:
    """In how many cases of a run of this tier.

    `is_short`: only a few of the cases were tried, because this loader's workers take long to start.
    """
    share = TIERS["quick"].floor_share if is_short else tier.floor_share
    # There is less to try of a loader that can't be asked for all of it.
    share *= prod(_LEFT_WITHOUT[name] for name in claims.without)
    return max(1, round(clause.floor * share))
