"""What is tried of a launcher: the family of chapter 7. Launches cost seconds, so none is drawn."""

from collections.abc import Iterator

from conformance.loader.scenario import Scenario
from conformance.subjects import joined


def launches(quick: bool) -> Iterator[Scenario]:
    """Launches that succeed, are refused, fail, are killed, are stopped, and write; smallest first."""
    for replicas, instances in ((1, 1), (4, 2)) if quick else ((1, 1), (2, 2), (6, 3), (8, 4)):
        yield _launch(replicas, instances)
    for replicas, instances in ((3, 2),) if quick else ((1, 2), (3, 2), (8, 3), (5, 4)):
        yield _launch(replicas, instances)
    yield _launch(2, 2, "fails", seed=7)
    if not quick:
        yield _launch(2, 2, "fails", "first", seed=75)
        yield _launch(3, 3, "fails", "child", seed=1)
    yield _launch(3, 3, "killed", "child")
    yield _launch(2, 2, "child", "apart")
    yield _launch(2, 2, "term", "child")
    if not quick:
        yield _launch(2, 2, "int")
    yield _launch(2, 2, "lines")


def _launch(replicas: int, instances: int, *words: str, seed: int = 0) -> Scenario:
    return Scenario(replicas, instances, seed=seed, subject="launch", details=joined("launch", set(words)))
