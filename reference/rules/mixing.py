"""Decides in which order several datasets are read as one: by weights, until the first or the last is exhausted.

`MixedBatches` is a batch sampler over the datasets one behind the other, as `torch.utils.data.ConcatDataset` has them.
One schedule serves all ranks: it names the sample at each position of the epoch, and the ranks take turns at its steps.
"""

from collections.abc import Sequence
from itertools import accumulate
from random import Random

from .checks import check_integer, show
from .choosing import ChosenBatches, Steps
from .shuffle import permutation, worker_seed

STOPS = ("first_exhausted", "all_exhausted")


class MixedBatches(ChosenBatches):
    """Steps of a mixture of sources."""

    def __init__(
        self,
        sizes: Sequence[int],
        weights: Sequence[float],
        stop: str,
        batch_size: int,
        ranks: int = 1,
        rank: int = 0,
        drop_last: bool = True,
        seed: int = 0,
        shuffle: bool = True,
    ) -> None:
        """Prepare steps of `batch_size` samples of sources of these sizes. ValueError for what can't be mixed."""
        super().__init__(sum(sizes), ranks, rank, drop_last, seed if shuffle else None)
        if stop not in STOPS:
            raise ValueError(f"stop is {show(stop)}, but must be one of {STOPS}: give 'first_exhausted', for example.")
        if len(weights) != len(sizes) or not sizes or min(weights) <= 0 or min(sizes) < 1:
            raise ValueError(
                f"{show(list(weights))} are the weights of sources of {show(list(sizes))} samples: give each source a "
                f"sample and a weight above 0, and leave out the others."
            )
        self.sizes, self.weights, self.stop, self.seed = tuple(sizes), tuple(weights), stop, seed
        self.batch_size = check_integer("batch_size", batch_size)

    def _order(self) -> list[int]:
        epoch = self.epoch if self.shuffle_seed is not None else 0
        # MIX-4, MIX-5, MIX-7: drawn of seed and epoch; the rank plays no part.
        draw = Random(worker_seed(self.seed, epoch, 0))
        starts = [0, *accumulate(self.sizes)]
        taken = [0] * len(self.sizes)
        passes = [self._pass(source, 0) for source in range(len(self.sizes))]
        order: list[int] = []
        needed = 1 if self.stop == "first_exhausted" else len(self.sizes)
        # MIX-2: over when so many have been through once, with the sample that makes it so.
        while sum(count >= size for count, size in zip(taken, self.sizes, strict=True)) < needed:
            # MIX-3
            (source,) = draw.choices(range(len(self.sizes)), self.weights)
            place = taken[source] % self.sizes[source]
            # MIX-1, MIX-6: a source goes through all its samples before any of them comes again.
            if place == 0 and taken[source]:
                passes[source] = self._pass(source, taken[source] // self.sizes[source])
            order.append(starts[source] + passes[source][place])
            taken[source] += 1
        return order

    def _pass(self, source: int, number: int) -> Sequence[int]:
        """Return the samples of a source in the order of its pass."""
        if self.shuffle_seed is None:
            return range(self.sizes[source])
        seed = worker_seed(self.shuffle_seed, self.epoch, 1 + source)
        order: list[int] = permutation(self.sizes[source], seed, number).tolist()
        return order

    def _steps(self, order: Sequence[int]) -> Steps:
        # MIX-9: and the length counts these.
        steps = [list(order[at : at + self.batch_size]) for at in range(0, len(order), self.batch_size)]
        # MIX-8: a schedule that is computed anew is the same, so that a state is a number of steps.
        return [step for step in steps if len(step) == self.batch_size or not self.drop_last]
