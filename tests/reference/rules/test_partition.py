"""Shards and steps, against torch's samplers and brute force."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import BatchSampler

from reference.rules.partition import cut, locate, shard

SAMPLES = st.integers(0, 60)
SMALL = st.integers(1, 6)


def shards(samples: int, combined: int, ranks: int, drop: bool) -> list[range]:
    """Return the shards of all ranks."""
    return [shard(samples, combined, ranks, rank, drop) for rank in range(ranks)]


@given(SAMPLES, SMALL, SMALL, st.booleans())
def test_shards_follow_one_another_from_the_first_sample(n: int, combined: int, ranks: int, drop: bool) -> None:
    """Joined, the shards are 0, 1, 2, ...: exclusive and contiguous (PART-1, PART-5, ORDER-2)."""
    joined = [position for part in shards(n, combined, ranks, drop) for position in part]
    assert list(range(len(joined))) == joined
    assert n - len(joined) in (range(combined * ranks) if drop else range(1))


@given(SAMPLES, SMALL, SMALL, st.booleans())
def test_shards_are_balanced(n: int, combined: int, ranks: int, drop: bool) -> None:
    """Shards are equal under drop_last; else they differ by at most one, larger ones first (PART-6)."""
    sizes = [len(part) for part in shards(n, combined, ranks, drop)]
    assert sorted(sizes, reverse=True) == sizes
    assert sizes[0] - sizes[-1] in ((0,) if drop else (0, 1))


@given(SAMPLES, SMALL, SMALL)
def test_kept_shards_equal_torchs_split(n: int, combined: int, ranks: int) -> None:
    """The "uneven" shards are those of torch.tensor_split."""
    expected = [part.tolist() for part in torch.tensor_split(torch.arange(n), ranks)]
    assert expected == [list(part) for part in shards(n, combined, ranks, False)]


@given(SAMPLES, SMALL, st.booleans())
def test_steps_of_one_rank_equal_torchs_batches(n: int, combined: int, drop: bool) -> None:
    """On one rank the steps are torch's batches of the combined size."""
    expected = list(BatchSampler(range(n), combined, drop))
    assert expected == [list(step) for step in cut(shard(n, combined, 1, 0, drop), combined)]


def test_a_huge_shard_is_a_range() -> None:
    """Shards and steps are ranges, whatever their size."""
    part = shard(10**15, 64, 10**6, 10**6 - 1, True)
    assert range(10**15 - 10**9, 10**15) == part
    assert range(part.start, part.start + 64) == next(cut(part, 64))


@given(st.integers(0, 10**18), st.integers(1, 10**9), st.integers(1, 10**6), st.booleans(), st.data())
def test_a_shard_lies_within_the_dataset(n: int, combined: int, ranks: int, drop: bool, data: st.DataObject) -> None:
    """A shard begins and ends within the dataset at any size (PART-5)."""
    part = shard(n, combined, ranks, data.draw(st.integers(0, ranks - 1)), drop)
    assert 0 <= part.start <= part.stop <= n


def test_a_step_larger_than_any_machine_is_one_step() -> None:
    """A combined batch beyond the machine's integers cuts like any other."""
    assert [range(3)] == list(cut(range(3), 10**30))


@pytest.mark.parametrize("arguments", [(-1, 1, 1, 0), (1, 0, 1, 0), (1, 1, 0, 0), (1, 1, 1, 1), (1, 1, 2, -1)])
def test_bad_arguments_are_refused(arguments: tuple[int, int, int, int]) -> None:
    """No shard without a dataset, a step, a world and a rank in it (BATCH-4)."""
    with pytest.raises(ValueError, match="but must be"):
        shard(*arguments, drop_last=True)


def test_the_layout_is_a_reshape() -> None:
    """Offsets go where a reshape puts them: device iteration, accumulation, replica, place (BATCH-3)."""
    d, g, r, m = 2, 3, 4, 5
    grid = torch.arange(d * g * r * m).reshape(d, g, r, m)
    for offset in range(d * g * r * m):
        assert offset == grid[locate(offset, g, r, m)].item()
