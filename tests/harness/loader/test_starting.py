"""Workers that are new interpreters get the time to start, and fewer cases; forks change nothing."""

from types import SimpleNamespace
from typing import Any

import pytest

from conformance.loader import starting
from conformance.loader.scenario import from_code
from conformance.processes.fleet import Fleet
from conformance.processes.sources import source_of
from conformance.trial.tiers import TIERS
from tests.harness.tried import listed
from tests.known_bad.pool import Pool
from tests.known_bad.unusual_starting import ByAForkServer, BySpawn

_NEW = starting.Start(is_new=True, seconds=2.0)


def lane(start: starting.Start) -> Any:
    """A lane of a fleet that has found this out."""
    return SimpleNamespace(fleet=SimpleNamespace(learned=lambda *_: start))


@pytest.mark.parametrize(("loader", "expected"), [(Pool, False), (BySpawn, True), (ByAForkServer, True)])
def test_a_worker_tells_whether_it_is_a_fork(loader: type[Any], expected: bool) -> None:
    """And what it took, if it is none."""
    source, _ = source_of(loader)
    with Fleet(source) as fleet:
        start = starting.start_of(fleet.lanes[0])
    assert (expected, expected) == (start.is_new, start.seconds > 0)


@pytest.mark.parametrize(
    ("code", "seconds"),
    [
        ("n4,w1,b1,keep", 0.0),
        ("n4,w1,b1,keep,k1", 6.0),
        ("n4,w2,b1,keep,k2,e2", 48.0),
        ("n4,w2,b1,keep,k2,e2,persistent", 24.0),
        ("n4,w1,b1,keep,k1,e2,kept", 24.0),
    ],
)
def test_each_start_is_granted_beside_the_patience(code: str, seconds: float) -> None:
    """Three times what one takes, for each worker of each rank and epoch, and for both rounds of trouble."""
    assert seconds == starting.granted(lane(_NEW), from_code(code))
    assert 0.0 == starting.granted(lane(starting.Start()), from_code(code))


def test_of_each_kind_one_case_with_new_interpreters_is_tried() -> None:
    """Those without workers stay; each fault and each conduct is tried with workers as well."""
    scenarios = listed("life", source_of(BySpawn)[0].implementation.claims)  # type: ignore[attr-defined]
    few = starting.few(lane(_NEW), TIERS["quick"], scenarios)
    assert [each for each in scenarios if not each.num_workers] == [each for each in few if not each.num_workers]
    trouble = {(each.fault or each.conduct).partition("@")[0] for each in scenarios if each.num_workers}
    assert trouble == {(each.fault or each.conduct).partition("@")[0] for each in few if each.num_workers}
    assert sum(each.num_workers * each.epochs for each in few) < 45
    assert scenarios == starting.few(lane(starting.Start()), TIERS["quick"], scenarios)
    assert scenarios == starting.few(lane(_NEW), TIERS["deep"], scenarios)
