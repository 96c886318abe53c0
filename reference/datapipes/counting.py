"""Decides how many times elements come, how many of them, and what is said of their number."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..rules.checks import check_integer


@functional_datapipe("header")
class Header(IterDataPipe[Any]):
    """Yields the first `limit` elements."""

    def __init__(self, source_datapipe: IterDataPipe[Any], limit: int | None = 10) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.limit = None if limit is None else check_integer("limit", limit, least=0)

    def __iter__(self) -> Iterator[Any]:
        if self.limit == 0:
            return
        for number, element in enumerate(self.source_datapipe, 1):
            yield element
            # The next one is not read: reading may be dear.
            if number == self.limit:
                return

    def __len__(self) -> int:
        length = len(self.source_datapipe)
        return length if self.limit is None else min(self.limit, length)


@functional_datapipe("set_length")
class LengthSetter(IterDataPipe[Any]):
    """Yields the same elements, and says that there are `length` of them."""

    def __init__(self, source_datapipe: IterDataPipe[Any], length: int) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.length = check_integer("length", length, least=0)

    def __iter__(self) -> Iterator[Any]:
        yield from self.source_datapipe

    def __len__(self) -> int:
        return self.length


@functional_datapipe("cycle")
class Cycler(IterDataPipe[Any]):
    """Yields all elements, and all of them again, `count` times; without a count forever, if there are any."""

    def __init__(self, source_datapipe: IterDataPipe[Any], count: int | None = None) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.count = None if count is None else check_integer("count", count, least=0)

    def __iter__(self) -> Iterator[Any]:
        for _ in count() if self.count is None else range(self.count):
            is_empty = True
            for element in self.source_datapipe:
                is_empty = False
                yield element
            # Nothing, forever, would hang.
            if is_empty:
                return

    def __len__(self) -> int:
        if self.count is None:
            raise TypeError("cycle() without a count has no length, because it does not end: give it one.")
        return self.count * len(self.source_datapipe)


@functional_datapipe("repeat")
class Repeater(IterDataPipe[Any]):
    """Yields each element `times` times in a row."""

    def __init__(self, source_datapipe: IterDataPipe[Any], times: int) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.times = check_integer("times", times)

    def __iter__(self) -> Iterator[Any]:
        for element in self.source_datapipe:
            for _ in range(self.times):
                yield element

    def __len__(self) -> int:
        return self.times * len(self.source_datapipe)


@functional_datapipe("enumerate")
class Enumerator(IterDataPipe[Any]):
    """Yields (number, element). Behind a `sharding_filter` each worker counts its own elements."""

    def __init__(self, source_datapipe: IterDataPipe[Any], starting_index: int = 0) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.starting_index = check_integer("starting_index", starting_index, least=None)

    def __iter__(self) -> Iterator[Any]:
        yield from enumerate(self.source_datapipe, self.starting_index)

    def __len__(self) -> int:
        return len(self.source_datapipe)
