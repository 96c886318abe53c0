"""The policy table as code: against torch's sampler, the reference's own shards, and numbers by hand."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.data import DistributedSampler

from reference.rules.partition import cut as cut_positions
from reference.rules.partition import shard
from reference.rules.policies import LAYOUTS, POLICIES, Policy, padded_to_steps, shard_sizes, shards, steps_of_ranks

SAMPLES, STEPS, RANKS = st.integers(0, 40), st.integers(1, 5), st.integers(1, 6)


@given(SAMPLES, RANKS)
def test_strided_padding_is_that_of_torch(samples: int, ranks: int) -> None:
    """`DistributedSampler` repeats from the front until all ranks have as many."""
    found = shards(range(samples), shard_sizes(samples, ranks, "pad"), "strided")
    for rank in range(ranks):
        sampler = DistributedSampler(range(samples), ranks, rank, shuffle=False)  # type: ignore[arg-type]
        assert (list(sampler) if samples else []) == found[rank]


@given(SAMPLES, RANKS)
def test_strided_dropping_is_that_of_torch(samples: int, ranks: int) -> None:
    """With `drop_last` it has floor(n / R) on every rank."""
    found = shards(range(samples), shard_sizes(samples, ranks, "drop"), "strided")
    for rank in range(ranks):
        sampler = DistributedSampler(range(samples), ranks, rank, shuffle=False, drop_last=True)  # type: ignore[arg-type]
        if samples >= ranks:
            assert list(sampler) == found[rank]


@given(SAMPLES, STEPS, RANKS)
def test_uneven_and_contiguous_is_the_references_partition(samples: int, step: int, ranks: int) -> None:
    """What the reference computes without a list is the same."""
    parts = [shard(samples, step, ranks, rank, False) for rank in range(ranks)]
    expected = [[list(each) for each in cut_positions(part, step)] for part in parts]
    assert expected == steps_of_ranks(range(samples), step, ranks, False, "uneven", "contiguous")


@pytest.mark.parametrize(("policy", "sizes"), [("drop", [2, 2, 2, 2]), ("pad", [3, 3, 3, 3]), ("uneven", [3, 3, 2, 2])])
def test_the_sizes_are_those_of_the_table(policy: Policy, sizes: list[int]) -> None:
    """10 samples on 4 ranks, as the specs show them."""
    assert sizes == shard_sizes(10, 4, policy)


def test_the_other_padding_fills_the_last_steps() -> None:
    """10 samples on 4 ranks with N = 2: 4 each, as in COUNT-2."""
    assert [4, 4, 4, 4] == padded_to_steps(10, 2, 4)


@given(SAMPLES, STEPS, RANKS)
def test_every_sample_is_kept_unless_it_is_dropped(samples: int, step: int, ranks: int) -> None:
    """Whole shards hold everything under "pad" and "uneven", in either layout."""
    for policy, layout in product(POLICIES, LAYOUTS):
        steps = steps_of_ranks(range(samples), step, ranks, False, policy, layout)
        found = {index for rank in steps for each in rank for index in each}
        assert policy == "drop" or set(range(samples)) == found
