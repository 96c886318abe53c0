"""Samples that a collate function leaves out are counted, and no other rows are taken for samples."""

import pytest
import torch

from conformance.watch.rows import Rows


def lacking(*batches: tuple[int, tuple[int, ...]]) -> int:
    """What is told of batches: how many samples were drawn for each, and the rows of its tensors."""
    rows = Rows()
    for drawn, sizes in batches:
        rows.came(drawn, [torch.zeros(size, 3) if size else torch.tensor(1.0) for size in sizes])
    return rows.lacking


def test_what_a_collate_function_leaves_out_is_counted() -> None:
    """Beside a batch that has them all; a scalar beside the tensors has no rows."""
    assert 3 == lacking((8, (8, 8)), (8, (7, 7, 0)), (8, (6, 6)), (2, (2, 2)))


@pytest.mark.parametrize(
    "batches",
    [
        [(8, (8, 8)), (2, (2, 2))],
        [(8, (7,)), (8, (7,)), (7, (7,))],  # none of the largest has them all
        [(8, (8,)), (8, (3,))],  # images are channels first, or sequences were packed
        [(8, (8,)), (8, (9,)), (8, (7,))],
        [(8, (8, 8)), (8, (7, 8))],
        [(0, (3,)), (8, ())],  # nobody knows what was drawn, or there is no tensor
    ],
)
def test_what_has_other_rows_lacks_nothing(batches: list[tuple[int, tuple[int, ...]]]) -> None:
    """Rows that are not known to be samples are not held against a loader."""
    assert 0 == lacking(*batches)
