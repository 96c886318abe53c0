"""Decides how a function is applied that makes many elements of one, or of a batch of them."""

from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..rules.checks import check_integer
from .base import applied


def same(element: Any) -> Any:
    """What is applied where no function is given."""
    return element


@functional_datapipe("flatmap")
class FlatMapper(IterDataPipe[Any]):
    """Yields each of what the function makes of an element; without a function, each part of the element."""

    def __init__(
        self, datapipe: IterDataPipe[Any], fn: Callable[..., Any] | None = None, input_col: Any = None
    ) -> None:
        super().__init__()
        self.datapipe, self.fn, self.input_col = datapipe, fn or same, input_col

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from applied(self.fn, element, self.input_col)


@functional_datapipe("map_batches")
class BatchMapper(IterDataPipe[Any]):
    """Yields each of what the function makes of a list of `batch_size` elements; the last one may be shorter."""

    def __init__(
        self, datapipe: IterDataPipe[Any], fn: Callable[[list[Any]], Any], batch_size: int, input_col: Any = None
    ) -> None:
        super().__init__()
        self.datapipe, self.fn, self.input_col = datapipe, fn, input_col
        self.batch_size = check_integer("batch_size", batch_size)

    def __iter__(self) -> Iterator[Any]:
        elements = iter(self.datapipe)
        while batch := list(islice(elements, self.batch_size)):
            yield from self.fn([self._columns(element) for element in batch])

    def _columns(self, element: Any) -> Any:
        """The element, one column of it, or several as a list."""
        if isinstance(self.input_col, list | tuple):
            return [element[column] for column in self.input_col]
        return element if self.input_col is None else element[self.input_col]
