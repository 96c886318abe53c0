"""The order of a shuffled epoch."""

import os
import random
import subprocess
import sys
from collections import Counter
from itertools import permutations, product
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reference.rules.shuffle import LEAST_SEED, MOST_EPOCH, MOST_SEED, check_seed, permutation, worker_seed

SEEDS = st.integers(LEAST_SEED, MOST_SEED)
EPOCHS = st.integers(0, MOST_EPOCH)


def order(samples: int, seed: int, epoch: int) -> list[int]:
    """Return the permutation as a list."""
    return [int(index) for index in permutation(samples, seed, epoch)]


@given(st.integers(0, 50), SEEDS, EPOCHS)
def test_a_shuffle_is_a_permutation(n: int, seed: int, epoch: int) -> None:
    """Every sample comes once (ORDER-3)."""
    assert list(range(n)) == sorted(order(n, seed, epoch))


@given(SEEDS, EPOCHS)
def test_seed_and_epoch_are_not_merely_added(seed: int, epoch: int) -> None:
    """Next epoch and next seed give other orders, and not the same one (ORDER-6, ORDER-7, ORDER-14)."""
    here, later, beside = (
        order(40, seed, epoch),
        order(40, seed, (epoch + 1) % MOST_EPOCH),
        order(40, seed + 1 if seed < MOST_SEED else 0, epoch),
    )
    assert len({tuple(here), tuple(later), tuple(beside)}) == 3


def test_an_epoch_beyond_a_word_of_the_seed_is_no_other_seed() -> None:
    """Seed and epoch do not run into each other where they are laid side by side."""
    pairs = [(5, 0), (5, 1), (5 + 2**32, 0), (5 + 2**32, 1), (1, 5), (0, 5), (5 * 2**32, 0)]
    assert len(pairs) == len({tuple(order(40, seed, epoch)) for seed, epoch in pairs})


def test_negative_seeds_are_those_of_torch() -> None:
    """-1 and 2**64 - 1 are one seed, as for torch.manual_seed."""
    assert order(20, 2**64 - 1, 3) == order(20, -1, 3)
    torch.Generator().manual_seed(LEAST_SEED)
    torch.Generator().manual_seed(MOST_SEED)


@pytest.mark.parametrize("seed", [LEAST_SEED - 1, MOST_SEED + 1])
def test_seeds_outside_torchs_range_are_refused(seed: int) -> None:
    """What torch.manual_seed would refuse is refused with the bound."""
    with pytest.raises(ValueError, match=r"random seed is .*, but must be at (least|most)"):
        check_seed(seed)


@pytest.mark.parametrize("epoch", [-1, MOST_EPOCH + 1, True, 0.0])
def test_bad_epochs_are_refused(epoch: int) -> None:
    """An epoch is a whole number from 0 on."""
    with pytest.raises((TypeError, ValueError), match=r"epoch is .*, but must be"):
        permutation(3, 0, epoch)


def test_a_shuffle_leaves_the_global_generators_alone() -> None:
    """It neither reseeds nor draws: random, numpy and torch stand where they stood (ORDER-10, ORDER-11)."""
    before = random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()
    permutation(100, 1, 2)
    worker_seed(1, 2, 3)
    assert before == (random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist())


def test_the_caller_does_not_change_the_order() -> None:
    """The order is the same whatever the global generators were seeded with (ORDER-9)."""
    orders = set()
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        torch.manual_seed(seed)
        orders.add(tuple(order(30, 7, 0)))
    assert len(orders) == 1


def test_another_process_has_the_same_order() -> None:
    """A new process with another hash seed shuffles alike (ORDER-5)."""
    code = "from reference.rules.shuffle import permutation; print(permutation(30, 7, 2).tolist())"
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert str(order(30, 7, 2)) == done.stdout.strip()


def test_every_permutation_is_equally_likely() -> None:
    """Chi-square over the 24 orders of 4 samples stays below its 99.99 % point, 55.5 (ORDER-12)."""
    draws = 2400
    counts = Counter(tuple(order(4, 11, epoch)) for epoch in range(draws))
    expected = draws / 24
    assert sum((counts[each] - expected) ** 2 / expected for each in permutations(range(4))) < 55.5


def test_worker_seeds_differ_by_seed_epoch_and_rank() -> None:
    """No two of a grid of seeds, epochs and ranks share a seed, and each repeats."""
    grid = list(product((0, 1, 2), (0, 1, 2), (0, 1, 2)))
    seeds = [worker_seed(*each) for each in grid]
    assert len(grid) == len(set(seeds))
    assert seeds == [worker_seed(*each) for each in grid]


@pytest.mark.parametrize("n", [0, 1])
def test_nothing_to_shuffle_is_no_error(n: int) -> None:
    """No sample, or one, has one order (COUNT-6)."""
    assert list(range(n)) == order(n, 0, 0)
