"""Batches, steps and remainders, against brute force and exact fractions."""

import math
import tracemalloc
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.rules.arithmetic import Plan, chained_floors, make_plan

SMALL = st.integers(1, 3)
FACTOR = st.integers(1, 10**6)


def brute_force_steps(samples: int, combined: int, ranks: int, drop_last: bool) -> list[list[int]]:
    """Deal samples out one by one and return the sizes of each rank's steps."""
    if drop_last:
        rounds = 0
        while (rounds + 1) * combined * ranks <= samples:
            rounds += 1
        return [[combined] * rounds for _ in range(ranks)]
    shards = [0] * ranks
    for sample in range(samples):
        shards[sample % ranks] += 1
    return [[min(combined, shard - done) for done in range(0, shard, combined)] for shard in shards]


def test_the_chain_of_the_tutorial() -> None:
    """50,000 samples in batches of 32 are 1562; 390 for an instance, 195 for a replica, 2 are over."""
    assert make_plan(50_000, 32).steps == 1562
    assert make_plan(50_000, 32, ranks=4).steps == 390
    plan = make_plan(50_000, 32, replicas=2, ranks=4)
    assert (
        plan.micro_batches,
        plan.micro_batches_per_rank,
        plan.micro_batches_per_replica,
        plan.superfluous_micro_batches,
    ) == (1562, 390, 195, 2)
    assert (plan.steps, plan.last_step, plan.samples_used, plan.samples_left_over) == (195, 64, 49_920, 80)


def test_the_figures_of_the_loading_tutorial() -> None:
    """10,000 samples, micro-batch 16 and 50 device iterations are 12 steps of 800 samples."""
    plan = make_plan(10_000, 16, device_iterations=50)
    assert (plan.steps, plan.combined_batch) == (12, 800)


def test_the_batches_multiply_up() -> None:
    """Replica, global and combined batch are the products that their definitions say (BATCH-1)."""
    plan = make_plan(0, 2, gradient_accumulation=3, replicas=5, device_iterations=7)
    assert (plan.replica_batch, plan.global_batch, plan.combined_batch) == (6, 30, 210)


@given(st.integers(0, 60), SMALL, SMALL, SMALL, SMALL, SMALL, st.booleans())
def test_a_plan_equals_dealing_out_by_hand(n: int, m: int, g: int, r: int, d: int, ranks: int, drop: bool) -> None:
    """Steps, last step, use and remainder agree with brute force (BATCH-2, COUNT-1, COUNT-2, PART-3)."""
    plan = make_plan(n, m, g, r, d, ranks, drop)
    sizes = brute_force_steps(n, m * g * r * d, ranks, drop)
    assert (len(sizes[0]), len(sizes[-1])) == (plan.steps, plan.fewest_steps)
    assert (sizes[0] or [0])[-1] == plan.last_step
    assert sum(map(sum, sizes)) == plan.samples_used
    assert n - sum(map(sum, sizes)) == plan.samples_left_over
    shares = [plan.share(rank) for rank in range(ranks)]
    assert [(len(s), sum(s), (s or [0])[-1]) for s in sizes] == [(s.steps, s.samples, s.last_step) for s in shares]


@given(st.integers(0, 10**20), st.lists(FACTOR, max_size=5))
def test_cutting_in_stages_equals_cutting_once(count: int, sizes: list[int]) -> None:
    """The last of the chained floors is one floor by the product (COUNT-3)."""
    chain = (count, *chained_floors(count, *sizes))
    assert math.floor(Fraction(count, math.prod(sizes))) == chain[-1]


@given(st.integers(0, 10**18), FACTOR, FACTOR, FACTOR, FACTOR, FACTOR)
def test_steps_under_drop_last_are_one_floor(n: int, m: int, g: int, r: int, d: int, ranks: int) -> None:
    """steps = floor(n / (N * R)), and fewer than N * R samples are left over (COUNT-3, PART-3)."""
    plan = make_plan(n, m, g, r, d, ranks)
    assert math.floor(Fraction(n, m * g * r * d * ranks)) == plan.steps == plan.fewest_steps
    assert 0 <= plan.samples_left_over < plan.combined_batch * ranks
    assert n == plan.samples_used + plan.samples_left_over


@given(st.integers(0, 10**18), FACTOR, FACTOR, FACTOR)
def test_keeping_uses_every_sample_in_balanced_shares(n: int, m: int, r: int, ranks: int) -> None:
    """Kept, nothing is left over, and shares differ by at most one sample (PART-2, PART-6)."""
    plan = make_plan(n, m, replicas=r, ranks=ranks, drop_last=False)
    first, last = plan.share(0), plan.share(ranks - 1)
    assert (n, 0) == (plan.samples_used, plan.samples_left_over)
    assert math.ceil(Fraction(n, ranks)) == first.samples
    assert n // ranks == last.samples
    assert n == last.first + last.samples


@given(st.integers(0, 10**12), st.integers(1, 100), FACTOR, st.booleans())
def test_neighbouring_shares_touch(n: int, m: int, ranks: int, drop: bool) -> None:
    """A share begins where the one before it ends (ORDER-2)."""
    plan = make_plan(n, m, ranks=ranks + 1, drop_last=drop)
    before, after = plan.share(ranks - 1), plan.share(ranks)
    assert before.first + before.samples == after.first


def test_huge_plans_are_exact_and_small() -> None:
    """10^15 samples on 10^6 ranks take a few kilobytes, and no rounding."""
    tracemalloc.start()
    plan = make_plan(10**15 + 1, 32, replicas=2, ranks=10**6)
    share = plan.share(10**6 - 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000
    assert (plan.steps, plan.samples_left_over) == (15_625_000, 1)
    assert share.first + share.samples == 10**15


def test_a_plan_holds_plain_integers() -> None:
    """Every number of a plan is an int: nothing grows with the samples or the ranks."""
    plan = make_plan(10**15, 32, ranks=10**6)
    assert {int, bool} == {type(getattr(plan, name)) for name in Plan.__slots__}


@pytest.mark.parametrize("n", [0, 1, 7])
def test_less_than_one_round_gives_no_step(n: int) -> None:
    """A dataset smaller than a step of all ranks yields none: no error, no division by zero (COUNT-6)."""
    plan = make_plan(n, 2, ranks=4)
    assert (0, 0, 0, n) == (plan.steps, plan.last_step, plan.samples_used, plan.samples_left_over)


@pytest.mark.parametrize("position", range(6))
@pytest.mark.parametrize("value", [0, -1, True, 1.0, None, "2"])
def test_every_factor_is_checked(position: int, value: object) -> None:
    """No factor may be below 1 or no integer (BATCH-4, BATCH-5)."""
    numbers: list[object] = [8, 1, 1, 1, 1, 1]
    numbers[position] = -1 if position == 0 and value == 0 and value is not False else value
    with pytest.raises((TypeError, ValueError), match=r" is .*, but must be .*: give "):
        make_plan(*numbers)  # type: ignore[arg-type]


def test_a_share_of_a_rank_that_is_not_there_is_refused() -> None:
    """Rank 4 of 4 does not exist."""
    with pytest.raises(ValueError, match="rank is 4, but must be less than the world size 4"):
        make_plan(8, 1, ranks=4).share(4)
