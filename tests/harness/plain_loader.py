"""A correct loader in plain Python, and the adapter for it: what the harness's own tests judge when nothing is wrong.

It imports neither torch nor numpy, so that a process for it starts at once. Change one thing in it to get a fault.
"""

import random
from collections.abc import Iterator
from typing import Any

claims = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="strided",
    shuffle="global",
    workers=True,
    epochs="set_epoch",
    length=True,
)

_FACTORS = ("batch_size", "world_size")


class PlainLoader:
    """Rank r delivers samples r, r+R, r+2R, ... of the dataset, or of one permutation of it."""

    def __init__(self, request: Any) -> None:
        for name in _FACTORS:
            if type(getattr(request, name)) is not int or getattr(request, name) < 1:
                raise ValueError(f"{name}={getattr(request, name)!r} must be an integer from 1 on")
        if not 0 <= request.rank < request.world_size:
            raise ValueError(f"rank={request.rank} must lie in 0 to {request.world_size - 1}")
        self.request = request
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch is read next."""
        self.epoch = epoch

    def shard(self) -> list[int]:
        """The indices of this rank, in order."""
        request = self.request
        order = list(range(len(request.dataset)))
        if request.shuffle:
            # A text and not a sum: seed + 1 must not be what epoch + 1 is.
            random.Random(f"{request.seed} {self.epoch}").shuffle(order)
        if request.drop_last:
            order = order[: len(order) // request.world_size * request.world_size]
        return order[request.rank :: request.world_size]

    def __iter__(self) -> Iterator[list[int]]:
        size, shard = self.request.batch_size, self.shard()
        for start in range(0, len(self) * size, size):
            yield [self.request.dataset[index] for index in shard[start : start + size]]

    def __len__(self) -> int:
        whole, rest = divmod(len(self.shard()), self.request.batch_size)
        return whole + (rest > 0 and not self.request.drop_last)


def load(request: Any) -> PlainLoader:
    """One rank's loader."""
    return PlainLoader(request)
