"""The iterable-style probe as torch knows it: its DataLoader treats only subclasses of IterableDataset as iterable."""

from typing import Any

from torch.utils.data import IterableDataset

from conformance.loader.probes import Watch, WatchedIterable


class TorchIterable(WatchedIterable, IterableDataset[Any]):
    """The same probe under torch's base class."""

    def __init__(self, length: int, watch: Watch) -> None:
        super().__init__(length, watch)
