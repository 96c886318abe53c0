"""What a loader is given and what is read out of its batches, as in `conformance.datasets` but without NumPy."""

from typing import Any


class Dataset:
    """Sample i is the integer 1000 + i."""

    def __init__(self, length: int) -> None:
        self.length = length

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        if not -self.length <= index < self.length:
            raise IndexError(index)
        return 1000 + int(index) % self.length


def decode(batch: Any) -> list[int]:
    """The numbers in a batch: a tensor, array, list, tuple or dict, nested or not."""
    batch = batch.tolist() if hasattr(batch, "tolist") else batch
    batch = list(batch.values()) if isinstance(batch, dict) else batch
    if hasattr(batch, "__iter__") and not hasattr(batch, "__next__") and not isinstance(batch, str | bytes):
        return [number for part in batch for number in decode(part)]
    if not isinstance(batch, int | float) or isinstance(batch, bool) or batch != int(batch):
        raise TypeError(f"a batch holds {batch!r}, which is no sample")
    return [int(batch)]
