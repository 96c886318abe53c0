"""Steps of a TensorDataset that are taken at once are those that are read sample by sample."""

from typing import Any

import pytest
import torch
from torch.utils.data import TensorDataset

import reference as poptorch
from reference.loading.collate import collate
from reference.loading.rows import take, tensors_at_once

ROWS = torch.arange(24.0).reshape(12, 2)
NUMBERS = torch.arange(12)


class OneByOne(TensorDataset):
    """The same data, of which each sample is read by itself."""


def steps(dataset: Any, **arguments: Any) -> list[Any]:
    """An epoch of a loader."""
    options = poptorch.Options().deviceIterations(2).randomSeed(7)
    loader = poptorch.DataLoader(options, dataset, batch_size=2, **arguments)
    return [tuple(column.tolist() for column in step) for step in loader]


@pytest.mark.filterwarnings("ignore:The last step of each epoch")
@pytest.mark.parametrize("num_workers", [0, 1])
@pytest.mark.parametrize("shuffle", [False, True])
def test_the_epochs_are_equal(shuffle: bool, num_workers: int) -> None:
    """In the main process and in a worker, in order and shuffled, the rest included."""
    asked = dict(shuffle=shuffle, num_workers=num_workers, drop_last=False)
    data = (ROWS[:11], NUMBERS[:11])
    assert steps(OneByOne(*data), **asked) == steps(TensorDataset(*data), **asked)


def test_a_step_is_the_users_own() -> None:
    """What is done to a step is not done to the dataset."""
    data = NUMBERS.clone()
    for (step,) in poptorch.DataLoader(poptorch.Options(), TensorDataset(data), batch_size=4):
        step.zero_()
    assert NUMBERS.tolist() == data.tolist()


@pytest.mark.parametrize("indices", [[0, 5, -1], [-12, -11], [3, 3, 3], [2, 3, 4]])
def test_any_indices_may_be_asked_for(indices: list[int]) -> None:
    """As Python's own: negative ones from the end, in any order, more than once."""
    rows = take((ROWS, NUMBERS), indices)
    assert rows is not None
    assert [ROWS[indices].tolist(), NUMBERS[indices].tolist()] == [column.tolist() for column in rows.batch]


@pytest.mark.parametrize("indices", [[12], [-13, 0], ["0"], [True], [torch.tensor(1)], []])
def test_what_is_no_index_is_read_one_by_one(indices: list[Any]) -> None:
    """So that the dataset says itself what is wrong."""
    assert take((ROWS,), indices) is None


@pytest.mark.parametrize(
    ("dataset", "collate_fn"),
    [
        (OneByOne(ROWS), collate),
        (TensorDataset(ROWS), list),
        (TensorDataset(ROWS.clone().requires_grad_()), collate),
        (TensorDataset(torch.eye(3).to_sparse()), collate),
        (range(5), collate),
    ],
    ids=["subclass", "collated by the user", "with gradients", "sparse", "no tensors"],
)
def test_others_are_read_sample_by_sample(dataset: Any, collate_fn: Any) -> None:
    """A dataset with code of its own, batches of the user's, and tensors that are not plain."""
    assert tensors_at_once(dataset, collate_fn) is None
