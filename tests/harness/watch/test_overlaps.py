"""Loaders whose datasets hold some samples in common are known to: rows of a table, and what is joined."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Subset, TensorDataset

from conformance.watch.overlaps import Subsets
from conformance.watch.tables import rows_of


class Chunk:
    """As pyarrow shows an array: where its buffer lies, and where in it the array begins."""

    def __init__(self, address: int, offset: int, length: int, size: int = 800) -> None:
        self.offset, self.length = offset, length
        self.buffer = SimpleNamespace(address=address, size=size)

    def __len__(self) -> int:
        return self.length

    def buffers(self) -> list[Any]:
        """One of which rows are null, if any are, and one of values."""
        return [None, self.buffer]


class Table:
    """What `datasets.Dataset` shows of itself; the module's name is set below."""

    def __init__(self, *chunks: Chunk, listed: list[int] | None = None) -> None:
        self.data = SimpleNamespace(columns=[SimpleNamespace(chunks=chunks)])
        rows = SimpleNamespace(to_numpy=lambda: np.array(listed))
        self._indices = None if listed is None else SimpleNamespace(column=lambda number: rows)
        self._length = sum(map(len, chunks)) if listed is None else len(listed)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> int:
        return index


Table.__module__ = "datasets.arrow_dataset"


def told(*datasets: Any) -> list[tuple[int, int, bool, list[int]]]:
    """What the last loader shares with those before it: which, how many, whether all, and some of its indices."""
    numbers: dict[int, int] = {}
    known = Subsets(lambda base: numbers.setdefault(id(base), len(numbers)))
    loaders = [DataLoader(dataset) for dataset in datasets]
    shared = [known.of(loader, number).get("overlap", []) for number, loader in enumerate(loaders)][-1]
    return [(one["loader"], one["shared"], one["same"], one["some"]) for one in shared]


def test_rows_are_known_by_where_they_lie() -> None:
    """In a part of a table, and in a list of rows."""
    whole = rows_of(Table(Chunk(1000, 0, 100)))
    assert whole is not None
    for table, expected in (
        (Table(Chunk(1000, 90, 10)), range(90, 100)),
        (Table(Chunk(1000, 0, 100), listed=[5, 3]), [5, 3]),
        (Table(Chunk(1000, 90, 2), Chunk(7, 0, 0), Chunk(1000, 3, 3)), [90, 91, 3, 4, 5]),
        (Table(Chunk(1000, 90, 2), Chunk(7, 0, 0), Chunk(1000, 3, 3), listed=[4, 1, 2]), [5, 91, 3]),
    ):
        found = rows_of(table)
        assert found is not None
        assert list(expected) == (found - whole[0]).tolist()


def test_what_shows_no_rows_is_not_compared() -> None:
    """Values of less than a byte, which lie too close, and another library's datasets."""
    assert rows_of(Table(Chunk(1000, 0, 100, size=13))) is None
    assert rows_of(Table(Chunk(1000, 0, 8), Chunk(5000, 0, 8, size=1))) is None
    assert rows_of(TensorDataset()) is None


def test_loaders_of_one_memory_share_what_both_have() -> None:
    """Whichever objects they read; other memory holds other rows."""
    train, other = Table(Chunk(1000, 0, 80)), Table(Chunk(5000, 0, 80))
    assert [(0, 5, False, [0, 1, 2])] == told(train, Table(Chunk(1000, 75, 25)))
    assert [(1, 80, True, [0, 1, 2])] == told(other, train, train)
    assert [] == told(train, other)


def test_what_is_joined_shares_what_its_parts_have() -> None:
    """A whole dataset that is one of them, a part of one, and rows; two loaders of one whole dataset are no split."""
    one, other = TensorDataset(torch.zeros(8)), TensorDataset(torch.zeros(6))
    joined = ConcatDataset([one, other])
    assert [(0, 6, False, [0, 1, 2])] == told(joined, other)
    assert [(0, 6, False, [8, 9, 10])] == told(other, joined)
    assert [(0, 2, False, [5, 3])] == [(*each[:3], each[3][::-1]) for each in told(joined, Subset(one, [5, 3]))]
    assert [(0, 2, False, [7, 8])] == told(Subset(joined, [7, 8]), Subset(joined, [8, 7, 2]))
    table = Table(Chunk(1000, 0, 8))
    assert [(0, 2, False, [0, 1])] == told(ConcatDataset([table, one]), Table(Chunk(1000, 6, 2)))
    part = Subset(range(10**12), [10**11, 3])  # type: ignore[arg-type]
    assert [(0, 1, False, [10**11])] == told(part, Subset(part.dataset, [10**11, 8]))
    assert [] == told(one, one)
    assert [] == told(one, Subset(one, [1]))
    assert [] == told(ConcatDataset([one]), other)


def test_datasets_as_they_are_share_rows() -> None:
    """With the library itself, where it is installed."""
    datasets = pytest.importorskip("datasets", reason="datasets is not installed: its rows are stood in for above")
    whole = datasets.Dataset.from_dict({"x": [[float(at)] for at in range(20)]})
    parts = whole.train_test_split(0.5, seed=0)
    assert [] == told(parts["train"], parts["test"])
    assert [(0, 4, False, [0, 1, 2])] == told(whole.select(range(14)), whole.select(range(10, 20)))
    assert [(0, 20, True, [0, 1, 2])] == told(whole, whole.shuffle(seed=3))
