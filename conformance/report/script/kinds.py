"""Kinds of sample: decides what a sample is if it is no number, and what a batch may make of it (WORK-17).

As in `conformance.loader.samples`. Where samples are arrays, NumPy makes them: it is what the case is about.
"""

import sys
from typing import Any, NamedTuple

SAMPLES = 0


def make_sample(index: int) -> Any:
    """Stands for one of the kinds below."""
    raise NotImplementedError


def reused_buffer() -> Any:
    """The one array that the dataset gives each time, with another number in it."""
    return globals().setdefault("BUFFER", sys.modules["numpy"].zeros(1, dtype="int64"))


def buffer_sample(index: int) -> Any:
    """The same array at each read, with a new number in it."""
    reused_buffer()[0] = 1000 + index
    return reused_buffer()


def large_sample(index: int) -> Any:
    """An array of 64 KiB."""
    return sys.modules["numpy"].full(8192, 1000 + index, dtype="int64")


def arrays_sample(index: int) -> Any:
    """An array of each dtype."""
    array = sys.modules["numpy"].asarray
    return {name: array(two_numbers(index, name), dtype=name) for name in largest_numbers()}


def tensors_sample(index: int) -> Any:
    """A tensor of each dtype; where the implementation has not loaded torch, an array."""
    if "torch" not in sys.modules:
        return {"int64": sys.modules["numpy"].asarray(two_numbers(index, "int64"), dtype="int64")}
    torch = sys.modules["torch"]
    return {name: torch.tensor(two_numbers(index, name), dtype=getattr(torch, name)) for name in largest_numbers()}


def largest_numbers() -> dict[str, int]:
    """By dtype: numbers up to about here are exact in it, and in none that is shorter."""
    sizes = {"uint8": 2**8, "int8": 2**7, "int16": 2**15, "int32": 2**31, "int64": 2**40, "bool": 0}
    return {**sizes, "float16": 2**10, "float32": 2**22, "float64": 2**40, "complex64": 2**22}


def two_numbers(index: int, name: str) -> list[Any]:
    """Two numbers that a shorter dtype would change, as far as this one holds them; other ones in each sample."""
    if name == "bool":
        return [bool(index % 2), not index % 2]
    number = largest_numbers()[name] - 7 - index
    return (
        [number + 1j * index, index + 0.5j]
        if name == "complex64"
        else [number, index + (0.25 if "float" in name else 0)]
    )


def text_sample(index: int) -> Any:
    """Text and bytes."""
    return {"text": f"sample {index}\0", "bytes": f"sample {index}\0".encode()}


def none_sample(index: int) -> Any:
    """A number beside None."""
    return {"number": index, "nothing": None}


def dict_sample(index: int) -> Any:
    """A nested dict."""
    return {"a": index, "b": {"c": float(index)}}


def tuple_sample(index: int) -> Any:
    """A tuple."""
    return (index, float(index))


class Pair(NamedTuple):
    """A named tuple, as a dataset may give it."""

    left: int
    right: float


def named_sample(index: int) -> Any:
    """A named tuple."""
    return Pair(index, float(index))


def nested_sample(index: int) -> Any:
    """All of them nested."""
    return {"a": (index, {"b": f"sample {index}"}), "c": Pair(index, float(index))}


def empty_sample(index: int) -> Any:
    """An empty dict and an empty tuple beside a number."""
    return {"number": index, "dict": {}, "tuple": ()}


def absent_sample(index: int) -> Any:
    """None, and nothing beside it."""
    return None


def dtype_sample(index: int) -> Any:
    """Integers, and in the middle of the epoch a sample of fractions."""
    odd = sys.modules["numpy"].full((40, 30), 1000.5 + index)
    return odd if index == SAMPLES // 2 else usual_sample(index)


def narrow_sample(index: int) -> Any:
    """Arrays of one shape, and in the middle of the epoch one that could be repeated until it has that shape."""
    odd = sys.modules["numpy"].full(30, 1000 + index, dtype="int64")
    return odd if index == SAMPLES // 2 else usual_sample(index)


def wide_sample(index: int) -> Any:
    """Arrays of one shape, and in the middle of the epoch a larger one."""
    odd = sys.modules["numpy"].full((41, 30), 1000 + index, dtype="int64")
    return odd if index == SAMPLES // 2 else usual_sample(index)


def turned_sample(index: int) -> Any:
    """Arrays of one shape, and in the middle of the epoch one that has as many rows as they have columns."""
    odd = sys.modules["numpy"].full((30, 40), 1000 + index, dtype="int64")
    return odd if index == SAMPLES // 2 else usual_sample(index)


def longer_sample(index: int) -> Any:
    """Integers of 32 bits, and in the middle of the epoch a sample of 64 that they can't hold."""
    odd = sys.modules["numpy"].full((40, 30), 1000 + index + 2**40, dtype="int64")
    return odd if index == SAMPLES // 2 else usual_sample(index, "int32")


def finer_sample(index: int) -> Any:
    """Fractions of 32 bits, and in the middle of the epoch a sample of 64 that they can't hold."""
    odd = sys.modules["numpy"].full((40, 30), 1000 + index + 1 / 3)
    return odd if index == SAMPLES // 2 else usual_sample(index, "float32")


def counted_sample(index: int) -> Any:
    """Fractions of 64 bits, and in the middle of the epoch a sample of integers that they can't hold."""
    value = 1000 + index
    odd = sys.modules["numpy"].full((40, 30), value + 2**53 + 1 - value % 2, dtype="int64")
    return odd if index == SAMPLES // 2 else usual_sample(index, "float64")


def usual_sample(index: int, dtype: str = "int64") -> Any:
    """The samples before and after the odd one."""
    return sys.modules["numpy"].full((40, 30), 1000 + index, dtype=dtype)


# --- what a batch may make of them ----------------------------------------------------------------------------------


def infidelity(samples: list[Any], batch: Any) -> str:
    """What a batch lost of its samples; "" if it is a list of them, or holds them column by column."""
    # Nobody takes a tuple of samples for columns, unless each sample is a tuple itself.
    is_sequence = hasattr(batch, "__getitem__") and not isinstance(batch, dict | str | bytes)
    plain = not isinstance(samples[0], tuple) if isinstance(batch, tuple) else is_sequence
    if (
        plain
        and dtype_of(batch) in ("", "object")
        and len(batch) == len(samples)
        and all(same_sample(one, other) for one, other in zip(samples, batch, strict=True))
    ):
        return ""
    return lost_in(samples, batch, "a sample")


def same_sample(one: Any, other: Any) -> bool:
    """Whether a sample is still itself, with its type and those of its parts."""
    if type(one) is not type(other) or dtype_of(one) != dtype_of(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same_sample(one[key], other[key]) for key in one)
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_sample, one, other))
    return bool(plain_numbers(one) == plain_numbers(other))


def lost_in(samples: list[Any], batch: Any, place: str) -> str:
    """What a column lost of these values."""
    first = samples[0]
    became = f"{place}: a {type(first).__name__} became a {type(batch).__name__}"
    if isinstance(first, dict | tuple):
        keys = list(first) if isinstance(first, dict) else list(range(len(first)))
        found = list(batch) if isinstance(batch, dict) else list(range(len(batch))) if isinstance(batch, tuple) else []
        if type(batch) is not type(first) or set(keys) != set(found):
            return became
        losses = (lost_in([each[key] for each in samples], batch[key], f"{place}[{key!r}]") for key in keys)
        return next(filter(None, losses), "")
    if first is None or isinstance(first, str | bytes):
        kept = isinstance(batch, list | tuple) and list(batch) == samples
        return "" if kept or (first is None and batch is None) else became
    if plain_numbers(batch) != plain_numbers(samples):
        return f"{place}: the values changed, in a {type(batch).__name__}"
    # A Python number has no dtype to keep; a tensor and an array have.
    changed = dtype_of(first) not in ("", dtype_of(batch))
    return f"{place}: {dtype_of(first)} became {dtype_of(batch)}" if changed else ""


def plain_numbers(value: Any) -> Any:
    """Numbers of any container as lists of Python's own."""
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain_numbers(each) for each in value] if isinstance(value, list | tuple) else value


def dtype_of(value: Any) -> str:
    """The dtype of a tensor or array, or of the first one in a list; "" for anything else."""
    if isinstance(value, list | tuple) and value:
        return dtype_of(value[0])
    return str(getattr(value, "dtype", "")).removeprefix("torch.")
