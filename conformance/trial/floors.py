"""How often a clause must have been able to fail, before it is said to hold."""

from math import prod

from conformance.contract import Claims
from conformance.trial.clause import Clause
from conformance.trial.family import FAMILIES
from conformance.trial.tiers import TIERS, Tier

_LEFT_WITHOUT = {"ranks": 0.5, "drop_last": 0.5, "batch_size": 0.2}


def floor_of(clause: Clause, tier: Tier, claims: Claims, is_short: bool = False) -> int:
    """In how many cases of a run of this tier.

    `is_short`: only a few of the cases were tried, because this loader's workers take long to start.
    """
    # Of what is only listed there is as much at a higher tier as at the gate.
    is_drawn = FAMILIES[clause.family].drawn is not None and not clause.listed
    share = tier.floor_share if is_drawn else min(1.0, tier.floor_share)
    if is_short:
        share = min(share, TIERS["quick"].floor_share)
    # There is less to try of a loader that can't be asked for all of it.
    share *= prod(_LEFT_WITHOUT[name] for name in claims.without)
    return max(1, round(clause.floor * share))
