"""Jobs that are stopped and resumed: how a case of theirs is written, and when they must have stopped."""

import pytest

from conformance.loops.scenario import LoopScenario, from_code
from conformance.trace import SUBJECTS


@pytest.mark.parametrize(
    ("stop", "steps", "dropping"), [(0, 0, 0), (1, 1, 1), (3, 1, 1), (4, 2, 2), (7, 3, 2), (8, 4, 3), (14, 6, 4)]
)
def test_a_job_may_finish_its_step(stop: int, steps: int, dropping: int) -> None:
    """Seven micro-batches an epoch, three a step: the last step of each epoch has one, or is none."""
    scenario = LoopScenario(7, 1, 3, 2)
    assert (steps, dropping) == (scenario.steps_until(stop, True), scenario.steps_until(stop, False))


@pytest.mark.parametrize(
    "code", ["n7,b1,g3,e2,loop,stopped@4", "n7,b1,g3,e2,loop,stopped@4,again@2", "n7,b1,g3,e2,loop"]
)
def test_a_stop_is_a_part_of_the_case(code: str) -> None:
    """It is written and read as a code, and as a record's fields."""
    scenario = from_code(code)
    assert code == scenario.code
    assert scenario == SUBJECTS["loop"](scenario.fields())


def test_a_job_is_stopped_as_often_as_it_lasts() -> None:
    """The second stop and the later ones are as far apart; none is at the end of the job."""
    assert [[], [5], [1, 4]] == [
        LoopScenario(7, stop=stop, again=again).stops for stop, again in ((0, 0), (5, 0), (1, 3))
    ]


def test_a_second_stop_needs_a_first() -> None:
    """A case without it is none."""
    with pytest.raises(ValueError, match="say stopped@1"):
        from_code("n7,b1,loop,again@2")


def test_a_stop_is_told() -> None:
    """In the words of a report."""
    told = "7 samples, micro-batch 1, a step each 3 micro-batches, stopped after 1 micro-batch and resumed"
    assert told == LoopScenario(7, 1, 3, 1, stop=1).describe()


def test_a_second_stop_is_told() -> None:
    """In the words of a report."""
    assert (
        LoopScenario(7, 1, 3, 1, stop=1, again=2).describe().endswith("and resumed, stopped again each 2 micro-batches")
    )
