"""Decides how elements are made ready ahead: read by a thread, or copied to pinned memory."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import IterDataPipe, functional_datapipe
from torch.utils.data._utils.pin_memory import pin_memory

from ..pipelines.prefetching import Ahead
from ..rules.checks import check_integer
from .base import without


@functional_datapipe("prefetch")
class Prefetcher(IterDataPipe[Any]):
    """Yields the same elements in the same order, of which a thread reads up to `buffer_size` ahead."""

    def __init__(self, source_datapipe: IterDataPipe[Any], buffer_size: int = 10) -> None:
        super().__init__()
        self.source_datapipe = source_datapipe
        self.buffer_size = check_integer("buffer_size", buffer_size)
        self.ahead: Ahead | None = None

    def __iter__(self) -> Iterator[Any]:
        # Begun here and not in the thread: the source has one valid iterator, and this is it.
        ahead = self.ahead = Ahead(iter(self.source_datapipe), self.buffer_size)
        try:
            yield from ahead
        finally:
            ahead.end()

    def reset(self) -> None:
        """End the thread of an iteration that a new one takes the place of."""
        if self.ahead is not None:
            self.ahead.end()
        self.ahead = None

    def __getstate__(self) -> Any:
        return without(self, ahead=None)

    def pause(self) -> None:
        """Read no more ahead until `resume`; what is there can still be taken."""
        if self.ahead is not None:
            self.ahead.pause(True)

    def resume(self) -> None:
        """Read ahead again."""
        if self.ahead is not None:
            self.ahead.pause(False)

    def __len__(self) -> int:
        return len(self.source_datapipe)


@functional_datapipe("pin_memory")
class PinMemory(IterDataPipe[Any]):
    """Yields the same elements, their tensors in pinned memory where there is a device to copy them to."""

    def __init__(
        self,
        source_datapipe: IterDataPipe[Any],
        device: Any = None,
        pin_memory_fn: Callable[[Any, Any], Any] = pin_memory,
    ) -> None:
        super().__init__()
        self.source_datapipe, self.device, self.pin_memory_fn = source_datapipe, device, pin_memory_fn

    def is_replicable(self) -> bool:
        """What is pinned belongs to one process: the one that iterates."""
        return False

    def __iter__(self) -> Iterator[Any]:
        is_of_use = self.pin_memory_fn is not pin_memory or torch.accelerator.is_available()
        for element in self.source_datapipe:
            yield self.pin_memory_fn(element, self.device) if is_of_use else element

    def __len__(self) -> int:
        return len(self.source_datapipe)
