"""Joining batches that were collated alone: what becomes of each kind of value, and what is refused."""

from typing import Any

import numpy as np
import pytest
import torch

from reference.loading.join import join


def test_rows_are_joined_in_order() -> None:
    """However many each batch has."""
    assert [1, 2, 3] == join([torch.tensor([1]), torch.tensor([2, 3])]).tolist()
    assert ["a", "b", "c"] == join([np.array(["a"]), np.array(["b", "c"])]).tolist()


def test_values_of_no_axis_are_stacked() -> None:
    """One for each batch."""
    assert [1, 2] == join([torch.tensor(1), torch.tensor(2)]).tolist()
    assert [1, 2] == join([np.array(1), np.array(2)]).tolist()


def test_lists_of_text_follow_one_another() -> None:
    """So do empty ones, and those of bytes and None."""
    assert ["a", "b", None] == join([["a"], [], ["b", None]])
    assert [] == join([[], []])
    assert (None, [b"x", b"y"]) == join([(None, [b"x"]), (None, [b"y"])])


def test_a_list_of_tensors_is_joined_place_by_place() -> None:
    """As a tuple is."""
    assert [[1, 3], [2, 4]] == [
        each.tolist() for each in join([[torch.tensor([n]), torch.tensor([n + 1])] for n in (1, 3)])
    ]


REFUSED: list[tuple[list[Any], str]] = [
    (
        [torch.zeros(1, 1), torch.zeros(1, 2)],
        r"sizes of a row of the batches of one step differ: \(1,\) in the first, \(2,\)",
    ),
    ([torch.zeros(1), torch.zeros(1, dtype=torch.float64)], "dtypes of the batches"),
    ([torch.zeros(1), torch.tensor(0.0)], "numbers of axes"),
    ([np.zeros(1), np.zeros(1, dtype=np.float32)], "dtypes of the batches"),
    ([{"a": torch.zeros(1)}, {"b": torch.zeros(1)}], "keys of the batches"),
    ([[torch.zeros(1)], [torch.zeros(1)] * 2], "lengths of the batches"),
    ([torch.zeros(1), (torch.zeros(1),)], "types of the batches"),
    ([[], [torch.zeros(1)]], "lengths of the batches"),
    ([1, 2], "gives 1 of type int, which can't be joined"),
    (["a", "b"], "gives 'a' of type str, which can't be joined"),
]


@pytest.mark.parametrize(("batches", "told"), REFUSED)
def test_what_does_not_agree_is_refused(batches: list[Any], told: str) -> None:
    """Nothing is converted, cut or dropped: the sentence says in what they differ."""
    with pytest.raises(TypeError, match=told):
        join(batches)
