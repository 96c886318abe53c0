"""Elements of equal content have equal digests, and no others."""

import dataclasses
import datetime
import os
import subprocess
import sys
from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from conformance.records.content import digest, rows

Pair = namedtuple("Pair", "left right")


@dataclasses.dataclass
class Point:
    """Two numbers."""

    x: int
    y: int


class Plain:
    """An object with a dictionary."""

    def __init__(self, word: str) -> None:
        self.word = word


SPARSE = torch.tensor([[0.0, 2.0], [0.0, 0.0]]).to_sparse()
DIFFERENT: list[Any] = [
    None,
    True,
    1,
    1.0,
    "1",
    b"1",
    [1],
    [[1]],
    [1, 1],
    {1},
    {1: 1},
    {"1": 1},
    np.int64(1),
    np.array([1]),
    np.array([1], np.int32),
    np.array([[1]]),
    np.array([1, None], object),
    torch.tensor(1),
    torch.tensor([1]),
    torch.tensor([[1]]),
    torch.tensor([1], dtype=torch.int32),
    torch.tensor([1], dtype=torch.uint8),
    torch.tensor([1.0], dtype=torch.bfloat16),
    torch.tensor([1.0], dtype=torch.float16),
    torch.tensor([], dtype=torch.float32),
    torch.tensor([], dtype=torch.float32).reshape(0, 3),
    torch.tensor([1j]),
    torch.tensor([-1j]),
    SPARSE,
    SPARSE.to_dense(),
    torch.tensor([5, 5]),
    torch.tensor([7, 7]),
    Point(1, 2),
    Point(2, 1),
    Plain("a"),
    Plain("b"),
    datetime.date(2026, 1, 1),
    datetime.date(2026, 1, 2),
    Plain,
    Point,
    ["ab", "c"],
    ["a", "bc"],
    "",
    b"",
    [],
    {},
]


def test_different_elements_have_different_digests() -> None:
    """Type, shape and values all count."""
    assert len(DIFFERENT) == len({digest(element) for element in DIFFERENT})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({3, 1, 2}, {2, 3, 1}),
        ((1, 2), [1, 2]),
        (Pair(1, 2), (1, 2)),
        (torch.arange(6).reshape(2, 3).T, torch.tensor([[0, 3], [1, 4], [2, 5]])),
        (np.arange(6).reshape(2, 3).T, np.array([[0, 3], [1, 4], [2, 5]])),
        (torch.tensor([1 + 1j]).conj(), torch.tensor([1 - 1j])),
        (torch.ones(2, requires_grad=True), torch.ones(2)),
        (Plain("a"), Plain("a")),
        (Point(1, 2), Point(1, 2)),
    ],
)
def test_equal_elements_have_equal_digests(one: Any, other: Any) -> None:
    """How an element lies in memory, or in which order a dictionary was filled, does not count."""
    assert digest(one) == digest(other)


LEAVES = st.integers() | st.text() | st.floats(allow_nan=False)


@given(st.recursive(LEAVES, lambda each: st.lists(each) | st.dictionaries(st.text(), each)))
def test_a_digest_is_a_function(element: Any) -> None:
    """The same element has the same 16 bytes each time."""
    assert 16 == len(digest(element))
    assert digest(element) == digest(element)


def test_a_digest_is_the_same_in_each_process() -> None:
    """The seed of Python's own hashes has no part in it."""
    program = "from conformance.records.content import digest; print(digest({'a': {1, 'b'}, 'c': [1.5, None]}).hex())"
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            cwd=Path(__file__).parents[3],
        ).stdout
        for seed in "12"
    }
    assert 1 == len(seen)


def test_what_holds_itself_is_refused() -> None:
    """A walk without an end is an error that says so."""
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(RecursionError, match="holds itself"):
        digest(endless)


def test_an_open_file_has_no_content() -> None:
    """What can't be pickled can't be told apart."""
    with Path(__file__).open() as file, pytest.raises(TypeError):
        digest(file)


@pytest.mark.parametrize(
    ("batch", "expected"),
    [
        (torch.arange(4).reshape(2, 2), [[0, 1], [2, 3]]),
        (np.arange(2), [0, 1]),
        ([torch.tensor([1, 2]), torch.tensor([3, 4])], [[1, 3], [2, 4]]),
        ((torch.tensor([1, 2]), ["a", "b"]), [[1, "a"], [2, "b"]]),
        ({"x": torch.tensor([1, 2]), "y": ["a", "b"]}, [{"x": 1, "y": "a"}, {"x": 2, "y": "b"}]),
        ([torch.tensor([1, 2]), torch.tensor([3])], [[1, 2], [3]]),
        (["a", "b"], ["a", "b"]),
        (torch.tensor(1), [1]),
        ("text", ["text"]),
        ({"x": 1}, [{"x": 1}]),
    ],
)
def test_rows_of_a_batch(batch: Any, expected: list[Any]) -> None:
    """A batch is parted into samples as default_collate put it together."""

    def plain(row: Any) -> Any:
        if isinstance(row, dict):
            return {name: plain(part) for name, part in row.items()}
        if isinstance(row, list | tuple):
            return [plain(part) for part in row]
        return row.tolist() if hasattr(row, "tolist") else row

    assert expected == [plain(row) for row in rows(batch)]
