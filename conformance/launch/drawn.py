"""What is tried of a launcher: launches that succeed, are refused, fail, are killed, are stopped, and write."""

from collections.abc import Iterator

from conformance.contract import Claims
from conformance.launch.scenario import LaunchScenario
from conformance.trial.tiers import Tier


def launches(claims: Claims, tier: Tier) -> Iterator[LaunchScenario]:
    """Each kind of launch; smallest first."""
    quick = tier.name == "quick"
    for replicas, instances in ((1, 1), (4, 2)) if quick else ((1, 1), (2, 2), (6, 3), (8, 4)):
        yield _launch(replicas, instances)
    for replicas, instances in ((3, 2),) if quick else ((1, 2), (3, 2), (8, 3), (5, 4)):
        yield _launch(replicas, instances)
    yield _launch(2, 2, "fails", exit_code=7)
    if not quick:
        # The other codes are lower and higher, of instances before it and after it.
        yield _launch(3, 3, "fails", "second", "own", exit_code=75)
        yield _launch(3, 3, "fails", "child", exit_code=1)
        # It ends as one does that was told to, and was not; all other codes are 0.
        yield _launch(2, 2, "killed", "mildly", "done")
    yield _launch(3, 3, "killed", "saved", "child")
    yield _launch(2, 2, "child", "apart")
    yield _launch(2, 2, "term", "child")
    if not quick:
        yield _launch(2, 2, "int")
        # The exit codes of instances that end well are all 0.
        yield _launch(2, 2, "term", "saved")
    yield _launch(2, 2, "lines")
    if not quick:
        yield _launch(2, 2, "within")


def _launch(replicas: int, instances: int, *happens: str, exit_code: int = 0) -> LaunchScenario:
    return LaunchScenario(replicas, instances, exit_code, frozenset(happens))
