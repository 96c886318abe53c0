"""How samples are found in whatever a loader yields."""

from collections import OrderedDict, namedtuple
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from conformance.loader.datasets import FIRST_SAMPLE, MapDataset, Undecodable, decode

Pair = namedtuple("Pair", ["first", "second"])


@pytest.mark.parametrize(
    ("batch", "samples"),
    [
        (7, [7]),
        ([1, 2], [1, 2]),
        ((1, 2), [1, 2]),
        ([], []),
        ({}, []),
        ((), []),
        ([[1, 2], [3]], [1, 2, 3]),
        ({"x": [1, 2]}, [1, 2]),
        (OrderedDict(x=[1], y=[2]), [1, 2]),
        ({"x": {"y": (1, [2])}}, [1, 2]),
        (Pair([1], [2]), [1, 2]),
        (range(2, 4), [2, 3]),
        ({3}, [3]),
        (np.int64(5), [5]),
        (np.array([1, 2]), [1, 2]),
        (np.array([[1, 2], [3, 4]], dtype=np.uint8), [1, 2, 3, 4]),
        (np.array(6), [6]),
        (np.array([1.0, 2.0]), [1, 2]),
        (np.float64(5.0), [5]),
        (np.array([]), []),
        ([np.array([1]), 2], [1, 2]),
        (torch.tensor([1, 2]), [1, 2]),
        (torch.tensor([[1], [2]], dtype=torch.int32), [1, 2]),
        (torch.tensor(6), [6]),
        (torch.tensor([1.0, 2.0]), [1, 2]),
        (torch.tensor([1.0], requires_grad=True), [1]),
        (torch.tensor([]), []),
        ([torch.tensor([1]), torch.tensor([2])], [1, 2]),
        ({"x": torch.tensor([1]), "y": [torch.tensor(2)]}, [1, 2]),
        (1000.0, [1000]),
        ([1000.0, 1001.0], [1000, 1001]),
    ],
)
def test_samples_are_found(batch: Any, samples: list[int]) -> None:
    """Tensors, arrays, numbers and containers are read, nested or not, in order."""
    assert samples == decode(batch)


def test_a_float_that_cannot_tell_neighbours_apart_is_not_read() -> None:
    """bfloat16 has one number for samples 0 to 3: whoever read it would see repeats that are none."""
    with pytest.raises(TypeError, match="BFloat16"):
        decode(torch.tensor([1001.0], dtype=torch.bfloat16))


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (None, "a batch holds None, which is no sample; give the adapter a decode(batch)"),
        (True, "a batch holds True, which is no sample"),
        ("1000", "a batch holds '1000', which is no sample"),
        (b"1000", "a batch holds b'1000', which is no sample"),
        ([1, None], "a batch holds None"),
        ({"path": "a.jpg"}, "a batch holds 'a.jpg'"),
        (object(), "a batch is a object, which can't be read; give the adapter a decode(batch)"),
        (SimpleNamespace(x=1), "a batch is a SimpleNamespace, which can't be read"),
        (iter([1]), "a batch is a list_iterator, which can't be read"),
        (Decimal(1), "a batch is a Decimal, which can't be read"),
        (1.5, "a batch is an array of float64, which holds no sample ids"),
        (float("nan"), "a batch is an array of float64, which holds no sample ids"),
        (float("inf"), "a batch is an array of float64, which holds no sample ids"),
        (1j, "a batch is a complex, which can't be read"),
        (
            np.array([1.5]),
            "a batch is an array of float64, which holds no sample ids; give the adapter a decode(batch)",
        ),
        (np.array([np.nan]), "a batch is an array of float64"),
        (np.array([np.inf]), "a batch is an array of float64"),
        (np.array([True]), "a batch is an array of bool"),
        (np.array(["a"]), "a batch is an array of <U1"),
        (np.array([None]), "a batch is an array of object"),
        (np.array([1], dtype="datetime64[s]"), "a batch is an array of datetime64[s]"),
        (torch.tensor([0.5]), "a batch is an array of float32"),
        (torch.tensor([True]), "a batch is an array of bool"),
        (torch.tensor([1000.0], dtype=torch.float16), "a batch is an array of float16"),
    ],
)
def test_what_holds_no_samples_is_told(batch: Any, sentence: str) -> None:
    """Whatever is no whole number is told, and never guessed at."""
    with pytest.raises(Undecodable) as error:
        decode(batch)
    assert sentence in str(error.value)


def test_what_an_array_does_not_hand_out_is_its_own_error() -> None:
    """An error in the batch's own code comes through as it is."""

    class Broken:
        def __array__(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("on another device")

    with pytest.raises(RuntimeError, match="on another device"):
        decode(Broken())


def test_sample_0_is_no_small_number() -> None:
    """A buffer of zeros, or an index in place of a sample, is no sample."""
    dataset = MapDataset(3)
    assert [FIRST_SAMPLE, FIRST_SAMPLE + 1, FIRST_SAMPLE + 2] == [dataset[index] for index in range(3)]


def test_a_dataset_ends_for_whoever_iterates_over_it() -> None:
    """Python's sequence protocol works on the probe: `for` ends, negative indices count from the end."""
    dataset = MapDataset(3)
    assert ([1000, 1001, 1002], 3, 1002) == (list(dataset), len(dataset), dataset[-1])


@pytest.mark.parametrize("index", [3, -4])
def test_an_index_outside_is_an_error(index: int) -> None:
    """An index that no sample has is refused."""
    with pytest.raises(IndexError, match="of a dataset of 3; valid are 0 to 2"):
        MapDataset(3)[index]


def test_the_empty_dataset_has_no_sample() -> None:
    """Nothing can be read from it."""
    with pytest.raises(IndexError):
        MapDataset(0)[0]


def test_an_index_of_any_library_is_an_index() -> None:
    """numpy's and torch's integers are indices too."""
    assert [1002, 1002] == [MapDataset(3)[np.int64(2)], MapDataset(3)[torch.tensor(2)]]  # type: ignore[index]
