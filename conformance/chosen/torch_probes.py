"""The streams of chapter 11 as torch knows them: subclasses of its IterableDataset."""

from collections.abc import Sequence
from typing import Any

from torch.utils.data import IterableDataset

from conformance.chosen.probes import EpochStream, Stream
from conformance.loader.probes import Watch


class TorchStream(Stream, IterableDataset[Any]):
    """The stream under torch's base class."""

    def __init__(self, length: int, watch: Watch, shards: Sequence[range]) -> None:
        super().__init__(length, watch, shards)


class TorchEpochStream(EpochStream, IterableDataset[Any]):
    """The stream with an epoch of its own, under torch's base class."""

    def __init__(self, length: int, watch: Watch, shards: Sequence[range]) -> None:
        super().__init__(length, watch, shards)
