"""Decides how two pipes are joined by a key, and how pipes become columns, or change between iterable and map style."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import Any

from torch.utils.data import IterDataPipe, MapDataPipe, functional_datapipe

from ..rules.checks import check_integer, check_type, show
from .base import Kept


class _Joined(IterDataPipe[Any]):
    """What joins by a key share: whose elements come, and what becomes of a pair."""

    merge_fn: Callable[[Any, Any], Any] | None
    keep_key: bool

    def paired(self, key: Any, element: Any, other: Any) -> Any:
        """What is yielded of two elements of a key."""
        pair = (element, other) if self.merge_fn is None else self.merge_fn(element, other)
        return (key, pair) if self.keep_key else pair


@functional_datapipe("zip_with_iter")
class IterKeyZipper(_Joined):
    """Yields each element with the one of another pipe that has its key, in the order of the first pipe.

    Elements of the other pipe wait for theirs, at most `buffer_size` of them (None: any number); then the oldest ones
    are dropped, with a warning. Raises BufferError if the other pipe has no such key any more, and ValueError if a key
    that waits comes again.
    """

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        ref_datapipe: IterDataPipe[Any],
        key_fn: Callable[[Any], Any],
        ref_key_fn: Callable[[Any], Any] | None = None,
        keep_key: bool = False,
        buffer_size: int | None = 10000,
        merge_fn: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        super().__init__()
        check_type("ref_datapipe", ref_datapipe, IterDataPipe)
        self.source_datapipe, self.ref_datapipe = source_datapipe, ref_datapipe
        self.key_fn, self.ref_key_fn = key_fn, ref_key_fn or key_fn
        self.keep_key, self.merge_fn = keep_key, merge_fn
        self.buffer_size = None if buffer_size is None else check_integer("buffer_size", buffer_size)

    def __iter__(self) -> Iterator[Any]:
        others, waiting = iter(self.ref_datapipe), dict[Any, Any]()
        for element in self.source_datapipe:
            key = self.key_fn(element)
            while key not in waiting:
                self._read(others, waiting, key)
            yield self.paired(key, element, waiting.pop(key))

    def _read(self, others: Iterator[Any], waiting: dict[Any, Any], key: Any) -> None:
        try:
            other = next(others)
        except StopIteration:
            raise BufferError(
                f"No element of ref_datapipe has the key {show(key)}, or it came too early: sort both pipes alike, or "
                f"give a larger buffer_size than {self.buffer_size}."
            ) from None
        found = self.ref_key_fn(other)
        if found in waiting:
            raise ValueError(f"Two elements of ref_datapipe have the key {show(found)}: keys must be unique there.")
        if self.buffer_size is not None and len(waiting) == self.buffer_size:
            oldest = next(iter(waiting))
            warnings.warn(
                f"{self.buffer_size} elements wait for theirs, so that of {show(oldest)} is dropped.", stacklevel=2
            )
            del waiting[oldest]
        waiting[found] = other

    def __len__(self) -> int:
        return len(self.source_datapipe)


@functional_datapipe("zip_with_map")
class MapKeyZipper(_Joined):
    """Yields each element with what a map-style pipe has under its key. Raises KeyError if that has nothing."""

    def __init__(
        self,
        source_iterdatapipe: IterDataPipe[Any],
        map_datapipe: MapDataPipe[Any],
        key_fn: Callable[[Any], Any],
        merge_fn: Callable[[Any, Any], Any] | None = None,
        keep_key: bool = False,
    ) -> None:
        super().__init__()
        check_type("map_datapipe", map_datapipe, MapDataPipe)
        self.source_iterdatapipe, self.map_datapipe = source_iterdatapipe, map_datapipe
        self.key_fn, self.merge_fn, self.keep_key = key_fn, merge_fn, keep_key

    def __iter__(self) -> Iterator[Any]:
        for element in self.source_iterdatapipe:
            key = self.key_fn(element)
            try:
                other = self.map_datapipe[key]
            except (KeyError, IndexError):
                raise KeyError(f"key_fn makes {show(key)} of {show(element)}, which map_datapipe has not.") from None
            yield self.paired(key, element, other)

    def __len__(self) -> int:
        return len(self.source_iterdatapipe)


@functional_datapipe("unzip")
class UnZipper(IterDataPipe[Any]):
    """Makes a list of pipes: one for each column of elements that have `sequence_length` of them.

    The pipes share one reading, so one may be `buffer_size` elements ahead of another (-1: any number).
    """

    def __new__(  # type: ignore[misc]
        cls,
        source_datapipe: IterDataPipe[Any],
        sequence_length: int,
        buffer_size: int = 1000,
        columns_to_skip: Sequence[int] | None = None,
    ) -> list[IterDataPipe[Any]]:
        """The pipes."""
        length = check_integer("sequence_length", sequence_length)
        columns = [column for column in range(length) if column not in (columns_to_skip or ())]
        if not columns:
            raise ValueError(f"columns_to_skip is {show(columns_to_skip)}, so none of {length} columns is left.")
        pipe: Any = source_datapipe
        children = pipe.fork(len(columns), buffer_size) if len(columns) > 1 else [pipe]
        return [child.map(itemgetter(column)) for child, column in zip(children, columns, strict=True)]


class IterToMapConverter(MapDataPipe[Any]):
    """A map-style pipe of pairs (key, value); `key_value_fn` makes a pair of an element. Read when first asked for."""

    def __init__(
        self, datapipe: IterDataPipe[Any], key_value_fn: Callable[[Any], tuple[Any, Any]] | None = None
    ) -> None:
        super().__init__()
        self.datapipe, self.key_value_fn = datapipe, key_value_fn
        self.known: Kept | None = None

    def _all(self) -> dict[Any, Any]:
        if self.known is None:
            known = dict[Any, Any]()
            for element in self.datapipe:
                key, value = element if self.key_value_fn is None else self.key_value_fn(element)
                if key in known:
                    warnings.warn(f"Two elements have the key {show(key)}: the later one is kept.", stacklevel=2)
                known[key] = value
            self.known = Kept(known)
        found: dict[Any, Any] = self.known.elements
        return found

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._all()[key]
        except KeyError:
            raise IndexError(f"No element has the key {show(key)}.") from None

    def __len__(self) -> int:
        return len(self._all())


class MapToIterConverter(IterDataPipe[Any]):
    """The elements of a map-style pipe: of the `indices`, or 0, 1, ... up to its length."""

    def __init__(self, datapipe: MapDataPipe[Any], indices: Sequence[Any] | None = None) -> None:
        super().__init__()
        self.datapipe: Any = datapipe
        self.indices = indices

    def __iter__(self) -> Iterator[Any]:
        indices = range(len(self.datapipe)) if self.indices is None else self.indices
        yield from (self.datapipe[index] for index in indices)

    def __len__(self) -> int:
        return len(self.datapipe if self.indices is None else self.indices)


IterDataPipe.register_datapipe_as_function("to_map_datapipe", IterToMapConverter)
MapDataPipe.register_datapipe_as_function("to_iter_datapipe", MapToIterConverter)
