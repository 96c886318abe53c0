"""What one rank's loader is asked for."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# The largest that is asked for.
LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True)
class Request:
    """What one rank's loader is asked for: plain data, the argument of an adapter's `load`.

    The samples of `dataset` are integers; the loader delivers them in batches of `batch_size`, in any container that
    `decode` (or the default decoder) reads. With `device_options` claimed, a step holds `combined_batch` samples.
    `workdir` is a folder that the adapter may fill with files made from this dataset. It is kept for later requests of
    this rank with a dataset of the same content, and identifies that content: a length, a type or a repr does not.
    Those from `collate_fn` to `rebatched` are asked for only where the claim `hooks` names them: `timeout` is the
    seconds that a worker may take over a step, 0 for no limit; a `sampler` gives the indices of an epoch in their
    order, and a `batch_sampler` its steps; the state of a `generator`, which is torch's, decides the shuffle in place
    of `seed`. Those from `buffer_size` on say how an asynchronous loader reads ahead: at
    most so many steps beyond the one that the consumer holds (0: as many as it likes), already before the first
    iterator is made, into the next epoch before that is asked for, and in small batches that are joined to full steps.
    `batches` says how the members of a step are chosen, of the ways that the claim of this name has: "grouped", from
    one of `groups`, the group of each sample; "budget" or "at_least", so that their `sizes` add up to `budget` at most,
    or at the least. `batch_size` says nothing in the last two. `indices`, where `subsets` is claimed, are the samples
    of the dataset that are asked for, in their order: the caller's own list. `sources` are map-style datasets to be
    mixed by their `weights` until one or all are exhausted, as `stop` says: one of those that `mixtures` claims.
    `shards` is asked for only where the claim `drops` is made: how many samples lie in each file, in their order.
    Without `sources`, `weights`, if they are among the hooks, say how much oftener one sample is drawn than another;
    None: all alike.
    """

    dataset: Any
    batch_size: int
    shuffle: bool
    seed: int
    drop_last: bool
    num_workers: int
    rank: int
    world_size: int
    replication_factor: int
    device_iterations: int
    gradient_accumulation: int
    asynchronous: bool
    workdir: str
    collate_fn: Callable[[list[Any]], Any] | None = None
    worker_init_fn: Callable[[int], None] | None = None
    timeout: float = 0
    persistent_workers: bool = False
    sampler: Any = None
    batch_sampler: Any = None
    generator: Any = None
    buffer_size: int = 0
    early_preload: bool = False
    load_indefinitely: bool = True
    rebatched: bool = False
    batches: str = ""
    groups: tuple[int, ...] = ()
    sizes: tuple[int, ...] = ()
    budget: int = 0
    indices: list[int] | None = None
    sources: tuple[Any, ...] = ()
    stop: str = ""
    shards: tuple[int, ...] = ()
    weights: tuple[float, ...] | None = None

    @property
    def combined_batch(self) -> int:
        """N, the samples of a full step (BATCH-1)."""
        return self.batch_size * self.gradient_accumulation * self.replication_factor * self.device_iterations
