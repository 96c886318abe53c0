"""Probe datasets: decides what a sample is, so that whatever arrives tells which sample it was.

A sample is an integer that is never 0 or small: a buffer that was padded with zeros, or an index that was delivered
instead of a sample, is then seen as foreign (PART-5).
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

FIRST_SAMPLE = 1000  # the value of sample 0
FIRST_OF_ANOTHER = 2_000_000  # and of a dataset that holds other samples


class MapDataset:
    """A map-style dataset of `length` samples; sample i is the integer 1000 + i, or `first` + i."""

    def __init__(self, length: int, first: int = FIRST_SAMPLE) -> None:
        self.length, self.first = length, first

    def __repr__(self) -> str:
        # The same in every process, whether reads are watched or not: a checkpoint may name its dataset by this.
        return f"MapDataset({self.length}{'' if self.first == FIRST_SAMPLE else f', {self.first}'})"

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        # Python's own sequence protocol: without the error, `for sample in dataset` would never end.
        if not -self.length <= index < self.length:
            raise IndexError(f"sample {index} of a dataset of {self.length}; valid are 0 to {self.length - 1}")
        return self.first + int(index) % self.length


class Undecodable(Exception):
    """A batch in which no sample ids can be found. The message says what was found instead."""


def decode(batch: Any) -> list[int]:
    """The sample values in a batch: tensors and arrays of any library, numbers, lists, tuples, dicts, nested or not.

    Raises Undecodable for anything else: text, None, objects, fractions.
    """
    if isinstance(batch, dict):
        return [value for part in batch.values() for value in decode(part)]
    if isinstance(batch, bool | str | bytes) or batch is None:
        raise Undecodable(f"a batch holds {batch!r}, which is no sample; give the adapter a decode(batch)")
    if isinstance(batch, int | np.integer):
        return [int(batch)]
    if isinstance(batch, float):
        return _decode_array(np.asarray(batch, dtype=np.float64))
    if hasattr(batch, "__array__"):
        # torch hands out no array while gradients are recorded.
        return _decode_array(np.asarray(batch.detach() if hasattr(batch, "detach") else batch))
    if isinstance(batch, Iterable) and not isinstance(batch, Iterator):
        return [value for part in batch for value in decode(part)]
    raise Undecodable(f"a batch is a {type(batch).__name__}, which can't be read; give the adapter a decode(batch)")


def _decode_array(array: Any) -> list[int]:
    if array.dtype.kind in "iu" or array.size == 0:
        return [int(value) for value in array.ravel()]
    # A framework may turn integers into floats on the way; whole ones still tell who they are, unless they are so
    # short that neighbours become equal (float16 from 2048 on).
    exact = array.dtype.kind == "f" and array.dtype.itemsize >= 4
    if exact and bool((np.isfinite(array) & (array == np.floor(array))).all()):
        return [int(value) for value in array.ravel()]
    raise Undecodable(
        f"a batch is an array of {array.dtype}, which holds no sample ids; give the adapter a decode(batch)"
    )
