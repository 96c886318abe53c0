"""Decides which sample indices a rank asks for, step by step, in one epoch.

torch's DataLoader calls `iter()` on a sampler when an epoch begins. `EpochSampler` fixes the epoch at that
moment, so two iterators that are alive at once do not disturb each other.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from torch.utils.data import Sampler

from ..enums import ShuffleMethod
from .arithmetic import count_steps
from .checks import show
from .orders import epoch_order, in_steps
from .partition import cut, shard


class EpochSampler(Sampler[list[int]]):
    """The steps of one rank: each is the list of the indices of its samples."""

    def __init__(
        self,
        samples: int,
        combined_batch: int,
        ranks: int,
        rank: int,
        drop_last: bool,
        shuffle_seed: int | None,
        method: ShuffleMethod = ShuffleMethod.Sort,
    ) -> None:
        """Prepare the steps of one rank; `shuffle_seed` None means the order of the dataset."""
        self.samples = samples
        self.combined_batch = combined_batch
        self.drop_last = drop_last
        self.shuffle_seed = shuffle_seed
        self.method = method
        self.shard = shard(samples, combined_batch, ranks, rank, drop_last)
        self.epoch = 0
        self.first = 0
        """The step with which an iteration begins: not the first one after a restart."""

    def __len__(self) -> int:
        # COUNT-4: the length is counted by the same rule by which the shard is cut.
        return count_steps(len(self.shard), self.combined_batch, self.drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        # Not itself a generator: the epoch must be read now, not at the first step.
        return self._steps(self.epoch, self.shard[self.first * self.combined_batch :])

    def _steps(self, epoch: int, positions: range) -> Iterator[list[int]]:
        if self.shuffle_seed is None:
            # ORDER-1: unshuffled, a position is the index.
            for step in cut(positions, self.combined_batch):
                yield list(step)
            return
        # ORDER-4: the whole dataset is permuted first, alike on every rank, and sharded afterwards.
        # PART-8: the shards cover the same positions in every epoch, but other samples stand at the positions
        # that are left over.
        order = epoch_order(self.samples, self.shuffle_seed, epoch, self.method)
        yield from in_steps(order, positions, self.combined_batch)


class SingleSampler(Sampler[int]):
    """The same order sample by sample, for a loader without batches."""

    def __init__(self, steps: EpochSampler) -> None:
        self.steps = steps

    def __len__(self) -> int:
        return len(self.steps.shard)

    def __iter__(self) -> Iterator[int]:
        return (index for step in iter(self.steps) for index in step)


class MicroBatches(tuple[Any, ...]):
    """The batches of one step, each a list: of indices as the sampler gives it, of samples once they are read."""


class CombinedBatchSampler(Sampler[list[Any] | MicroBatches]):
    """Makes a step of every `count` batches of a user's batch sampler; of one, the batch itself."""

    def __init__(self, batches: Iterable[list[int]], count: int, drop_last: bool) -> None:
        """`drop_last` says what becomes of a last step for which fewer than `count` batches are left."""
        self.batches = batches
        self.count = count
        self.drop_last = drop_last

    def __len__(self) -> int:
        # COUNT-4: a batch sampler that does not know its length makes this a TypeError.
        length: Callable[[], int] | None = getattr(self.batches, "__len__", None)
        if length is None:
            raise TypeError(
                f"The batch sampler {show(self.batches)} has no len(), so the steps can't be counted: give "
                f"it __len__, or don't ask for len(loader)."
            )
        return count_steps(length(), self.count, self.drop_last)

    def __iter__(self) -> Iterator[list[Any] | MicroBatches]:
        batches = map(list, self.batches)
        # BATCH-3: a batch of the sampler is a micro-batch. It stays apart until it is collated.
        while step := MicroBatches(islice(batches, self.count)):
            if len(step) == self.count or not self.drop_last:
                yield step if self.count > 1 else step[0]
