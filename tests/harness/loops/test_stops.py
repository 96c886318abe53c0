"""Jobs that are stopped and resumed: how a case of theirs is written, and when they must have stopped."""

import pytest

from conformance.loops.scenario import LoopScenario, from_code
from conformance.trace import SUBJECTS


@pytest.mark.parametrize(
    ("stop", "steps", "dropping"), [(0, 0, 0), (1, 1, 1), (3, 1, 1), (4, 2, 2), (7, 3, 2), (8, 4, 3), (14, 6, 4)]
)
def test_a_job_may_finish_its_step(stop: int, steps: int, dropping: int) -> None:
    """Seven micro-batches an epoch, three a step: the last step of each epoch has one, or is none."""
    scenario = LoopScenario(7, 1, 3, 2, stop=stop)
    assert (steps, dropping) == (scenario.steps_until_stop(True), scenario.steps_until_stop(False))


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
