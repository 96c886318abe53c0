"""grain's MapDataset: shuffled, repeated, sliced, batched. There is no torch in its environment.

Source of the claims: https://google-grain.readthedocs.io/en/latest/tutorials/dataset_basic_tutorial.html (shuffle: a
global shuffle, another one in each epoch of `repeat`; `[shard_index::shard_count]` shards; batch with drop_remainder)
and https://google-grain.readthedocs.io/en/latest/grain.dataset.html.

An epoch is its part of the repeated dataset, as the tutorial slices it. With drop_last the shards are cut to whole
rounds of ranks by the same slicing. Not claimed: `length`; `workers` (each is an interpreter that is started again, a
second and more, so that a run would take hours).
"""

from typing import Any

import grain

from conformance.peers.grain_states import OfEpochs

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="strided",
    shuffle="global",
    epochs="set_epoch",
    resume=True,
)


class EpochDataset(OfEpochs):
    """The part of a dataset that is an epoch of a rank."""

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        # To a slice they are just numbers.
        if not 0 <= request.rank < request.world_size:
            raise ValueError(f"there is no rank {request.rank} of {request.world_size}; give one from 0 on, below that")

    def begin(self) -> Any:
        """Take the part that is this epoch."""
        asked = self.asked
        samples, ranks = len(asked.dataset), asked.world_size
        whole = grain.MapDataset.source(asked.dataset)
        if asked.shuffle:
            whole = whole.shuffle(seed=asked.seed)
        used = samples - samples % ranks if asked.drop_last else samples
        first, last = self.epoch * samples + asked.rank, self.epoch * samples + used
        mine = whole.repeat(self.epoch + 1)[first:last:ranks]
        return iter(mine.batch(asked.batch_size, drop_remainder=asked.drop_last, batch_fn=list).to_iter_dataset())


def load(request: Any) -> EpochDataset:
    """One rank's loader."""
    return EpochDataset(request)
