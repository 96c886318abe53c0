"""Decides which loaders are compared, each asked in the words of its own documentation for the same steps.

Threads. A worker uses one thread: torch's loader sees to it in its own workers, and so does ours. The process that
iterates may use as many as torch takes by itself, as in a user's script; a limit says how many threads it has.
"""

import mmap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch.utils.data import BatchSampler, DataLoader, RandomSampler, SequentialSampler, TensorDataset

import reference
from reference import DataLoaderMode, SharingStrategy
from tests.benchmarks.images import Load

BUFFER_SIZE = 3  # slots of our ring, and of the limits'
ASYNC_OPTIONS = {"buffer_size": BUFFER_SIZE, "load_indefinitely": True}


@dataclass(frozen=True)
class Way:
    """One way to get a load's steps. `kind` is torch, ours, limit, or other: shown, but in no target."""

    name: str
    kind: str
    workers: int
    open: Callable[[Load], Any]
    threads: int | None = None  # of the process that iterates; None: as many as torch takes


def torch_ways() -> list[Way]:
    """torch's loader as it is called by most, and its workers kept or started anew in each epoch."""
    return [
        Way("torch, 0 workers", "torch", 0, partial(torch_loader, workers=0)),
        *(Way(f"torch, {_workers(n)}", "torch", n, partial(torch_loader, workers=n)) for n in (1, 2)),
        *(
            Way(f"torch, {_workers(n)}, persistent", "torch", n, partial(torch_loader, workers=n, persistent=True))
            for n in (1, 2)
        ),
        Way("torchdata's StatefulDataLoader, 2 workers, persistent", "other", 2, partial(stateful_loader, workers=2)),
    ]


def our_ways() -> list[Way]:
    """Our loader in each mode."""
    asked = [(DataLoaderMode.Sync, 0), *((mode, workers) for mode in DataLoaderMode for workers in (1, 2))]
    return [our_way(mode, workers) for mode, workers in asked]


def our_way(mode: DataLoaderMode, workers: int, early_preload: bool = True) -> Way:
    """Our loader in one mode."""
    make = partial(our_loader, mode=mode, workers=workers, early_preload=early_preload)
    return Way(f"ours, {mode.name}, {_workers(workers)}", "ours", workers, make)


def start_ways(workers: int, spawns: bool) -> list[Way]:
    """How workers can be started: forked, and, if that is asked for, in new interpreters or from a server."""
    asked = [("fork", SharingStrategy.Fork)]
    asked += [("spawn", SharingStrategy.SharedMemory), ("forkserver", SharingStrategy.ForkServer)] if spawns else []
    return [
        way
        for method, strategy in asked
        for way in (
            Way(
                f"torch, {method}, {_workers(workers)}",
                "torch",
                workers,
                partial(torch_loader, workers=workers, method=method),
            ),
            Way(
                f"ours, {strategy.name}, {_workers(workers)}",
                "ours",
                workers,
                partial(our_loader, mode=DataLoaderMode.Async, workers=workers, early_preload=True, strategy=strategy),
            ),
        )
    ]


def limits() -> list[Way]:
    """What the machine can do at all, and what torch's loader can if it is asked for whole steps at once."""
    return [
        Way("torch, 0 workers, whole steps indexed at once", "other", 0, indexed_at_once),
        *(Way(f"limit: gather, {_threads(n)}", "limit", n, partial(Limit, gathered=True), n) for n in (1, 2)),
        *(Way(f"limit: plain copy, {_threads(n)}", "limit", n, partial(Limit, gathered=False), n) for n in (1, 2)),
    ]


def torch_loader(load: Load, workers: int, persistent: bool = False, method: str | None = None) -> Any:
    """torch's DataLoader."""
    return DataLoader(
        load.dataset,
        load.step,
        shuffle=load.shuffle,
        num_workers=workers,
        drop_last=True,
        persistent_workers=persistent,
        multiprocessing_context=method,
    )


def stateful_loader(load: Load, workers: int) -> Any:
    """torchdata's DataLoader, which can be stopped and continued. Raises ImportError where it is not installed."""
    try:
        from torchdata.stateful_dataloader import StatefulDataLoader
    except ImportError as error:
        raise ImportError(f"torchdata is not installed ({error}): pip install -e '.[benchmark]' adds it.") from error
    with warnings.catch_warnings():
        # It sets a flag that torch 2.13 has no use for any more.
        warnings.filterwarnings("ignore", ".*set_vital.*", UserWarning)
        return StatefulDataLoader(
            load.dataset,
            load.step,
            shuffle=load.shuffle,
            num_workers=workers,
            drop_last=True,
            persistent_workers=True,
        )


def our_loader(
    load: Load,
    mode: DataLoaderMode,
    workers: int,
    early_preload: bool,
    strategy: SharingStrategy = SharingStrategy.Fork,
) -> Any:
    """Our DataLoader. In mode AsyncRebatched, a worker makes a fifth of a step at a time."""
    options = reference.Options().deviceIterations(load.device_iterations).replicationFactor(load.replicas)
    asked: dict[str, Any] = {}
    if mode is not DataLoaderMode.Sync:
        asked["async_options"] = {**ASYNC_OPTIONS, "early_preload": early_preload, "sharing_strategy": strategy}
    if mode is DataLoaderMode.AsyncRebatched:
        asked["rebatched_worker_size"] = max(load.step // 5, 1)
    return reference.DataLoader(
        options,
        load.dataset,
        batch_size=load.batch_size,
        shuffle=load.shuffle,
        num_workers=workers,
        drop_last=True,
        mode=mode,
        **asked,
    )


def indexed_at_once(load: Load) -> Any:
    """torch's DataLoader without batching, and a sampler that names whole steps: a dataset of tensors gathers them."""
    order = RandomSampler(load.dataset) if load.shuffle else SequentialSampler(load.dataset)  # type: ignore[arg-type]
    return DataLoader(load.dataset, batch_size=None, sampler=BatchSampler(order, load.step, drop_last=True))


class Limit:
    """No loader: fills reused slots of shared memory, in the process that iterates, by a gather or a plain copy."""

    def __init__(self, load: Load, gathered: bool) -> None:
        assert isinstance(load.dataset, TensorDataset)
        self.data = load.dataset.tensors[0]
        self.gathered = gathered
        # Longs, since that is what a gather takes; made once, since a sampler's work is not the limit.
        self.indices = torch.arange(len(self.data) // load.step * load.step).view(-1, load.step)
        shared = mmap.mmap(-1, BUFFER_SIZE * load.step * load.sample_bytes)
        self.ring = torch.frombuffer(shared, dtype=self.data.dtype).view(BUFFER_SIZE, load.step, *self.data.shape[1:])

    def __iter__(self) -> Iterator[list[torch.Tensor]]:
        for number, indices in enumerate(self.indices):
            slot = self.ring[number % BUFFER_SIZE]
            if self.gathered:
                torch.index_select(self.data, 0, indices, out=slot)
            else:
                slot.copy_(self.data[number * len(indices) : (number + 1) * len(indices)])
            yield [slot]


def _workers(number: int) -> str:
    return f"{number} worker" if number == 1 else f"{number} workers"


def _threads(number: int) -> str:
    return f"{number} thread" if number == 1 else f"{number} threads"
