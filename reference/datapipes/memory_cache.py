"""Decides what is kept in memory of elements that are dear to read."""

import sys
from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterDataPipe, functional_datapipe

from ..rules.checks import check_integer
from .base import Kept


@functional_datapipe("in_memory_cache")
class InMemoryCacheHolder(IterDataPipe[Any]):
    """Yields the same elements, and reads them once: `size` megabytes of them are kept, without a size all.

    They are kept when an epoch was read to its end. What does not fit is read again, after what was kept.
    """

    def __init__(self, source_dp: IterDataPipe[Any], size: int | None = None) -> None:
        super().__init__()
        self.source_dp = source_dp
        self.size = None if size is None else check_integer("size", size, least=0) * 2**20
        self.kept: Kept | None = None
        self.is_all = False

    def __iter__(self) -> Iterator[Any]:
        kept = self.kept
        if kept is None:
            yield from self._first()
            return
        yield from kept.elements
        if not self.is_all:
            for number, element in enumerate(self.source_dp):
                if number >= len(kept.elements):
                    yield element

    def _first(self) -> Iterator[Any]:
        kept, room, is_all = list[Any](), self.size, True
        for element in self.source_dp:
            if is_all and room is not None:
                room -= sys.getsizeof(element)
                is_all = room >= 0
            if is_all:
                kept.append(element)
            yield element
        self.kept, self.is_all = Kept(kept), is_all

    def __len__(self) -> int:
        return len(self.kept.elements) if self.is_all and self.kept is not None else len(self.source_dp)
