"""Decides what a step of the loader is: torch's DataLoader, asked for the samples of whole combined batches.

Fetching, collating and worker processes are torch's; which samples come in which step and order is ours
(`request.py`, `sampler.py`). So far the loader runs in the process that iterates it (mode Sync).

Epochs. Each `iter(loader)` begins the next epoch, from 0 on; `set_epoch(n)` makes the next one epoch n. With
`options.randomSeed` the order is a pure function of (seed, epoch), on one rank as on many. Without it a
shuffle, which then must be on one rank, follows a seed of its own that is drawn once, at construction, from
torch's global generator (or from `generator=`): other loaders have other orders, and `torch.manual_seed`
before makes it repeat.

Random state. Only that one draw touches a global generator. torch's DataLoader would draw a seed for its
workers from it in every epoch; ours gets a generator made of (seed, epoch, rank), so that workers differ
between epochs and ranks and repeat from run to run. Without a random seed `torch.initial_seed()`, which is
read and not drawn, takes its place. Persistent workers are seeded once, in the epoch that starts them, and go
on from there.
"""

import warnings
import weakref
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

import torch
import torch.utils.data

from .checks import check_type, show
from .enums import DataLoaderMode
from .options import Options
from .request import make_request, torch_arguments, warning
from .shuffle import check_epoch, worker_seed


class DataLoader(torch.utils.data.DataLoader[Any]):
    """Yields the combined batches of this process; see the module docstring.

    Its own public names, beyond torch's: `combinedBatchSize` (N), `options`, `terminate()`, `set_epoch(n)`.
    A loader freezes its options. Bad arguments raise TypeError, ValueError, NotImplementedError or, for a
    shuffle over several processes without a random seed, AssertionError; each says what to do.
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
        """Prepare the epochs; `kwargs` go to torch's DataLoader as they are."""
        _check_mode(mode, async_options, rebatched_worker_size)
        generator = kwargs.pop("generator", None)
        asked = make_request(
            options,
            dataset,
            batch_size,
            shuffle,
            num_workers,
            drop_last,
            auto_distributed_partitioning,
            batch_sampler,
            kwargs,
        )
        self._options = options
        self._combined_batch_size = asked.combined_batch
        self._epoch = 0
        self._base_seed = _base_seed(options, shuffle, generator)
        self._borrower: weakref.ref[_Pass] | None = None
        arguments, self._steps = torch_arguments(asked, self._base_seed)
        persistent = asked.workers > 0 if persistent_workers is None else persistent_workers
        super().__init__(dataset, num_workers=asked.workers, persistent_workers=persistent, **arguments, **kwargs)
        # torch leaves these two out when it is given whole steps, but readers of a loader expect them.
        self.__dict__.update(batch_size=asked.combined_batch, drop_last=asked.drop_last)
        options._freeze()
        surprise = warning(asked, self._steps)
        if surprise is not None:
            warnings.warn(surprise, UserWarning, stacklevel=2)

    def __iter__(self) -> Iterator[Any]:  # type: ignore[override]
        epoch = check_epoch(self._epoch)
        self._epoch = epoch + 1
        if self._steps is not None:
            self._steps.epoch = epoch
        # ORDER-8: workers fetch what the sampler names, and torch hands it over in the sampler's order.
        # ORDER-10, ORDER-11: torch draws the workers' seed from this generator, not from its global one.
        rank = self._options.Distributed.processId
        self.generator = torch.Generator().manual_seed(worker_seed(self._base_seed, epoch, rank))
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
        """Stop persistent workers. May be called any number of times; iterating again starts new ones."""
        borrower = self._borrower() if self._borrower is not None else None
        if borrower is not None and borrower.source is not None:
            borrower.source = _terminated()
        iterator, self._iterator, self._borrower = self._iterator, None, None
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


def _terminated() -> Iterator[NoReturn]:
    """Stand in for an iterator whose workers were stopped: an epoch cut short must not look complete."""
    raise RuntimeError("The loader was terminated within this epoch: begin a new one, iter(loader).")
    yield


def _check_mode(mode: object, async_options: object, rebatched_worker_size: object) -> None:
    """Refuse what belongs to asynchronous loading, which is not built yet."""
    check_type("mode", mode, DataLoaderMode)
    if mode is not DataLoaderMode.Sync:
        raise NotImplementedError(f"mode is {mode!r}, but only Sync is built yet: use DataLoaderMode.Sync.")
    for name, value in (("async_options", async_options), ("rebatched_worker_size", rebatched_worker_size)):
        if value is not None:
            raise ValueError(f"{name} is {show(value)}, but has no use in mode Sync: leave it out.")


def _base_seed(options: Options, shuffle: bool | None, generator: torch.Generator | None) -> int:
    """Return the number from which all randomness of the loader follows."""
    seed = options._seed()
    if seed is not None:
        return seed
    if shuffle or generator is not None:
        return int(torch.empty((), dtype=torch.int64).random_(generator=generator).item())
    # ORDER-11: read, not drawn.
    return torch.initial_seed() % 2**64
