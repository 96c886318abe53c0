"""Rows of Hugging Face's datasets: decides whether two of them have some in common.

What `select`, `shuffle`, `filter` and `train_test_split` make shares the memory of what it was made from, with a list
of rows, or as a part of it; `map` writes new memory. So a row is known by where its first value lies.
"""

from typing import Any

import numpy as np

from conformance.watch.datasets import Indices

# Tables of more chunks are not looked at: that would be felt.
_MOST = 50_000


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
    wanted = np.arange(len(table)) if listed is None else listed.column(0).to_numpy().astype(np.int64)
    for column in table.data.columns:
        chunks = [each for each in column.chunks if len(each)]
        firsts = [_first(each) for each in chunks[:_MOST]]
        if len(firsts) == len(chunks) and None not in firsts:
            begins = np.cumsum([0, *map(len, chunks)])[:-1]
            at = np.searchsorted(begins, wanted, side="right") - 1
            rows: Indices = np.array(firsts, np.int64)[at] - begins[at] + wanted
            return rows
    return None


def _first(chunk: Any) -> int | None:
    """A number for its first value; those that follow have the next ones, and no value of another buffer has any."""
    buffer = next((each for each in chunk.buffers()[1:] if each is not None), None)
    # That is so where each value has a byte of its own at least.
    is_enough = buffer is not None and buffer.size >= chunk.offset + len(chunk)
    return buffer.address + chunk.offset if buffer is not None and is_enough else None
