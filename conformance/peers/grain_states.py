"""What grain's two adapters share: a loader of one epoch after the other, whose state is that of the last iterator.

That `get_state` and `set_state` of an iterator are its checkpoint is promised by
https://google-grain.readthedocs.io/en/latest/tutorials/data_loader_tutorial.html, and for datasets by
https://google-grain.readthedocs.io/en/latest/tutorials/dataset_basic_tutorial.html. Which epoch it is of is kept here.
"""

from collections.abc import Iterator
from typing import Any


class OfEpochs:
    """`begin` makes the iterator of an epoch."""

    def __init__(self, request: Any) -> None:
        self.asked = request
        self.epoch = 0
        self.iterator: Any = None
        self.loaded: Any = None

    def begin(self) -> Any:
        """An iterator over the epoch, from its beginning."""
        raise NotImplementedError("each of the two adapters has its own")

    def __iter__(self) -> Iterator[Any]:
        self.iterator = self.begin()
        if self.loaded is not None:
            self.iterator.set_state(self.loaded)
            self.loaded = None
        return iter(self.iterator)

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next; a state that was loaded stays, if it is of that one."""
        if self.iterator is not None or epoch != self.epoch:
            self.loaded = None
        self.epoch, self.iterator = epoch, None

    def state_dict(self) -> Any:
        """The number of the epoch, and the state of its iterator, if one was made."""
        return self.epoch, self.loaded if self.iterator is None else self.iterator.get_state()

    def load_state_dict(self, state: Any) -> None:
        """Give the state to the next iterator."""
        self.epoch, self.loaded = state
        self.iterator = None
