"""Decides what a step of the loader is: torch's DataLoader, asked for the samples of whole combined batches.

Map-style datasets, in the process that iterates (mode Sync), on one or several ranks. Fetching, collating and
worker processes are torch's; which samples come in which step and order is ours (`sampler.py`).

Epochs. Each `iter(loader)` begins the next epoch, from 0 on; `set_epoch(n)` makes the next one epoch n. With
`options.randomSeed` the order is a pure function of (seed, epoch), on one rank as on many. Without it a shuffle,
which then must be on one rank, follows a seed of its own that is drawn once, at construction, from torch's global
generator (or from `generator=`): other loaders have other orders, and `torch.manual_seed` before makes it repeat.

Random state. Only that one draw touches a global generator. torch's DataLoader would draw a seed for its workers
from it in every epoch; ours gets a generator made of (seed, epoch, rank), so that workers differ between epochs and
ranks and repeat from run to run. Without a random seed `torch.initial_seed()`, which is read and not drawn,
takes its place. Persistent workers are seeded once, in the epoch that starts them, and go on from there.
"""

import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset

from .arithmetic import combine, last_step_size
from .checks import check_flag, check_integer, check_type, show
from .enums import CommGroupType, DataLoaderMode
from .options import Options
from .sampler import CombinedBatchSampler, EpochSampler, SingleSampler
from .shuffle import check_epoch, worker_seed


class DataLoader(torch.utils.data.DataLoader[Any]):
    """Yields the combined batches of this process; see the module docstring.

    The public attributes beyond torch's: `combinedBatchSize` (N, or None without batches of a known size),
    `options`, `terminate()` and `set_epoch(n)`. The loader freezes its options.
    """

    def __init__(
        self,
        options: Options,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        num_workers: int = 0,
        drop_last: bool = True,
        persistent_workers: bool | None = None,
        auto_distributed_partitioning: bool = True,
        mode: DataLoaderMode = DataLoaderMode.Sync,
        async_options: dict[str, Any] | None = None,
        rebatched_worker_size: int | None = None,
        batch_sampler: Iterable[list[int]] | None = None,
        **kwargs: Any,
    ) -> None:
        check_type("options", options, Options)
        check_type("shuffle", shuffle, (bool, type(None)))
        drop_last = check_flag("drop_last", drop_last)
        workers = check_integer("num_workers", num_workers, least=0)
        _check_mode(mode, async_options, rebatched_worker_size)
        auto = check_flag("auto_distributed_partitioning", auto_distributed_partitioning)

        self._options = options
        self._rank = options.Distributed.processId
        # Without automatic partitioning each process loads everything, and the user shares it out.
        self._shards = (options.Distributed.numProcesses, self._rank) if auto else (1, 0)
        # COUNT-3: device options only enlarge the step; the rule by which steps are counted stays one floor.
        micro_batches = combine(1, options.Training.gradient_accumulation, _inputs(options), options.device_iterations)
        self._combined_batch_size = None
        if batch_size is not None and batch_sampler is None:
            # BATCH-4, BATCH-5: refused here, before a sample is delivered.
            self._combined_batch_size = check_integer("batch_size", batch_size) * micro_batches
        self._epoch = 0
        self._base_seed = _base_seed(options, shuffle, kwargs.pop("generator", None))
        self._borrower: weakref.ref[_Pass] | None = None

        how: dict[str, Any] = dict(shuffle=shuffle, drop_last=drop_last)
        if batch_sampler is not None:
            how = self._user_batches(batch_sampler, micro_batches, batch_size, kwargs, **how)
        elif isinstance(dataset, IterableDataset):
            how = self._elements(workers, kwargs, **how)
        elif kwargs.get("sampler") is not None:
            how = self._user_order(**how)
        else:
            how = self._epochs(dataset, **how)
        persistent = workers > 0 if persistent_workers is None else persistent_workers
        super().__init__(dataset, num_workers=workers, persistent_workers=persistent, **how, **kwargs)
        # torch leaves these out when it is given whole steps, but readers of a loader expect them.
        self.__dict__.update(batch_size=self._combined_batch_size, drop_last=drop_last)
        options._freeze()

    def _epochs(self, dataset: Any, shuffle: bool | None, drop_last: bool) -> dict[str, Any]:
        """Return torch's arguments for a map-style dataset in epochs of ours."""
        ranks, rank = self._shards
        if ranks > 1:
            assert not shuffle or hasattr(self._options, "random_seed"), (
                f"shuffle=True on {ranks} processes needs one order for all of them: call options.randomSeed(n) with "
                f"the same n in each before building the loader."
            )
            if self._combined_batch_size is None:
                raise ValueError(
                    f"batch_size is None, but {ranks} processes share out whole steps: give a batch size, or "
                    f"auto_distributed_partitioning=False to share out the samples yourself."
                )
        size = self._combined_batch_size or 1
        steps = EpochSampler(len(dataset), size, ranks, rank, drop_last, self._base_seed if shuffle else None)
        self._steps: EpochSampler | None = steps
        if self._combined_batch_size is None:
            return dict(batch_size=None, sampler=SingleSampler(steps))
        _warn_of_smaller_step(steps)
        return dict(batch_sampler=steps)

    def _user_order(self, shuffle: bool | None, drop_last: bool) -> dict[str, Any]:
        """Return torch's arguments for a user's sampler: the order of every epoch is the sampler's."""
        self._steps = None
        self._require_one_shard("A sampler decides itself which samples this process gets")
        # torch refuses drop_last without batches; there is nothing to drop then.
        drop = drop_last and self._combined_batch_size is not None
        return dict(batch_size=self._combined_batch_size, shuffle=shuffle, drop_last=drop)

    def _elements(self, workers: int, kwargs: dict[str, Any], shuffle: bool | None, drop_last: bool) -> dict[str, Any]:
        """Return torch's arguments for an iterable-style dataset."""
        how = self._user_order(shuffle, drop_last)
        if workers > 1 and kwargs.get("worker_init_fn") is None:
            warnings.warn(
                f"Every one of the {workers} workers iterates the whole dataset, so each element comes {workers} times: "
                f"split it in the dataset's __iter__ or in worker_init_fn, or use one worker.",
                stacklevel=3,
            )
        return how

    def _user_batches(
        self,
        batch_sampler: Iterable[list[int]],
        count: int,
        batch_size: int | None,
        kwargs: dict[str, Any],
        shuffle: bool | None,
        drop_last: bool,
    ) -> dict[str, Any]:
        """Return torch's arguments for a user's batch sampler, `count` batches of which make a step."""
        self._steps = None
        self._require_one_shard("A batch_sampler decides itself which samples this process gets")
        if batch_size != 1 or shuffle or kwargs.get("sampler") is not None:
            raise ValueError(
                f"batch_sampler decides batches and order, but batch_size is {show(batch_size)} and shuffle is "
                f"{show(shuffle)}: leave out batch_size, shuffle and sampler, or leave out batch_sampler."
            )
        return dict(batch_sampler=CombinedBatchSampler(batch_sampler, count, drop_last))

    def _require_one_shard(self, reason: str) -> None:
        if self._shards[0] > 1:
            raise ValueError(
                f"{reason}, but automatic partitioning over {self._shards[0]} processes was asked for: give "
                f"auto_distributed_partitioning=False and share out the data yourself."
            )

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        epoch = check_epoch(self._epoch)
        self._epoch = epoch + 1
        if self._steps is not None:
            self._steps.epoch = epoch
        # ORDER-8: workers fetch what the sampler names, and torch hands it over in the sampler's order.
        # ORDER-10, ORDER-11: torch draws the workers' seed from this generator, not from its global one.
        self.generator = torch.Generator().manual_seed(worker_seed(self._base_seed, epoch, self._rank))
        if not self.persistent_workers:
            return super().__iter__()
        if self._persistent_workers_are_busy():
            # torch would restart the iterator that is still in use; this one gets workers of its own.
            return self._get_iterator()
        borrower = _Pass(super().__iter__())
        self._borrower = weakref.ref(borrower)
        return borrower

    def _persistent_workers_are_busy(self) -> bool:
        borrower = self._borrower() if self._borrower is not None else None
        return borrower is not None and borrower.source is not None

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration epoch `epoch`; later ones go on counting from there."""
        # ORDER-5: an epoch that is reached directly is the same as one that is counted up to.
        self._epoch = check_epoch(epoch)

    def terminate(self) -> None:
        """Stop persistent workers. May be called at any time and any number of times; iterating starts new ones."""
        iterator, self._iterator = self._iterator, None
        self._borrower = None
        shutdown = getattr(iterator, "_shutdown_workers", None)
        if shutdown is not None:
            shutdown()

    @property
    def combinedBatchSize(self) -> int | None:
        """N, the samples of a full step; None with batch_size=None and with a batch_sampler."""
        return self._combined_batch_size

    @property
    def options(self) -> Options:
        """The options that the loader was built with, frozen."""
        return self._options


class _Pass:
    """One epoch over persistent workers; `source` is None once it has ended and they are free again."""

    def __init__(self, source: Iterator[Any]) -> None:
        self.source: Iterator[Any] | None = source

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.source is None:
            raise StopIteration
        try:
            return next(self.source)
        except StopIteration:
            self.source = None
            raise


def _check_mode(mode: object, async_options: object, rebatched_worker_size: object) -> None:
    """Refuse what belongs to asynchronous loading, which does not exist here yet."""
    check_type("mode", mode, DataLoaderMode)
    if mode is not DataLoaderMode.Sync:
        raise NotImplementedError(f"mode is {mode!s}, but only Sync is built yet: use DataLoaderMode.Sync.")
    for name, value in (("async_options", async_options), ("rebatched_worker_size", rebatched_worker_size)):
        if value is not None:
            raise ValueError(f"{name} is {show(value)}, but mode is Sync, which has no use for it: leave it out.")


def _inputs(options: Options) -> int:
    """Return how many replicas get an input of their own."""
    replicas: int = options.replication_factor
    group = replicas if options.input_group_type is CommGroupType.All else options.input_group_size
    if replicas % group:
        raise ValueError(
            f"inputReplicaGrouping has groups of {group}, which do not divide {replicas} replicas evenly: "
            f"give a divisor of the replication factor."
        )
    return replicas // int(group)


def _base_seed(options: Options, shuffle: bool | None, generator: torch.Generator | None) -> int:
    """Return the number from which all randomness of the loader follows."""
    if hasattr(options, "random_seed"):
        return int(options.random_seed)
    if shuffle or generator is not None:
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())
    # ORDER-11: read, not drawn.
    return torch.initial_seed() % 2**64


def _warn_of_smaller_step(steps: EpochSampler) -> None:
    """Warn when the last step of an epoch will be smaller than the others."""
    last = last_step_size(len(steps.shard), steps.combined_batch, len(steps))
    # BATCH-2: only when the rest is kept can this be.
    if len(steps) and last < steps.combined_batch:
        warnings.warn(
            f"The last step of each epoch holds {last} samples instead of {steps.combined_batch}, because drop_last is "
            f"False: expect the smaller step, or use drop_last=True.",
            stacklevel=4,
        )
