"""What a consumer keeps of a batch: the batch, or a part that shares its memory."""

from typing import Any

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


class _Step(np.ndarray[Any, Any]):
    """An array that is known to be a step."""


def test_an_array_of_its_own_class_is_kept_as_a_plain_slice() -> None:
    """What is left of it is no step, unless the adapter decodes steps."""
    batch = np.arange(3).view(_Step)
    assert np.ndarray is type(_as_kept(batch, 1))
    assert batch is _as_kept(batch, 1, is_decoded=True)
