"""What is expected of the distances between neighbours, and when too much of it is held against a shuffle."""

from itertools import permutations
from random import Random
from statistics import fmean, pvariance

import pytest

from conformance.epochs.chances import chi_square_limit
from conformance.epochs.differences import (
    chi_square,
    differences,
    equal_pairs,
    mean_of_equal_pairs,
    uneven_differences,
)


def drawn(size: int, count: int) -> list[tuple[int, ...]]:
    """So many orders of a good generator."""
    random = Random(size)
    return [tuple(random.sample(range(size), size)) for _ in range(count)]


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_the_chi_square_has_the_mean_of_its_degrees_of_freedom(size: int) -> None:
    """Over all n! orders the sum is n - 2 on average, exactly, as the covariance says that is derived."""
    values = []
    for order in permutations(range(size)):
        found = differences(order)
        values.append(chi_square([found[step] for step in range(1, size)], 1))
    assert fmean(values) == pytest.approx(size - 2)


@pytest.mark.parametrize("size", [5, 6, 7, 8])
def test_the_mean_of_equal_differences_is_exact(size: int) -> None:
    """Over all n! orders there are as many pairs as the formula says."""
    assert fmean(equal_pairs(differences(order)) for order in permutations(range(size))) == pytest.approx(
        mean_of_equal_pairs(size)
    )


@pytest.mark.parametrize("size", [16, 100])
def test_the_variance_of_equal_differences_is_not_taken_too_small(size: int) -> None:
    """3,000 orders have less than what is taken, and more than half of it."""
    found = pvariance([equal_pairs(differences(order)) for order in drawn(size, 3_000)])
    assert size / 4 < found < size / 2 + 2


@pytest.mark.parametrize(("size", "count"), [(5, 1_000), (8, 1_000), (16, 2_000), (64, 400), (4_096, 4)])
def test_a_good_shuffle_is_not_accused(size: int, count: int) -> None:
    """Orders of a good generator pass, as many as the gate reads."""
    assert uneven_differences(drawn(size, count)) is None


def test_a_difference_that_is_preferred_is_named() -> None:
    """One order in five steps through the dataset by 3."""
    steps = tuple(3 * at % 8 for at in range(8))
    kind, line = uneven_differences([steps if at % 5 == 0 else order for at, order in enumerate(drawn(8, 1_000))]) or (
        "",
        "",
    )
    assert "uneven-differences" == kind
    assert line.startswith("a sample is 3 after the one before it, modulo 8, ")


def test_orders_that_each_prefer_a_difference_of_their_own_are_named() -> None:
    """Each steps by another number: over all orders every difference comes equally often."""
    orders = [tuple((1 + at % 16) * place % 17 for place in range(17)) for at in range(96)]
    kind, line = uneven_differences(orders) or ("", "")
    assert "repeated-differences" == kind
    assert line.startswith("13056 pairs of neighbours lie equally far apart, modulo 17, ")


def test_a_limit_lies_as_far_out_as_it_says() -> None:
    """Of 10 and of 100 degrees of freedom, what is passed once in a million times (published tables), or a bit more."""
    limits = [chi_square_limit(10, 4.7534), chi_square_limit(100, 4.7534)]
    assert limits >= [46.86, 182.13]
    assert limits == pytest.approx([46.86, 182.13], rel=0.03)
