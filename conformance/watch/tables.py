"""Rows of Hugging Face's datasets: decides whether two of them have some in common.

What `select`, `shuffle`, `filter` and `train_test_split` make shares the memory of what it was made from, with a list
of rows, or as a part of it; `map` writes new memory. So a row is known by where its first value lies.
"""

from typing import Any

import numpy as np

from conformance.watch.datasets import Indices


def rows_of(dataset: Any) -> Indices | None:
    """Where each row of a dataset lies, as a number; None if it is none of Hugging Face's, or doesn't show it."""
    if not any(each.__module__ == "datasets.arrow_dataset" for each in type(dataset).__mro__):
        return None
    try:
        return _rows(dataset)
    except Exception:  # not the library's own interface: another version has it elsewhere, and then nothing is told
        return None


def _rows(table: Any) -> Indices | None:
    listed = table._indices
    for column in table.data.columns:
        places = [_places(chunk) for chunk in column.chunks]
        known = [each for each in places if each is not None]
        if known and len(known) == len(places):
            rows = np.concatenate(known)
            return rows if listed is None else rows[listed.column(0).to_numpy()]
    return None


def _places(chunk: Any) -> Indices | None:
    """A number for each value, which no value of another buffer has: each has a byte of its own at least."""
    buffer = next((each for each in chunk.buffers()[1:] if each is not None), None)
    end = chunk.offset + len(chunk)
    if buffer is None or buffer.size < end:
        return None
    return np.arange(buffer.address + chunk.offset, buffer.address + end, dtype=np.int64)
