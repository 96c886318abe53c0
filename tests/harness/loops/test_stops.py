"""Jobs that are stopped and resumed: how a case of theirs is written, and when they must have stopped."""

import pytest

from conformance.loops.scenario import LoopScenario, from_code
from conformance.trace import SUBJECTS


@pytest.mark.parametrize(("stop", "latest"), [(0, 0), (1, 3), (3, 3), (4, 6), (7, 7), (8, 10), (13, 13), (14, 14)])
def test_a_job_may_finish_its_step(stop: int, latest: int) -> None:
    """Seven micro-batches an epoch, three a step: the last step of each epoch has one."""
    assert latest == LoopScenario(7, 1, 3, 2, stop=stop).latest_stop


@pytest.mark.parametrize("code", ["n7,b1,g3,e2,loop,stopped@4", "n7,b1,g3,e2,loop"])
def test_a_stop_is_a_part_of_the_case(code: str) -> None:
    """It is written and read as a code, and as a record's fields."""
    scenario = from_code(code)
    assert code == scenario.code
    assert scenario == SUBJECTS["loop"](scenario.fields())


def test_a_stop_is_told() -> None:
    """In the words of a report."""
    told = "7 samples, micro-batch 1, a step each 3 micro-batches, stopped after 1 micro-batch and resumed"
    assert told == LoopScenario(7, 1, 3, 1, stop=1).describe()
