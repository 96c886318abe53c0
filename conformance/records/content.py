"""The identity of a sample by its content: decides what of an element is hashed, and how.

A digest has 128 bits: among 10^9 different elements the chance that any two share one is 10^18 / 2^129, or 1.5 in
10^21 (with 64 bits it would be 2.7 %). It is made over type, shape and values in a fixed walk, never over `repr`, so
that equal elements have equal digests in every process and on every host.
"""

import copyreg
import dataclasses
import hashlib
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from types import BuiltinFunctionType, FunctionType
from typing import Any

try:  # 30 times as fast, where it is installed
    from xxhash import xxh3_128 as _new

    HASH = "xxh3_128"
except ImportError:
    HASH = "blake2b"

    def _new() -> Any:
        return hashlib.blake2b(digest_size=16)


_DEEPEST = 64


def digest(element: Any) -> bytes:
    """16 bytes that tell elements of different contents apart: tensors, arrays, text, numbers, and nests of these.

    TypeError or RecursionError for what has no content that could be walked over: an open file, a generator.
    """
    made = _new()
    for piece in _pieces(element, 0):
        made.update(piece)
    return bytes(made.digest())


def row_digests(batch: Any) -> list[bytes]:
    """A digest for each sample of a collated batch."""
    return [digest(row) for row in rows(batch)]


def rows(batch: Any) -> list[Any]:
    """The samples of a batch: rows of a tensor or an array, or of all those in a dict, or in a list or tuple of fields.

    A list whose items are not all arrays of one length is taken for a list of samples. A batch of which no sample can
    be told is one sample.
    """
    if _is_array(batch):
        return list(batch) if batch.ndim else [batch]
    if isinstance(batch, Mapping):
        long = _common_length(list(batch.values()))
        return [batch] if long is None else [{name: part[at] for name, part in batch.items()} for at in range(long)]
    if isinstance(batch, list | tuple):
        long = _common_length(list(batch)) if any(_is_array(part) for part in batch) else None
        return list(batch) if long is None else [[part[at] for part in batch] for at in range(long)]
    return [batch]


def _common_length(parts: list[Any]) -> int | None:
    """The length of all parts, some of which are arrays, if they are columns of one table."""
    lengths = {_length(part) for part in parts}
    return lengths.pop() if len(lengths) == 1 else None


def _length(part: Any) -> int | None:
    if _is_array(part):
        return len(part) if part.ndim else None
    return len(part) if isinstance(part, list | tuple) else None


def _is_array(value: Any) -> bool:
    return _is(value, "torch", "Tensor") or _is(value, "numpy", "ndarray")


def _is(value: Any, module: str, name: str) -> bool:
    """Whether it is of a class of a library, which is not imported for that."""
    owner = getattr(sys.modules.get(module), name, None)
    return owner is not None and isinstance(value, owner)


def _pieces(value: Any, depth: int) -> Iterator[Any]:
    """The bytes of an element: a letter for its kind, its size, and what is in it."""
    if depth > _DEEPEST:
        raise RecursionError(f"an element is nested more than {_DEEPEST} deep, or holds itself")
    if value is None or value is True or value is False:
        yield f"c{value}".encode()
    elif type(value) is int:
        yield f"i{value};".encode()
    elif type(value) is float:
        yield b"f" + struct.pack("<d", value)
    elif type(value) is str:
        yield _sized(b"s", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes | bytearray | memoryview):
        yield _sized(b"y", bytes(value))
    elif _is(value, "torch", "Tensor"):
        yield from _tensor(value, depth)
    elif _is(value, "numpy", "ndarray") or _is(value, "numpy", "generic"):
        yield from _array(value, depth)
    elif isinstance(value, Mapping):
        yield from _unordered(b"d", ([key, part] for key, part in value.items()))
    elif isinstance(value, Set):
        yield from _unordered(b"u", value)
    elif isinstance(value, list | tuple):
        # A collated tuple comes as a list from one loader and as a tuple from another.
        yield from _in_order(b"l", value, depth)
    elif isinstance(value, type | FunctionType | BuiltinFunctionType):
        yield _sized(b"g", f"{value.__module__}.{value.__qualname__}".encode())
    elif dataclasses.is_dataclass(value):
        yield _sized(b"o", type(value).__qualname__.encode())
        yield from _in_order(b"l", [getattr(value, each.name) for each in dataclasses.fields(value)], depth)
    else:
        yield from _reduced(value, depth)


def _sized(kind: bytes, data: bytes) -> bytes:
    return kind + str(len(data)).encode() + b";" + data


def _in_order(kind: bytes, parts: Sequence[Any], depth: int) -> Iterator[Any]:
    yield kind + str(len(parts)).encode() + b";"
    for part in parts:
        yield from _pieces(part, depth + 1)


def _unordered(kind: bytes, parts: Any) -> Iterator[Any]:
    found = sorted(digest(part) for part in parts)
    yield kind + str(len(found)).encode() + b";" + b"".join(found)


def _array(array: Any, depth: int) -> Iterator[Any]:
    yield f"a{array.dtype.str}{array.shape};".encode()
    if array.dtype.hasobject:
        yield from _in_order(b"l", array.ravel().tolist(), depth)
    else:
        yield array.tobytes()


def _tensor(tensor: Any, depth: int) -> Iterator[Any]:
    torch = sys.modules["torch"]
    tensor = tensor.detach()
    yield f"t{tensor.dtype}{tensor.layout};".encode()
    if tensor.is_sparse:
        tensor = tensor.coalesce()
        yield from _in_order(b"l", [tuple(tensor.shape), tensor.indices(), tensor.values()], depth)
    elif getattr(tensor, "is_nested", False):
        yield from _in_order(b"l", list(tensor.unbind()), depth)
    elif tensor.layout is not torch.strided:
        yield from _pieces(tensor.to_dense(), depth + 1)
    elif tensor.is_quantized:
        yield from _pieces(tensor.dequantize(), depth + 1)
    else:
        yield f"{tuple(tensor.shape)};".encode()
        flat = tensor.resolve_conj().resolve_neg().cpu().contiguous().reshape(-1)
        if flat.numel():
            yield flat.view(torch.uint8).numpy()


def _reduced(value: Any, depth: int) -> Iterator[Any]:
    """Any other object, by what it would be pickled as."""
    reduce: Callable[[Any], Any] | None = copyreg.dispatch_table.get(type(value))
    parts = reduce(value) if reduce else value.__reduce_ex__(4)
    yield _sized(b"o", f"{type(value).__module__}.{type(value).__qualname__}".encode())
    if isinstance(parts, str):
        yield _sized(b"g", parts.encode())
        return
    for part in parts[:3]:
        yield from _pieces(part, depth + 1)
    for more in parts[3:5]:
        yield from _in_order(b"l", [] if more is None else list(more), depth)
