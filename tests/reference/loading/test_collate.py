"""How samples become a batch, and whose it is then."""

from collections import OrderedDict, defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import reference as poptorch
from reference.loading.collate import collate, convert, own
from tests.reference.reference_probes import Numbers, options


class Point(NamedTuple):
    """A named tuple."""

    x: int
    name: str


class Tagged(dict[str, int]):
    """A dict of a type of its own, with an attribute."""

    tag = ""


TORCH_DTYPES = [
    *(torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32),
    *(torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128),
]


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
def test_tensors_keep_their_dtype(dtype: torch.dtype) -> None:
    """Two tensors are stacked, in whatever dtype (WORK-17)."""
    made = collate([torch.tensor([0, 1]).to(dtype), torch.tensor([1, 1]).to(dtype)])
    assert made.dtype is dtype
    assert made.to(torch.complex128).tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "u2", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_arrays_become_tensors_of_the_same_dtype(dtype: str) -> None:
    """Arrays, zero-dimensional ones and numpy's numbers (WORK-17)."""
    one = np.ones((), dtype)
    expected = torch.from_numpy(np.ones(2, dtype))
    for sample in (one, one[()]):
        made = collate([sample, sample])
        assert (expected.dtype, expected.tolist()) == (made.dtype, made.tolist())


@pytest.mark.parametrize("array", [np.array(["ab", "c"]), np.array(["2001-01-01"], "M8[D]"), np.array([1], "g")])
def test_arrays_without_a_torch_dtype_stay_arrays(array: Any) -> None:
    """What torch can't hold is stacked by numpy (WORK-17)."""
    made = collate([array, array])
    assert (made.dtype, made.tolist()) == (array.dtype, [array.tolist()] * 2)
    assert convert(array).dtype == array.dtype


def test_a_foreign_byte_order_becomes_ours() -> None:
    """The values stay (WORK-17)."""
    sample = np.array([1, 2], ">i4")
    assert (collate([sample]).tolist(), convert(sample).tolist()) == ([[1, 2]], [1, 2])


@pytest.mark.parametrize(
    ("values", "dtype"),
    [([True, False], torch.bool), ([1, 2], torch.int64), ([0, 0.5], torch.float64), ([1j, 2j], torch.complex128)],
)
def test_numbers_become_tensors(values: list[Any], dtype: torch.dtype) -> None:
    """Each kind of number has its dtype (WORK-17)."""
    assert (collate(values).dtype, collate(values).tolist()) == (dtype, values)


@pytest.mark.parametrize("value", ["text", b"bytes", None, np.str_("text")])
def test_text_bytes_and_none_are_listed(value: Any) -> None:
    """There is no tensor of them (WORK-17)."""
    assert collate([value, value]) == [value, value]


def test_containers_keep_their_types() -> None:
    """Tuples, named tuples, lists, dicts and what derives from them, nested (WORK-17)."""
    sample = (Point(1, "a"), [None, {"k": (b"b",)}], OrderedDict(z=2, a=3), defaultdict(list, q="r"))
    made = collate([sample, sample])
    assert [type(item) for item in made] == [Point, list, OrderedDict, defaultdict]
    assert (made[0].x.tolist(), made[0].name) == ([1, 1], ["a", "a"])
    assert made[1] == [[None, None], {"k": ([b"b", b"b"],)}]
    assert [(key, value.tolist()) for key, value in made[2].items()] == [("z", [2, 2]), ("a", [3, 3])]
    assert made[3].default_factory is list


def test_a_dict_of_another_type_keeps_its_attributes() -> None:
    """What a subclass holds beside its items comes from the first sample (WORK-17)."""
    sample = Tagged(a=1)
    sample.tag = "t"
    assert (type(collate([sample])), collate([sample]).tag) == (Tagged, "t")


@pytest.mark.parametrize("empty", [(), [], {}, "", b""])
def test_empty_containers_stay_empty(empty: Any) -> None:
    """Empty ones keep their type; text and bytes are listed (WORK-17)."""
    assert collate([empty, empty]) == ([empty, empty] if isinstance(empty, str | bytes) else empty)
    assert convert(empty) == empty


@pytest.mark.parametrize(
    "samples",
    [
        [1, "a"],
        [None, 1],
        [True, 1],
        [(1,), [1]],
        [(1,), (1, 2)],
        [{"a": 1}, {"a": 1, "b": 2}],
        [torch.tensor(1), torch.tensor(0.5)],
        [np.int32(1), np.int64(1)],
    ],
)
def test_samples_that_do_not_agree_are_refused(samples: list[Any]) -> None:
    """Nothing is converted, cut or dropped in silence (WORK-17)."""
    with pytest.raises(TypeError, match="of the samples of one step differ"):
        collate(samples)


def test_other_types_are_refused() -> None:
    """The error names the type and the mend."""
    with pytest.raises(TypeError, match=r"of type set, which can't be collated.*collate_fn"):
        collate([{1}, {2}])


def test_an_unchanged_tuple_is_not_copied() -> None:
    """Nobody can change it, so it is the user's own already; a list is not (WORK-16)."""
    unchangeable, changeable = (1, ("a", None)), ([1],)
    assert own(unchangeable) is unchangeable
    assert own(changeable)[0] is not changeable[0]


class OneBuffer(Numbers):
    """Fills one and the same buffer for every sample."""

    def __init__(self, samples: int, buffer: Any) -> None:
        super().__init__(samples)
        self.buffer = buffer

    def __getitem__(self, index: int) -> Any:
        self.buffer[:] = [index] if isinstance(self.buffer, list) else index
        return self.buffer


class OneBufferStream(torch.utils.data.IterableDataset[Any]):
    """The same as a stream."""

    def __init__(self, samples: int, buffer: Any) -> None:
        self.dataset = OneBuffer(samples, buffer)

    def __iter__(self) -> Iterator[Any]:
        return (self.dataset[index] for index in range(self.dataset.samples))


BUFFERS = {"tensor": lambda: torch.zeros(1), "array": lambda: np.zeros(1), "list": lambda: [0]}


@pytest.mark.parametrize(
    ("buffer", "kind", "workers", "size"), list(product(BUFFERS, (OneBuffer, OneBufferStream), (0, 1), (None, 1, 2)))
)
def test_kept_steps_do_not_change(buffer: str, kind: type, workers: int, size: int | None) -> None:
    """A dataset may use one buffer for all samples, in steps of any size or none (WORK-16)."""
    made = poptorch.DataLoader(
        options(), kind(4, BUFFERS[buffer]()), size, num_workers=workers, persistent_workers=False
    )
    kept = [np.concatenate([np.ravel(part) for part in step]).tolist() for step in [*made]]
    assert [int(sample) for step in kept for sample in step] == [0, 1, 2, 3]


@pytest.mark.parametrize("workers", [0, 1])
def test_the_users_collate_function_gets_samples_of_its_own(workers: int) -> None:
    """Copies are made when a sample is read, so they reach any collate function (WORK-16)."""
    made = poptorch.DataLoader(options(), OneBuffer(4, np.zeros(1)), 2, num_workers=workers, collate_fn=list)
    assert [[int(sample[0]) for sample in step] for step in [*made]] == [[0, 1], [2, 3]]
    made.terminate()


@pytest.mark.parametrize("workers", [0, 1])
def test_types_survive_the_way_from_a_worker(workers: int) -> None:
    """A step has the same types whoever collates it (WORK-17)."""
    samples = [(Point(i, "a"), None, torch.tensor(i, dtype=torch.int8)) for i in range(4)]
    made = poptorch.DataLoader(options(), samples, 4, num_workers=workers, persistent_workers=False)
    (point, none, tensor), *rest = made
    assert (type(point), point.name, none, tensor.dtype, rest) == (Point, ["a"] * 4, [None] * 4, torch.int8, [])
