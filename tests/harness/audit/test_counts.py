"""Counting: exact however often a sample comes, however many there are, and in whatever order."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.audit.counts import Counts
from conformance.audit.digests import Digests

BLOCKS = st.lists(st.tuples(st.integers(0, 12), st.integers(1, 300)), min_size=1, max_size=12)


def counted(blocks: list[tuple[int, int]], packs: bool = False) -> tuple[Counts, Counter[int]]:
    """Blocks that hold an index so many times, and others once."""
    counts, expected = Counts(), Counter[int]()
    for index, times in blocks:
        ids = np.array([index] * times + [12 - index], np.uint32)
        counts.add(ids, 13)
        expected.update(ids.tolist())
        if packs:
            counts.pack()
    return counts, expected


@given(BLOCKS, st.booleans())
def test_counts_are_exact_beyond_a_byte(blocks: list[tuple[int, int]], packs: bool) -> None:
    """An index may come any number of times, in one block or in many."""
    counts, expected = counted(blocks, packs)
    assert [expected[index] for index in range(13)] == [counts.of(index) for index in range(13)]
    histogram = Counter(expected[index] for index in range(13))
    assert dict(histogram) == counts.histogram()
    assert [index for index in range(13) if expected[index] >= 2][:8] == counts.first(2)
    assert [index for index in range(13) if not expected[index]][:8] == counts.first(0, 0)
    part = [expected[index] for index in range(3, 9)]
    assert (min(part), max(part)) == counts.span(3, 9)


@given(BLOCKS, BLOCKS)
def test_counts_merge(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    """Two of them are what one would have counted, and are stored in one form."""
    mine, expected = counted(one)
    theirs, more = counted(other)
    mine.merge(theirs)
    both, _ = counted([*other, *one])
    assert [(expected + more)[index] for index in range(13)] == [mine.of(index) for index in range(13)]
    assert both.stored() == mine.stored() == Counts.restored(mine.stored()).stored()
    assert both.histogram() == Counts.restored(mine.stored()).histogram()


def test_few_deliveries_of_many_samples_are_kept_as_they_are() -> None:
    """A batch of a billion samples needs no gigabyte."""
    counts = Counts()
    counts.add(np.array([999_999_999, 5], np.uint32), 1_000_000_000)
    assert counts.room < 1000


@pytest.mark.parametrize("size", [0, 1, 5, 3000])
def test_digests_are_counted_whole(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that agree in their first words are two, and parts change nothing."""
    monkeypatch.setattr("conformance.audit.digests._BLOCK", 1000)
    digests = Digests()
    words = np.stack([np.arange(size, dtype=np.uint64) << np.uint64(52), np.arange(size, dtype=np.uint64)], axis=1)
    digests.add(words)
    same = np.array([[7, 1], [7, 2], [7, 1], [9, 9]], np.uint64)
    digests.add(same)
    assert {1: size + 2, 2: 1} == digests.histogram()
    assert [(same[0].astype("<u8").tobytes(), 2)] == digests.repeated()
    assert digests.stored() == Digests.restored(digests.stored()).stored()
