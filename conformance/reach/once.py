"""Chapter 11, nothing twice: the judge of DRAW-6, where no policy says what becomes of the rest."""

from conformance.contract import Claims
from conformance.loader.judging import repeated, show, usable
from conformance.loader.scenario import Scenario
from conformance.trace import Trace
from conformance.trial.clause import Finding, Verdict, clause


def _says_nothing_of_the_rest(claims: Claims) -> bool:
    asked = [False] if "drop_last" in claims.without else [False, True]
    return any(claims.policy(each) is None for each in asked)


@clause("DRAW-6", applies=_says_nothing_of_the_rest, floor=60)
def nothing_twice(scenario: Scenario, claims: Claims, trace: Trace) -> Verdict:
    """Where neither replacement nor a policy is claimed no sample comes twice, shuffled or not."""
    # Where a policy is claimed PART-1 says so, and ORDER-3 and ORDER-4 of shuffled epochs.
    if claims.policy(scenario.drop_last) is not None or not usable(trace.main):
        return None
    delivered = False
    for position in range(scenario.epochs):
        epochs = trace.main.epoch(position)
        delivered = delivered or any(epoch.samples for epoch in epochs)
        again = repeated(scenario, epochs)
        if again:
            rank = max(rank for rank, epoch in enumerate(epochs) if again[0] in epoch.samples)
            lines = show(epochs, {rank: f"sample {again[0]} again"})
            why = "neither padding nor sampling is claimed, so nothing may be repeated"
            return [Finding("repeated", "each sample at most once", lines, why)]
    return [] if delivered else None
