"""What counts as a valid number, and the sentence that refuses anything else."""

import numpy as np
import pytest
import torch

from reference.rules.checks import check_flag, check_integer, check_rank, check_type, show


@pytest.mark.parametrize("value", [1, 7, np.int64(7), np.uint8(1), 10**30])
def test_an_integer_of_any_library_is_an_integer(value: object) -> None:
    """Integers pass, those of numpy and those of any size, and come out as int."""
    assert type(check_integer("batch_size", value)) is int


@pytest.mark.parametrize(
    "value", [True, False, 1.0, 2.5, "3", None, [1], np.bool_(True), np.float64(1), torch.tensor(1), object()]
)
def test_what_is_no_integer_is_refused(value: object) -> None:
    """A boolean, a fraction or a stranger is refused, and the sentence names both types (BATCH-5)."""
    with pytest.raises(TypeError, match=rf"^batch_size is .* of type {type(value).__name__}, but .* int: give"):
        check_integer("batch_size", value)


@pytest.mark.parametrize("value", [0, -1, -(10**40)])
def test_less_than_one_is_refused(value: int) -> None:
    """Zero and negative factors are refused with value, rule and mend (BATCH-4)."""
    with pytest.raises(ValueError, match=r"^batch_size is -?\d+, but must be at least 1: give 1 or more\.$"):
        check_integer("batch_size", value)


def test_the_upper_bound_is_allowed_and_nothing_above_it() -> None:
    """The greatest value passes; one more is refused."""
    assert check_integer("epoch", 9, most=9) == 9
    with pytest.raises(ValueError, match="epoch is 10, but must be at most 9: give 9 or less"):
        check_integer("epoch", 10, most=9)


@pytest.mark.parametrize(("rank", "world_size"), [(1, 1), (2, 2), (-1, 3), (0, 0), (5, -1)])
def test_a_rank_lies_below_the_world_size(rank: int, world_size: int) -> None:
    """0 <= rank < world size, or an error (BATCH-4)."""
    with pytest.raises(ValueError, match=r"^(rank|world size) is .*: .*give"):
        check_rank(rank, world_size)


@pytest.mark.parametrize("value", [10**5000, "x" * 500, [0] * 1000], ids=type)
def test_a_sentence_shows_any_value_shortly(value: object) -> None:
    """Huge values, even such that Python refuses to print, stay within a line."""
    assert len(show(value)) < 90


def test_a_huge_integer_out_of_bounds_is_still_a_sentence() -> None:
    """An int that Python refuses to print is refused in our words."""
    with pytest.raises(ValueError, match="epoch is an unprintable int, but must be at most 9"):
        check_integer("epoch", 10**5000, most=9)


@pytest.mark.parametrize("value", [1, 0, None, "yes", np.bool_(True)])
def test_a_flag_is_true_or_false(value: object) -> None:
    """Nothing but True and False is a flag."""
    with pytest.raises(TypeError, match="must be of type bool"):
        check_flag("drop_last", value)


def test_true_is_no_int_but_is_anything() -> None:
    """A boolean is refused where an int is asked for, and taken where anything is."""
    with pytest.raises(TypeError, match="of type bool, but must be of type int or float"):
        check_type("level", True, (int, float))
    check_type("level", True, object)
