"""Decides how a DataLoader loads asynchronously: which ring its mode and its async_options make, and who fills it.

The workers are the producers, and what they deliver is what they would deliver synchronously, step by step (ASYNC-1).
Only an iterable-style dataset that is to be rebatched needs a loader inside a producer: there the workers' batches are
cut again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

from torch.utils.data import IterableDataset

from ..enums import DataLoaderMode, SharingStrategy
from ..loading.request import LoaderRequest
from ..rules.arithmetic import count_steps
from ..rules.checks import check_flag, check_integer, check_type, show
from ..rules.shuffle import MOST_EPOCH
from ..rules.splitting import Split
from .consumer import Consumer, Plan, Settings
from .supply import Batches, Items, Stream

_OPTIONS = ("buffer_size", "miss_sleep_time_in_ms", "load_indefinitely", "early_preload", "sharing_strategy")


@dataclass(frozen=True)
class Work:
    """What a loader hands to its ring: all that the steps are made of, and not the loader itself.

    So the ring goes with the last reference to the loader. `steps` is the sampler whose epoch is set, or None where the
    order is the user's; `order` is iterated once an epoch.
    """

    asked: LoaderRequest
    collate_fn: Any
    worker_init_fn: Any
    base_seed: int
    steps: Any
    order: Any

    @property
    def has_own_order(self) -> bool:
        """Whether the order of the epochs is made by a sampler of the user's."""
        return self.steps is None and not isinstance(self.asked.dataset, IterableDataset)

    @property
    def of_a_producer(self) -> tuple[Any, ...]:
        """What a producer needs to load a step."""
        asked = self.asked
        rank = asked.options.Distributed.processId
        size = asked.combined_batch or 0
        return (
            asked.dataset,
            self.collate_fn,
            self.worker_init_fn,
            asked.workers,
            self.base_seed,
            rank,
            size,
        )


def check_mode(mode: object, async_options: object, rebatched_worker_size: object) -> None:
    """Refuse what does not go together. Raises TypeError or ValueError with the reason."""
    check_type("mode", mode, DataLoaderMode)
    if mode is DataLoaderMode.Sync and async_options is not None:
        raise ValueError(
            f"async_options is {show(async_options)}, but has no use in mode Sync: leave it out, or use Async."
        )
    if mode is not DataLoaderMode.AsyncRebatched and rebatched_worker_size is not None:
        raise ValueError(
            f"rebatched_worker_size is {show(rebatched_worker_size)}, but only AsyncRebatched loads in other sizes "
            f"than a step: leave it out, or use mode=DataLoaderMode.AsyncRebatched."
        )
    if rebatched_worker_size is not None:
        check_integer("rebatched_worker_size", rebatched_worker_size)


def settings_of(async_options: Any, workers: int, timeout: float) -> Settings:
    """Return how the ring is run. Raises TypeError or ValueError for an option that does not exist or can't be."""
    options = dict(async_options or {})
    for name in options:
        if name not in _OPTIONS:
            raise ValueError(
                f"async_options has {show(name)}, but the options are {', '.join(_OPTIONS)}: fix or remove it."
            )
    strategy = options.get("sharing_strategy", SharingStrategy.ForkServer)
    check_type("sharing_strategy", strategy, SharingStrategy)
    return Settings(
        buffer_size=check_integer("buffer_size", options.get("buffer_size", 3)),
        load_indefinitely=check_flag("load_indefinitely", options.get("load_indefinitely", True)),
        early_preload=check_flag("early_preload", options.get("early_preload", False)),
        strategy=strategy,
        producers=max(1, workers),
        timeout=timeout,
    )


def consumer_of(work: Work, settings: Settings) -> Consumer:
    """Return the ring of a loader that loads whole steps ahead."""
    asked = work.asked
    if isinstance(asked.dataset, IterableDataset):
        size = asked.combined_batch
        ask = (size, asked.drop_last and size is not None)
        return Consumer(Stream(*work.of_a_producer), settings, lambda epoch: repeat(ask))
    if work.has_own_order:
        # ASYNC-1: a user's sampler may be told of an epoch just before it is begun, and not earlier.
        settings = replace(settings, load_indefinitely=False, early_preload=False)
    return Consumer(Batches(*work.of_a_producer), settings, _plan(work))


def _plan(work: Work) -> Plan:
    """Return what each step of an epoch is made of: a list of indices, or one index without batches."""

    def plan(epoch: int) -> Iterator[Any]:
        if epoch > MOST_EPOCH:
            # Looked for ahead of time, and never begun.
            return iter(())
        if work.steps is not None:
            work.steps.epoch = epoch
        return iter(work.order)

    return plan


def rebatching(work: Work, settings: Settings, worker_size: int | None, make: Callable[..., Any]) -> Consumer:
    """Return the ring of a loader that cuts an iterable dataset's batches again; `make` is the class of the loader."""
    asked = work.asked
    size = asked.combined_batch
    if size is None:
        raise ValueError("batch_size is None, but AsyncRebatched cuts batches of a size: give one, or use Async.")
    if worker_size is not None:
        check_integer("rebatched_worker_size", worker_size, most=size)
    inner = make(
        _without_device(asked),
        asked.dataset,
        batch_size=worker_size or size,
        num_workers=asked.workers,
        # ASYNC-9: nothing is dropped before all workers' elements are together.
        drop_last=False,
        auto_distributed_partitioning=False,
        collate_fn=work.collate_fn,
        worker_init_fn=work.worker_init_fn,
    )
    one = replace(settings, producers=1)
    return Consumer(Items(inner, size, asked.drop_last), one, lambda epoch: repeat(None))


def _without_device(asked: LoaderRequest) -> Any:
    """The same options, but for the factors that make a step of several micro-batches."""
    options = asked.options.clone()
    options.deviceIterations(1).replicationFactor(1)
    options.Training.gradientAccumulation(1)
    return options


def rebatched_length(asked: LoaderRequest) -> int:
    """Return the steps of an iterable-style dataset that is rebatched. TypeError if they can't be known."""
    dataset: Any = asked.dataset
    if asked.workers > 1 and not isinstance(dataset, Split):
        raise TypeError(
            f"The steps of {asked.workers} workers over an iterable-style dataset can't be counted, because nobody "
            f"says what each of them reads: use split(dataset), or don't ask for len(loader)."
        )
    return count_steps(len(dataset), asked.combined_batch or 1, asked.drop_last)
