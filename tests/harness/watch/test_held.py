"""A batch that the loop still has, and that was written over, is seen; and nothing else is taken for one."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from conformance.watch.held import Kept, tensors_of


def own(step: int) -> torch.Tensor:
    """Memory of its own."""
    return torch.full((4,), step)


def reader(buffers: int) -> Callable[[int], torch.Tensor]:
    """Batches that are views of so many buffers in turn."""
    ring = [torch.zeros(4, dtype=torch.int64) for _ in range(buffers)]
    return lambda step: ring[step % buffers].fill_(step)[:]


def read(batch_of: Callable[[int], Any], keeps: int, changes: bool = False) -> dict[int, int]:
    """Six steps are read by a loop that has the last few, the one in its variable among them."""
    kept, had = Kept(), list[Any]()
    for step in range(6):
        batch = batch_of(step)
        kept.came(step, tensors_of(batch))
        had = [*had, batch][-keeps:]
        if changes:
            batch.add_(1)
    return kept.written_over


def test_what_is_kept_and_written_over_is_seen() -> None:
    """By whichever step lies in its memory first."""
    assert {step: step + 2 for step in range(4)} == read(reader(1), keeps=3)
    assert {0: 3, 1: 4, 2: 5} == read(reader(3), keeps=4)
    batch_of = reader(1)
    assert {step: step + 2 for step in range(4)} == read(lambda step: {"x": [batch_of(step)]}, keeps=3)


@pytest.mark.parametrize(("buffers", "keeps"), [(1, 1), (2, 2), (4, 3)])
def test_what_the_loop_is_about_to_give_up_may_be_written_over(buffers: int, keeps: int) -> None:
    """Its variables have a batch until the next one is theirs, and those of a loop that has read ahead one more."""
    assert {} == read(reader(buffers), keeps=keeps)


def test_a_loop_that_changes_what_it_keeps_is_let_pass() -> None:
    """Each batch has memory of its own: nobody else writes there."""
    assert {} == read(own, keeps=4, changes=True)


def test_equal_numbers_are_not_written_over() -> None:
    """Windows of one dataset lie over each other, and say the same."""
    data = torch.arange(9)
    assert {} == read(lambda step: data[step : step + 4], keeps=4)
