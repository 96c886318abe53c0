"""Samples that are no numbers: what counts as a batch of them that lost nothing."""

from collections import UserList, deque
from typing import Any

import numpy as np
import pytest

from conformance.loader.samples import Pair, infidelity
from conformance.report.script import kinds

DICTS = [{"a": 0}, {"a": 1}]
PAIRS = [Pair(0, 0.5), Pair(1, 1.5)]


class Step(list[Any]):
    """A list with a remark of its own."""

    is_last = False


def objects(samples: list[Any]) -> Any:
    """An array of Python objects."""
    made = np.empty(len(samples), dtype=object)
    made[:] = samples
    return made


@pytest.mark.parametrize("judge", [infidelity, kinds.infidelity])
@pytest.mark.parametrize("make", [list, tuple, Step, deque, UserList, objects])
def test_samples_one_after_the_other_lose_nothing(make: Any, judge: Any) -> None:
    """Whatever holds them in their order: a list, a tuple, a list of the loader's own."""
    assert "" == judge(DICTS, make(DICTS))


@pytest.mark.parametrize("judge", [infidelity, kinds.infidelity])
@pytest.mark.parametrize("make", [list, Step, deque])
def test_named_tuples_one_after_the_other_lose_nothing(make: Any, judge: Any) -> None:
    """A list of named tuples is a list of samples; a tuple of them would be columns."""
    assert "" == judge(PAIRS, make(PAIRS))


@pytest.mark.parametrize("judge", [infidelity, kinds.infidelity])
@pytest.mark.parametrize("batch", [Step([{"a": 0}, {"a": 2}]), deque([(0, 0.5), (1, 1.5)]), Step([{"a": 0}])])
def test_what_holds_others_is_told(batch: Any, judge: Any) -> None:
    """Another value, another type or one sample less is a loss, whatever the container."""
    samples = DICTS if isinstance(batch[0], dict) else PAIRS
    assert judge(samples, batch)
