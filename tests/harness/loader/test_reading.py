"""What a consumer keeps of a batch: the batch, or a part that shares its memory."""

import numpy as np

from conformance.loader.reading import _as_kept


def test_every_second_array_is_kept_as_a_slice() -> None:
    """It holds the same numbers in the same memory, and is not the batch."""
    batch = np.arange(3)
    kept = _as_kept(batch, 1)
    assert batch is not kept
    assert np.shares_memory(batch, kept)
    assert batch is _as_kept(batch, 0)


def test_a_list_is_kept_as_it_is() -> None:
    """A slice of a list is another list."""
    batch = [1, 2]
    assert batch is _as_kept(batch, 1)
