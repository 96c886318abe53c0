"""Writing a step straight into a slot gives what collating it first and copying it then gives."""

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import Dataset, TensorDataset

from reference.ahead.layout import Layout, layout_of, walk
from reference.ahead.producing import Order
from reference.ahead.ring import Place
from reference.ahead.supply import Batches
from reference.loading.collate import collate
from reference.loading.faults import Failure

Pair = namedtuple("Pair", ["left", "right"])


class Made(Dataset[Any]):
    """Sample i is what a function makes of i; counts what is read."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        self.make = make
        self.read: list[int] = []

    def __getitem__(self, index: int) -> Any:
        self.read.append(index)
        return self.make(index)


class Reused(Made):
    """Hands out one tensor and one array, again and again, with other values."""

    def __init__(self) -> None:
        super().__init__(self.fill)
        self.tensor, self.array = torch.zeros(3), np.zeros(2, np.int16)

    def fill(self, index: int) -> Any:
        """Fill both with the index."""
        self.array[:] = index
        return self.tensor.fill_(index), self.array, {"own": self.tensor[0]}


def supply(dataset: Any, collate_fn: Callable[[Any], Any] = collate) -> Batches:
    """Return what a producer of a loader asks for steps."""
    return Batches(dataset, collate_fn, None, workers=0, seed=0, rank=0)


def order(ask: list[int]) -> Order:
    """Return the order of item 3, made of these samples."""
    return Order(0, Place(0, 3), 0, ask)


def plain(dataset: Any, asks: list[list[int]], collate_fn: Callable[[Any], Any] = collate) -> list[Any]:
    """Return the steps, or the error of each, by way of collating."""
    found, layout = [], None
    for ask in asks:
        try:
            item = supply(dataset, collate_fn).item(order(ask))
            if isinstance(item, Failure):
                raise item.error
            layout = layout or layout_of(item)
            found.append(told(layout, lambda views, item=item, layout=layout: layout.put(item, views, 3)))
        except Exception as error:
            found.append(error)
    return found


def fast(dataset: Any, asks: list[list[int]], collate_fn: Callable[[Any], Any] = collate) -> list[Any]:
    """Return the steps, or the error of each, as a producer writes them."""
    made = supply(dataset, collate_fn)
    layout = layout_of(made.item(order(asks[0])))
    found = []
    for ask in asks:
        try:
            found.append(told(layout, lambda views, ask=ask: made.put(order(ask), layout, views)))
        except Exception as error:
            found.append(error)
    return found


def told(layout: Layout, put: Callable[[list[torch.Tensor]], Any]) -> Any:
    """Return what was put into a slot, with all bytes that the item may not touch, or the error that came instead."""
    memory = torch.full((layout.slot_bytes,), 0xAB, dtype=torch.uint8)
    views = layout.views(memory, 0)
    rows = put(views)
    if isinstance(rows, Failure):
        raise rows.error
    tensors = [(path, part.dtype, part.tolist()) for path, part in walk(layout.item(views, rows))]
    return rows, type(layout.item(views, rows)), tensors, memory.tolist()


def alike(dataset: Any, asks: list[list[int]]) -> None:
    """Check that both ways give the same."""
    assert fast(dataset, asks) == plain(dataset, asks)


TENSORS: dict[str, tuple[torch.Tensor, ...]] = {
    "images and labels": (torch.rand(9, 2, 3), torch.arange(9)),
    "one": (torch.arange(9),),
    "half, bool, bytes": (torch.rand(9, 2).half(), torch.arange(9) > 4, torch.arange(9, dtype=torch.uint8)),
    "bfloat16, complex": (torch.rand(9, 2).bfloat16(), torch.rand(9, 2, dtype=torch.complex64)),
    "not contiguous": (torch.rand(3, 9).t(), torch.arange(18)[::2]),
    "expanded": (torch.tensor([[1.0, 2.0]]).expand(9, 2),),
    "rows of no elements": (torch.zeros(9, 0, 2), torch.arange(9)),
    "requires_grad": (torch.rand(9, 2).requires_grad_(),),
}
ASKS: dict[str, list[list[int]]] = {
    "a run": [[0, 1, 2, 3], [4, 5, 6, 7], [8]],
    "shuffled": [[3, 0, 7, 1], [8, 2, 6, 4], [5]],
    "negative": [[-1, -2, -3, -4], [-9, 0, -1, 8], [-4, -3, -2, -1], [-1, 0]],
    "repeated": [[2, 2, 2, 2], [1, 2, 2, 1]],
    "backwards": [[3, 2, 1, 0], [1, 0]],
    "numbers of numpy": [[np.int64(1), np.int64(2)], [np.int64(0)]],
}


@pytest.mark.parametrize("ask", ASKS)
@pytest.mark.parametrize("name", TENSORS)
def test_rows_are_gathered_as_they_would_be_collated(name: str, ask: str) -> None:
    """Of a TensorDataset, whatever its tensors are and whichever rows are asked for."""
    alike(TensorDataset(*TENSORS[name]), ASKS[ask])


@pytest.mark.parametrize("ask", [[8, 9], [9], [9, 10], [0, 9], [-10], [-10, -9], [7, 8, 9, 10]])
def test_a_row_that_does_not_exist_is_an_error(ask: list[int]) -> None:
    """No other row is given in its place."""
    dataset = TensorDataset(torch.arange(9), torch.rand(9, 2))
    for way in (fast, plain):
        (_, error) = way(dataset, [[0, 1, 2, 3], ask])
        assert type(error) is IndexError


def test_a_dataset_derived_from_a_tensor_dataset_is_asked_itself() -> None:
    """It may give other samples than its tensors hold."""

    class Doubled(TensorDataset):
        def __getitem__(self, index: int) -> Any:
            return tuple(2 * part for part in super().__getitem__(index))

    alike(Doubled(torch.arange(9)), ASKS["shuffled"])
    assert fast(Doubled(torch.arange(9)), [[1, 2]])[0][2] == [("[0]", torch.int64, [2, 4])]


SAMPLES: dict[str, Callable[[int], Any]] = {
    "number": lambda i: i,
    "fraction": lambda i: i / 2,
    "bool": lambda i: i > 4,
    "complex": lambda i: complex(i, -i),
    "number then fraction": lambda i: (i, [i, i / 2]),
    "tensor": lambda i: torch.full((2, 3), i),
    "tensor of no dimension": lambda i: torch.tensor(i),
    "array": lambda i: np.full((2, 3), i, np.float32),
    "numbers of numpy": lambda i: (np.float64(i), np.int16(i), np.bool_(i > 4)),
    "foreign byte order": lambda i: np.full(2, i, ">i4"),
    "array that is no copy": lambda i: np.arange(20)[::2],
    "all kinds": lambda i: {"t": torch.full((2,), i), "n": i, "a": np.full(2, i), "s": np.float32(i), "b": i % 2 == 0},
    "nested": lambda i: Pair([i, (torch.tensor([i]), {"x": np.int8(i)})], ()),
    "keys in another order": lambda i: {"a": i, "b": -i} if i % 2 else {"b": -i, "a": i},
    "requires_grad": lambda i: torch.full((2,), i / 2).requires_grad_(),
    "int8, half": lambda i: (torch.full((2,), i, dtype=torch.int8), torch.full((3,), i).half()),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_are_written_as_they_would_be_collated(name: str) -> None:
    """Whatever they consist of; the last step is smaller."""
    alike(Made(SAMPLES[name]), [[0, 1, 2, 3], [7, 5, 6, 4], [8]])


def test_a_dataset_may_reuse_its_buffers() -> None:
    """Each sample is copied before the next one is read (WORK-16)."""
    asks = [[0, 1, 2, 3], [7, 5, 6, 4], [8]]
    alike(Reused(), asks)
    assert fast(Reused(), asks)[1][2][1] == ("[1]", torch.int16, [[7, 7], [5, 5], [6, 6], [4, 4]])


def test_each_sample_is_read_once() -> None:
    """In the order of the step (WORK-2)."""
    dataset = Made(SAMPLES["all kinds"])
    made = supply(dataset)
    layout = layout_of(made.item(order([0, 1])))
    dataset.read = []
    told(layout, lambda views: made.put(order([5, 3]), layout, views))
    assert dataset.read == [5, 3]


def odd(usual: Any, other: Any) -> Callable[[int], Any]:
    """Return a function that makes `other` of 5 and of 8, and `usual` of all else."""
    return lambda i: other if i in (5, 8) else usual


UNLIKE: dict[str, Callable[[int], Any]] = {
    "dtype": odd(torch.zeros(2), torch.zeros(2).double()),
    "dtype of an array": odd(np.zeros(2, np.float32), np.zeros(2)),
    "shape": odd(torch.zeros(2), torch.zeros(3)),
    "one row for many": odd(torch.zeros(2), torch.zeros(1)),
    "dimensions": odd(torch.zeros(2), torch.tensor(0.0)),
    "number and tensor": odd(torch.tensor(1), 1),
    "number and fraction": odd((1, 1), (1, 1.5)),
    "bool and number": odd(True, 1),
    "array and tensor": odd(torch.zeros(2), np.zeros(2, np.float32)),
    "number of numpy and tensor": odd(torch.tensor(1), np.int64(1)),
    "tuple and list": odd((1, 2), [1, 2]),
    "lengths": odd((1, 2), (1, 2, 3)),
    "keys": odd({"a": 1}, {"b": 1}),
    "text": odd(1, "a"),
    "text of an array": odd(np.zeros(2), np.array(["a", "b"])),
    "nothing": odd((1, 2), (1, None)),
    "a container": odd((1, 2), (1, (2, 3))),
    "an object": odd(1, object()),
    "a sparse tensor": odd(torch.zeros(2), torch.zeros(2).to_sparse()),
}


@pytest.mark.parametrize("name", UNLIKE)
def test_samples_that_differ_are_refused_both_ways(name: str) -> None:
    """Within a step, and from step to step; told by the item's number, or as collating tells it (ASYNC-11)."""
    dataset = Made(UNLIKE[name])
    asks = [[0, 1, 2, 3], [4, 5, 6, 7], [5, 8], [5]]
    quick, slow = fast(dataset, asks), plain(dataset, asks)
    is_error = [isinstance(each, Exception) for each in quick]
    assert (quick[0], is_error) == (slow[0], [isinstance(each, Exception) for each in slow])
    assert is_error[:2] == [False, True]
    told = [str(each).split("\n")[0] for each in quick if isinstance(each, Exception)]
    assert [text for text in told if "tem 3 " not in text and text not in map(str, slow)] == []


def test_a_step_larger_than_the_first_is_refused() -> None:
    """There is no room for it, and no part of it is delivered (ASYNC-11)."""
    for dataset in (Made(lambda i: i), TensorDataset(torch.arange(9))):
        (_, error, last) = fast(dataset, [[0, 1], [2, 3, 4], [5]])
        assert (type(error), last[0]) == (ValueError, (1,))
        assert str(error).startswith("Item 3 ")
        assert str(error) == str(plain(dataset, [[0, 1], [2, 3, 4]])[1])


class Fails(Made):
    """Sample 5 does not exist."""

    def __init__(self) -> None:
        super().__init__(lambda i: 1 // (5 - i))


def test_a_failing_sample_ends_its_step() -> None:
    """The error is the dataset's own, and no sample after it is read (ERROR-1, WORK-2)."""
    dataset = Fails()
    assert type(fast(dataset, [[0, 1, 2], [4, 5, 6]])[1]) is ZeroDivisionError
    assert dataset.read == [0, 1, 2, 0, 1, 2, 4, 5]


class InBatches(Made):
    """Reads whole steps."""

    def __init__(self) -> None:
        super().__init__(lambda i: i)
        self.steps: list[list[int]] = []

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self.steps.append(indices)
        return [10 * index for index in indices]


def test_a_dataset_that_reads_steps_is_asked_for_steps() -> None:
    """Once for each, and never for a sample."""
    dataset = InBatches()
    found = fast(dataset, [[0, 1], [5, 3], [2]])
    assert [each[2][0][2] for each in found] == [[0, 10], [50, 30], [20]]
    assert (dataset.steps, dataset.read) == ([[0, 1], [0, 1], [5, 3], [2]], [])


@pytest.mark.parametrize("dataset", [TensorDataset(torch.arange(9)), Made(lambda i: (i,))])
def test_another_collate_function_decides_alone(dataset: Any) -> None:
    """No short way around it."""

    def total(samples: Any) -> torch.Tensor:
        return torch.tensor([sum(int(value) for (value,) in samples)])

    assert fast(dataset, [[0, 1], [5, 3], [2]], total) == plain(dataset, [[0, 1], [5, 3], [2]], total)
    assert fast(dataset, [[0, 1], [5, 3]], total)[1][2] == [("", torch.int64, [8])]
