"""Kinds of sample: decides what a sample is if it is not a number, and whether a batch has kept what it was given.

A loader may collate samples column by column, as torch does (a batch of dicts is a dict of batches), or hand them over
as a list. Either way each leaf keeps its value, a tensor or array its dtype, text, bytes and None stay what they are,
and a dict, a tuple and a named tuple stay one (WORK-17).
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from conformance.loader.conducts import ODD_KINDS
from conformance.loader.datasets import FIRST_SAMPLE


class Pair(NamedTuple):
    """A named tuple, as a dataset may give it."""

    left: int
    right: float


# By dtype: numbers up to about here are exact in it, and in none that is shorter.
_LARGEST = {
    **{"uint8": 2**8, "int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**40, "bool": 0},
    **{"float16": 2**10, "float32": 2**22, "float64": 2**40, "complex64": 2**22},
}


def sample_of(kind: str, value: int, holder: Any) -> Any:
    """The sample of a kind whose number is `value`.

    `holder` keeps the buffer of the kind "buffer", and has the `length` that says which sample of an odd kind is odd.
    """
    if kind == "":
        return value
    if kind == "aging":
        return value + AGE * holder.watch.epoch()
    if kind == "buffer":
        if holder.buffer is None:
            holder.buffer = np.zeros(1, dtype=np.int64)
        holder.buffer[0] = value
        return holder.buffer
    if kind == "large":
        return np.full(8192, value, dtype=np.int64)
    if kind == "big":
        return np.full(BIG, value, dtype=np.int64)
    if kind in ODD_KINDS:
        odd = value - FIRST_SAMPLE == odd_one(holder.length)
        return _ODD[kind](value) if odd else np.full((40, 30), value, dtype=_USUAL.get(kind, np.int64))
    return _MAKERS[kind](value - FIRST_SAMPLE)


BIG = 131_072  # numbers of a sample of the kind "big"
AGE = 2**20  # what a sample of the kind "aging" grows by in an epoch


def types_of(kind: str) -> frozenset[str]:
    """How a loader may call the types in the samples of a kind; integers are what all loaders take."""
    # Where samples have unlike keys, a key names what can't be collated.
    keys = {"extra", "key", "keys"} if kind == "optional" else set()
    return frozenset({*_types(sample_of(kind, FIRST_SAMPLE, None)), *keys}) - {"int"}


def _types(sample: Any) -> Iterator[str]:
    yield type(sample).__name__
    if sample is None:
        yield "None"
    if hasattr(sample, "dtype"):
        yield str(sample.dtype).removeprefix("torch.")
    parts = sample.values() if isinstance(sample, dict) else sample if isinstance(sample, tuple) else ()
    for part in parts:
        yield from _types(part)


def odd_one(length: int) -> int:
    """Which sample of this many is unlike those before it."""
    return length // 2


# No size is a number that the odd sample may have: an error that tells sizes must tell its number as well.
_ODD: dict[str, Any] = {
    "dtype": lambda value: np.full((40, 30), value + 0.5),
    "narrow": lambda value: np.full(30, value, dtype=np.int64),  # would be repeated to fill the place of a usual one
    "wide": lambda value: np.full((41, 30), value, dtype=np.int64),
    "turned": lambda value: np.full((30, 40), value, dtype=np.int64),  # as many numbers, in another shape
    # Of the kind of number that the others are, and no shorter one holds them.
    "longer": lambda value: np.full((40, 30), value + 2**40, dtype=np.int64),
    "finer": lambda value: np.full((40, 30), value + 1 / 3),
    # Of another kind, into which NumPy calls its cast safe.
    "counted": lambda value: np.full((40, 30), value + 2**53 + 1 - value % 2, dtype=np.int64),
}
# Those before it, where they are not of int64.
_USUAL: dict[str, Any] = {"longer": np.int32, "finer": np.float32, "counted": np.float64}
_MAKERS: dict[str, Any] = {
    "tensors": lambda i: (
        {name: _tensor(i, name) for name in _LARGEST} if "torch" in sys.modules else {"int64": _array(i)}
    ),
    "arrays": lambda i: {name: _array(i, name) for name in _LARGEST},
    # What stands at their end is theirs as well: arrays of text cut zeros off.
    "text": lambda i: {"text": f"sample {i}\0", "bytes": f"sample {i}\0".encode()},
    "none": lambda i: {"number": i, "nothing": None},
    # As exact as Python has them.
    "dict": lambda i: {"a": i, "b": {"c": i + 0.1}},
    "tuple": lambda i: (i, i + 0.1),
    "named": lambda i: Pair(i, i + 0.1),
    "nested": lambda i: {"a": (i, {"b": f"sample {i}"}), "c": Pair(i, i + 0.1)},
    "empty": lambda i: {"number": i, "dict": {}, "tuple": ()},
    "absent": lambda i: None,
    "long": lambda i: "x" * 2**20,
    # What the first one lacks.
    "optional": lambda i: {"number": i, "extra": -i} if i else {"number": i},
}


def _array(i: int, name: str = "int64") -> Any:
    return np.asarray(_numbers(i, name), dtype=name)


def _tensor(i: int, name: str) -> Any:
    torch = sys.modules["torch"]
    return torch.tensor(_numbers(i, name), dtype=getattr(torch, name))


def _numbers(i: int, name: str) -> list[Any]:
    """Two numbers that a shorter dtype would change, as far as this one holds them; other ones in each sample."""
    if name == "bool":
        return [bool(i % 2), not i % 2]
    number = _LARGEST[name] - 7 - i
    return [number + 1j * i, i + 0.5j] if name == "complex64" else [number, i + (0.25 if "float" in name else 0)]


def infidelity(samples: list[Any], batch: Any) -> str:
    """What the batch lost of these samples, in a few words; "" if nothing."""
    if _is_list(batch, samples[0]) and len(batch) == len(samples) and not _lost_in_list(samples, batch):
        return ""
    return _lost(samples, batch, "a sample")


def _is_list(batch: Any, sample: Any) -> bool:
    """Whether it can be the samples one after the other: a list, a subclass of it, a deque, an array of objects."""
    if isinstance(batch, tuple):
        # Nobody takes a tuple of samples for columns, unless each sample is a tuple itself.
        return not isinstance(sample, tuple)
    is_sequence = isinstance(batch, Sequence) and not isinstance(batch, str | bytes)
    return is_sequence or (isinstance(batch, np.ndarray) and batch.dtype == object and batch.ndim == 1)


def _lost_in_list(samples: list[Any], batch: Any) -> bool:
    return any(
        type(one) is not type(other) or not _equal(one, other) for one, other in zip(samples, batch, strict=True)
    )


def _lost(samples: list[Any], batch: Any, place: str) -> str:
    first = samples[0]
    if isinstance(first, dict):
        return _lost_in_dict(samples, batch, place)
    if isinstance(first, tuple):
        return _lost_in_tuple(samples, batch, place)
    if first is None or isinstance(first, str | bytes):
        kept = isinstance(batch, list | tuple) and list(batch) == samples
        return "" if kept or (first is None and batch is None) else f"{place}: {_name(first)} became {_in_words(batch)}"
    return _lost_in_numbers(samples, batch, place)


def _lost_in_dict(samples: list[Any], batch: Any, place: str) -> str:
    if type(batch) is not type(samples[0]) or set(batch) != {key for sample in samples for key in sample}:
        kept = f" with the keys {', '.join(map(str, batch))} alone" if isinstance(batch, dict) else ""
        return f"{place}: {_name(samples[0])} became {_in_words(batch)}{kept}"
    # What stands for a key that a sample lacks is open.
    common = [key for key in samples[0] if all(key in sample for sample in samples)]
    losses = (_lost([sample[key] for sample in samples], batch[key], f"{place}[{key!r}]") for key in common)
    return next((loss for loss in losses if loss), "")


def _lost_in_tuple(samples: list[Any], batch: Any, place: str) -> str:
    if type(batch) is not type(samples[0]) or len(batch) != len(samples[0]):
        return f"{place}: {_name(samples[0])} became {_in_words(batch)}"
    columns = zip(*samples, strict=True)
    losses = (_lost(list(column), batch[at], f"{place}[{at}]") for at, column in enumerate(columns))
    return next((loss for loss in losses if loss), "")


def _lost_in_numbers(samples: list[Any], batch: Any, place: str) -> str:
    expected = np.stack([np.asarray(sample) for sample in samples])
    found = np.asarray(batch)
    if found.shape != expected.shape or not bool((found == expected).all()):
        return f"{place}: the values changed, {_in_words(batch)}"
    # A Python number has no dtype to keep; a tensor and an array have.
    if hasattr(samples[0], "dtype") and str(found.dtype) != str(expected.dtype):
        return f"{place}: {expected.dtype} became {found.dtype}"
    return ""


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    if hasattr(one, "dtype"):
        # Not all(): arrays of two shapes may be equal once one is repeated.
        return str(one.dtype) == str(other.dtype) and np.array_equal(np.asarray(one), np.asarray(other))
    return bool(one == other)


def _name(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _in_words(value: Any) -> str:
    return _name(value) if not hasattr(value, "dtype") else f"{_name(value)} of {value.dtype}"
