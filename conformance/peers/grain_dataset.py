"""grain's MapDataset: shuffled, repeated, sliced, batched. There is no torch in its environment.

Source of the claims: https://google-grain.readthedocs.io/en/latest/tutorials/dataset_basic_tutorial.html (shuffle: a
global shuffle, another one in each epoch of `repeat`; `[shard_index::shard_count]` shards; batch with drop_remainder)
and https://google-grain.readthedocs.io/en/latest/grain.dataset.html.

An epoch is its part of the repeated dataset, as the tutorial slices it. With drop_last the shards are cut to whole
rounds of ranks by the same slicing. Not claimed: `length`; `workers` (each is an interpreter that is started anew, a
second and more, so that a run would take hours).
"""

from collections.abc import Iterator
from typing import Any

import grain

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="strided",
    shuffle="global",
    epochs="set_epoch",
)


class EpochDataset:
    """The part of a dataset that is an epoch of a rank."""

    def __init__(self, request: Any) -> None:
        self.asked = request
        self.set_epoch(0)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.epoch.to_iter_dataset())

    def set_epoch(self, epoch: int) -> None:
        """Take the part that is this epoch."""
        asked = self.asked
        samples, ranks = len(asked.dataset), asked.world_size
        # To a slice they are just numbers.
        if not 0 <= asked.rank < ranks:
            raise ValueError(f"there is no rank {asked.rank} of {ranks}; give one from 0 to {ranks - 1}")
        whole = grain.MapDataset.source(asked.dataset)
        if asked.shuffle:
            whole = whole.shuffle(seed=asked.seed)
        used = samples - samples % ranks if asked.drop_last else samples
        mine = whole.repeat(epoch + 1)[epoch * samples + asked.rank : epoch * samples + used : ranks]
        self.epoch = mine.batch(asked.batch_size, drop_remainder=asked.drop_last, batch_fn=list)


def load(request: Any) -> EpochDataset:
    """One rank's loader."""
    return EpochDataset(request)
