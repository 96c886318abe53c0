"""The one fixed case that tests the adapter before the loader is judged: does it load, yield and decode?"""

from conformance.contract import Claims
from conformance.loader.runs import run, usual
from conformance.loader.scenario import Scenario, simpler
from conformance.processes.lane import Lane
from conformance.trace import Run

SMOKE = Scenario(samples=4, world_size=1, batch_size=2)

_FAILURES = {
    "hung": "hangs",
    "died": "ends its process",
    "endless": "never ends an epoch",
    "undecodable": "delivers what can't be read",
    "unusable": "gives no loader",
}


def smoke(lane: Lane, claims: Claims) -> str:
    """Why the adapter can't be used, or ""; an adapter that offers no loader has none that could be tried."""
    # Of what has no end the first step is read.
    case = simpler(SMOKE, conduct="head") if claims.is_endless else SMOKE
    return fault_of(run(lane, "main", usual(case))) if claims.datasets else ""


def fault_of(run: Run) -> str:
    """Why the adapter can't be used, judged by the run of the one fixed case; "" if it can."""
    (rank,) = run.ranks
    asked = f"asked for {SMOKE.describe()}, your adapter"
    if rank.failure:
        what = _FAILURES.get(rank.failure.kind, f"raises in {rank.failure.where}")
        return f"{asked} {what}: {rank.failure.message}"
    samples = rank.epochs[0].samples
    if not samples:
        return f"{asked} delivers nothing at all; see that load(request) reads request.dataset"
    foreign = [index for index in samples if not 0 <= index < SMOKE.samples]
    if foreign:
        return (
            f"{asked} delivers the number {foreign[0] + 1000}, which is no sample of the dataset (those are 1000 to "
            f"{999 + SMOKE.samples}); deliver what request.dataset gives, or add a decode(batch) that finds it"
        )
    return ""
