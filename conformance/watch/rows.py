"""Rows: decides whether batches have fewer rows than samples were drawn for them.

A collate function that passes over samples (those that could not be read, and are None) loses them, and the sampler
knows nothing of it. What a row is nobody says: it is taken for a sample where all tensors of a batch have as many rows,
and where some of the largest batches have one for each sample that was drawn.
"""

from typing import Any

# A batch that has fewer rows than this share of its samples lacks none: its rows are something else.
_LEAST = 0.5


class Rows:
    """What is known of the rows in one epoch."""

    def __init__(self) -> None:
        self._are_samples = True
        self._largest = 0  # the samples that were drawn for the largest batches
        self._has_full = False  # whether one of them has a row for each
        self._lacking = 0

    def came(self, drawn: int, tensors: list[Any]) -> None:
        """So many samples were drawn for a batch with these tensors."""
        rows = {len(each) for each in tensors if each.dim()}
        if not drawn or not rows:
            return
        self._are_samples &= len(rows) == 1 and _LEAST * drawn <= max(rows) <= drawn
        if drawn > self._largest:
            self._largest, self._has_full = drawn, False
        self._has_full |= drawn == self._largest == max(rows)
        self._lacking += drawn - max(rows)

    @property
    def lacking(self) -> int:
        """How many samples have no row, as far as rows are samples."""
        return self._lacking if self._are_samples and self._has_full else 0
