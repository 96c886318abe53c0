"""What the samples of a batch are: decides how an index, an element or a field becomes an id of the record."""

from typing import Any

from conformance.records.content import digest
from conformance.records.texts import plain
from conformance.watch.datasets import Indices

_LEAST, _MOST = -(2**63), 2**63 - 1


def ids_of(index: Any, below: Indices | None) -> Any:
    """The ids of a batch from the index that was given to a map-style dataset: one, or a sequence of them.

    `below` says what an index of a Subset is in the dataset below.
    """
    if hasattr(index, "tolist"):
        index = index.tolist()
    if isinstance(index, slice | range):
        index = list(range(index.start or 0, index.stop, index.step or 1)) if isinstance(index, slice) else list(index)
    one = not isinstance(index, list | tuple)
    if one or (isinstance(index, tuple) and not all(isinstance(each, int) for each in index)):
        index = [index]
    plain = index
    if not all(type(each) is int for each in index):
        if not _as_numbers(index):
            return [digest(each) for each in index]
        plain = [int(each) for each in index]
    return plain if below is None else below[plain]


def _as_numbers(index: Any) -> bool:
    return all(hasattr(each, "__index__") and not isinstance(each, str | bytes) for each in index)


def id_of(value: Any) -> int | bytes:
    """The id that a user's field or function gives: an integer as it is, else a digest of it."""
    value = plain(value)
    if type(value) is int and _LEAST <= value <= _MOST:
        return value
    return digest(value)
