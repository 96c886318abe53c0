"""The order that no list holds, its inverse, and its fast form."""

import json
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference.rules import feistel, feistel_blocks
from reference.rules.shuffle import LEAST_SEED, MOST_EPOCH, MOST_SEED
from reference.rules.vectors import FOLDER

SEEDS = st.integers(LEAST_SEED, MOST_SEED)
EPOCHS = st.integers(0, MOST_EPOCH)
SIZES = st.integers(1, 2**63 - 1) | st.integers(1, 300)
# Where a float loses the integers, or a product leaves 32, 63 or 64 bits.
BORDERS = sorted({2**k + d for k in (16, 31, 32, 33, 52, 53, 54, 62) for d in (-1, 0, 1)} | {10**15, 2**63 - 1})


@cache
def cases() -> list[dict[str, Any]]:
    """The golden vectors, numbers as numbers."""
    read = json.loads(Path(FOLDER, "feistel.json").read_text("utf-8"))["cases"]
    numbers = dict.fromkeys(("samples", "seed"), int)
    lists = ("positions", "samples_at")
    return [
        {**case, **{n: int(case[n]) for n in numbers}, **{n: list(map(int, case[n])) for n in lists}} for case in read
    ]


def by_the_chapter(position: int, n: int, seed: int, epoch: int) -> int:
    """The pseudo-code of chapter 3, once more and by itself."""
    m64 = 2**64 - 1

    def mix(x: int) -> int:
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & m64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & m64
        return x ^ (x >> 31)

    def word(i: int) -> int:
        return mix(mix(mix(mix(i * 0x9E3779B97F4A7C15 & m64) ^ seed % 2**64) ^ epoch) ^ n)

    if n == 1:
        return 0
    side = 1
    while side * side < n:
        side += 1
    a = side + side % 2
    b = -(-n // a)
    y = position
    while True:
        v, w, m, o = y % a, y // a, a, b
        for r in range(4 + 2 * -(-64 // (n - 1).bit_length())):
            h = w * word(3 * r + 1) + word(3 * r + 2) & m64
            h = (h ^ h >> 32) * (word(3 * r + 3) | 1) & m64
            v = (v + ((h >> 32) * m >> 32)) % m
            v, w, m, o = w, v, o, m
        y = w * a + v
        if y < n:
            return y


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 9, 24, 100])
def test_the_text_of_chapter_3_gives_the_same_orders(n: int) -> None:
    """Pseudo-code that was written down from the chapter agrees with the reference."""
    order = feistel.network(n, -5, 3)
    assert [by_the_chapter(p, n, -5, 3) for p in range(n)] == [feistel.sample_at(order, p) for p in range(n)]


@pytest.mark.parametrize("n", [*range(130), *(2**k + d for k in (10, 12, 16) for d in (-1, 0, 1))])
def test_every_sample_comes_once_and_its_position_is_found(n: int) -> None:
    """An epoch is a permutation (ORDER-3), and the inverse takes each sample back."""
    order = feistel_blocks.network(n, n, 1)
    samples = feistel_blocks.samples_at(order, range(n))
    assert (np.bincount(samples, minlength=n) == 1).all()
    assert (feistel_blocks.positions_of(order, samples) == np.arange(n)).all()


@given(SIZES, SEEDS, EPOCHS, st.randoms(use_true_random=False))
def test_blocks_are_the_plain_form(n: int, seed: int, epoch: int, random: Any) -> None:
    """numpy's words of 64 bits give what integers of any size give, in both directions."""
    order = feistel.network(n, seed, epoch)
    assert order == feistel_blocks.network(n, seed, epoch)
    positions = [random.randrange(n) for _ in range(5)]
    samples = [feistel.sample_at(order, position) for position in positions]
    assert samples == feistel_blocks.samples_at(order, np.array(positions)).tolist()
    assert positions == [feistel.position_of(order, sample) for sample in samples]
    assert positions == feistel_blocks.positions_of(order, np.array(samples)).tolist()


@pytest.mark.parametrize("n", BORDERS)
def test_orders_are_exact_across_the_borders(n: int) -> None:
    """Where 32 bits, a double's 53 and the longest length end, both forms agree, at the ends of the epoch too."""
    order = feistel.network(n, 42, 7)
    positions = [0, 1, n // 2, n - 2, n - 1]
    samples = [feistel.sample_at(order, position) for position in positions]
    assert all(0 <= sample < n for sample in samples)
    assert positions == [feistel.position_of(order, sample) for sample in samples]
    assert samples == feistel_blocks.samples_at(order, np.array(positions)).tolist()


def test_a_range_is_asked_for_like_its_numbers() -> None:
    """Ranges of any step, also longer than a block, and with it across the end of one, give what an array gives."""
    order = feistel_blocks.network(2**63 - 1, 1, 2)
    for asked in (range(2**63 - 20_003, 2**63 - 1), range(2**62, 2**62 + 70, 7), range(50, 3, -9), range(0)):
        expected = feistel_blocks.samples_at(order, np.array(asked, dtype=np.int64)).tolist()
        assert expected == feistel_blocks.samples_at(order, asked).tolist()


def test_the_golden_vectors_hold_in_both_forms() -> None:
    """What is written down for others is what is computed here."""
    for case in cases():
        order = feistel_blocks.network(case["samples"], case["seed"], case["epoch"])
        assert case["samples_at"] == feistel_blocks.samples_at(order, np.array(case["positions"], np.int64)).tolist()
        assert case["positions"] == feistel_blocks.positions_of(order, np.array(case["samples_at"], np.int64)).tolist()
        assert (case["columns"], case["rows"], case["rounds"]) == (order.columns, order.rows, len(order.keys))


def test_some_golden_vectors_are_those_of_another_program() -> None:
    """Known answers that were not computed by this code."""
    known = {
        (5, 0, 0): [3, 2, 0, 1, 4],
        (8, -1, 1): [7, 0, 5, 3, 6, 4, 1, 2],
        (10**9, 0, 0): [820114482, 708398938, 919735833],
        (2**32 + 1, 42, 1): [2578108581, 1702149082, 2032900544],
        (2**53 + 1, 2**64 - 1, 2**32 - 1): [4835231644655693, 3462120973732763, 4190272304327527],
    }
    for (n, seed, epoch), expected in known.items():
        order = feistel.network(n, seed, epoch)
        assert expected == feistel_blocks.samples_at(order, range(len(expected))).tolist()


@given(SEEDS, EPOCHS)
def test_neighbouring_seeds_epochs_and_sizes_have_orders_of_their_own(seed: int, epoch: int) -> None:
    """Seed, epoch and n are not merely added (ORDER-6, ORDER-7, ORDER-14); -1 and 2**64 - 1 are one seed."""
    keys = {
        feistel.network(40 + grown, (seed + other - LEAST_SEED) % 2**64 + LEAST_SEED, (epoch + later) % MOST_EPOCH).keys
        for grown, other, later in product((0, 1), repeat=3)
    }
    assert len(keys) == 8
    assert feistel.network(9, -1, 0) == feistel.network(9, 2**64 - 1, 0)


def test_the_table_holds_all_samples_and_less_than_a_row_more() -> None:
    """An even number of columns, sides below 2**32, and few cells that are no samples: a walk is rare."""
    for n in (*range(2, 500), *BORDERS):
        columns, rows = feistel.table(n)
        assert columns % 2 == 0
        assert 0 <= columns * rows - n < columns < 2**32


def test_all_64_bits_are_scaled_where_32_are_too_few() -> None:
    """With 2**54 samples or fewer a column gets 32 values of a hash and more; above that, 64 bits are taken."""
    assert (32, 64) == (feistel.network(2**54, 0, 0).hash_bits, feistel.network(2**54 + 1, 0, 0).hash_bits)


@pytest.mark.parametrize(
    "bad",
    [
        lambda: feistel.network(-1, 0, 0),
        lambda: feistel.network(2**63, 0, 0),
        lambda: feistel.network(True, 0, 0),
        lambda: feistel_blocks.network(5, 2**64, 0),
        lambda: feistel_blocks.network(5, 0, 2**32),
        lambda: feistel.sample_at(feistel.network(5, 0, 0), 5),
        lambda: feistel.position_of(feistel.network(5, 0, 0), -1),
        lambda: feistel.sample_at(feistel.network(0, 0, 0), 0),
        lambda: feistel_blocks.samples_at(feistel.network(5, 0, 0), range(3, 6)),
        lambda: feistel_blocks.samples_at(feistel.network(5, 0, 0), range(3, -2, -1)),
        lambda: feistel_blocks.positions_of(feistel.network(5, 0, 0), np.array([0, 5])),
    ],
)
def test_what_is_outside_the_epoch_is_refused(bad: Any) -> None:
    """A size, seed, epoch, position or sample that can't be is an error that says what can be."""
    with pytest.raises((TypeError, ValueError), match=r"is .*, but .*: give"):
        bad()
