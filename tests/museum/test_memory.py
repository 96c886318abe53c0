"""A fault that is seen by a process's memory is seen whatever this process did before."""

from collections.abc import Iterator

import pytest

from conformance.trial.known import parse_case
from tests.harness.proc import needs_proc
from tests.known_bad.correct import KnownBad
from tests.known_bad.faults import KeepsEveryBatch
from tests.known_bad.lasting import KeepsItsErrors, KeepsTheRest, KeepsWhatWasLeft
from tests.museum.judged import judged, violated

pytestmark = needs_proc
_SAMPLE = 2**16


@pytest.fixture
def freed() -> Iterator[None]:
    """Memory for thousands of samples that the allocator keeps, as something younger is still in use."""
    blocks = [bytearray(_SAMPLE) for _ in range(3000)]
    youngest = bytearray(_SAMPLE)
    blocks.clear()
    yield
    del youngest


@pytest.mark.parametrize("loader", [KeepsEveryBatch, KeepsWhatWasLeft, KeepsTheRest, KeepsItsErrors])
def test_freed_memory_hides_no_growth(freed: None, loader: type[KnownBad]) -> None:
    """A loader that keeps its samples is caught, forked from a process that has as much to give out again."""
    report = judged(loader, case=parse_case(f"{loader.clause}-{loader.smallest}"))
    assert {loader.clause: loader.smallest} == violated(report)
