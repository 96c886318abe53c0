"""grain's DataLoader with an IndexSampler. There is no torch in its environment.

Source of the claims: https://google-grain.readthedocs.io/en/latest/data_loader/samplers.html (IndexSampler: "Global
shuffle of the data") and https://google-grain.readthedocs.io/en/latest/grain.sharding.html (drop_remainder: "If True
shard() will create even splits and drop the remainder examples ... If False will distribute the remainder N over the
first N shards"); that shards are consecutive pieces is said by the sampler's code.

An IndexSampler of one epoch has one order. A training loop makes another one for the next, and so does `set_epoch` of
this adapter, with a seed drawn from (seed, epoch): ORDER-6, ORDER-7 and ORDER-14 speak of the adapter. `smallest` is 1:
a sampler takes no empty dataset, and says so. Not claimed: `length`; `workers` (each is an interpreter that is started
again, a second and more, so that a run would take hours).
"""

from typing import Any

import grain
import numpy as np

from conformance.peers.grain_states import OfEpochs

claims: dict[str, Any] = dict(
    when_dropping="drop",
    when_keeping="uneven",
    layout="contiguous",
    shuffle="global",
    epochs="set_epoch",
    resume=True,
    smallest=1,
)


class EpochLoader(OfEpochs):
    """The loader of one epoch after the other."""

    def begin(self) -> Any:
        """Make the sampler of an epoch, the loader with it, and its iterator."""
        asked = self.asked
        (seed,) = np.random.SeedSequence((asked.seed, self.epoch)).generate_state(1)
        sampler = grain.samplers.IndexSampler(
            num_records=len(asked.dataset),
            num_epochs=1,
            shard_options=grain.sharding.ShardOptions(asked.rank, asked.world_size, asked.drop_last),
            shuffle=asked.shuffle,
            seed=int(seed),
        )
        batch = grain.transforms.Batch(asked.batch_size, drop_remainder=asked.drop_last, batch_fn=list)
        return iter(grain.DataLoader(data_source=asked.dataset, sampler=sampler, operations=[batch], worker_count=0))


def load(request: Any) -> EpochLoader:
    """One rank's loader."""
    return EpochLoader(request)
