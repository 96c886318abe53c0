"""Decides what `AsynchronousDataAccessor` is: a ring around any iterable, filled by a process of its own.

What comes out is what the iterable gives, item by item and in order. An item lies in the ring's memory: it stays as it
is until the next one is asked for, and may be overwritten afterwards, so items that are kept must be cloned.

Departures from the original, on purpose. The consumer sleeps until the process says something, so
`miss_sleep_time_in_ms` is accepted and has no use. Items may be nested. A second iterator ends the first one with an
error instead of sharing its items with it.
"""

import copy
from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from .ahead.consumer import Consumer, Pass, Settings
from .ahead.ring import Content
from .ahead.supply import Items
from .dataloader import DataLoader
from .enums import SharingStrategy
from .rules.checks import check_flag, check_integer, check_type, show


class AsynchronousDataAccessor:
    """Iterates a dataset in another process, ahead of the consumer, into `buffer_size` slots of shared memory."""

    def __init__(
        self,
        dataset: Iterable[Any],
        buffer_size: int = 3,
        miss_sleep_time_in_ms: float = 0.1,
        load_indefinitely: bool = True,
        early_preload: bool = False,
        sharing_strategy: SharingStrategy = SharingStrategy.ForkServer,
        rebatched_size: int | None = None,
    ) -> None:
        """Start the process and load the first item.

        Raises ValueError or TypeError for what can't be, and for an empty dataset; RuntimeError when the first item
        can't be loaded, caused by what the dataset raised.
        """
        check_type("miss_sleep_time_in_ms", miss_sleep_time_in_ms, (int, float))
        drop_last = _check_dataset(dataset, rebatched_size)
        settings = Settings(
            check_integer("buffer_size", buffer_size),
            check_flag("load_indefinitely", load_indefinitely),
            check_flag("early_preload", early_preload),
            _check_strategy(sharing_strategy),
        )
        # A loader goes to the process without the workers that it has here, and begins with its own next epoch.
        self._dataset = copy.copy(dataset) if isinstance(dataset, DataLoader) else dataset
        self._rebatched_size = rebatched_size
        items = Items(self._dataset, rebatched_size, drop_last)
        self._consumer = Consumer(items, settings, lambda epoch: repeat(None))
        self._epoch = dataset._epoch if isinstance(dataset, DataLoader) else 0
        self._pass: Pass | None = None
        self._check_first()

    def _check_first(self) -> None:
        said = self._consumer.load_first(self._epoch)
        if said is not None and said.content is Content.ITEM:
            return
        self.terminate()
        if said is not None and said.failure is not None:
            error = said.failure.error
            raise RuntimeError(
                f"AsynchronousDataAccessor worker thread failed to start: loading the first item raised "
                f"{type(error).__name__}: {error}"
            ) from error
        raise ValueError("The Dataset is empty: there is no item to load; give a dataset with one item at least.")

    def __len__(self) -> int:
        """Return the items of an epoch. Raises TypeError if the dataset does not know them."""
        dataset: Any = self._dataset
        if self._rebatched_size is None:
            return len(dataset)
        if isinstance(dataset, DataLoader) and dataset.drop_last and dataset.combinedBatchSize is not None:
            # ASYNC-10: every step of the loader is full.
            return len(dataset) * dataset.combinedBatchSize // self._rebatched_size
        raise TypeError(
            f"Items that are cut again (rebatched_size={self._rebatched_size}) can't be counted, because nobody says "
            f"how many rows come: don't ask for len(accessor)."
        )

    def __iter__(self) -> Iterator[Any]:
        # An iterator that was not used yet is as good as a new one.
        if self._pass is None or self._consumer.is_used or self._pass.number != self._consumer.passes:
            self._pass = self._consumer.begin(self._epoch)
            self._epoch += 1
        return self._pass

    def __next__(self) -> Any:
        return next(self._pass if self._pass is not None else iter(self))

    def terminate(self) -> None:
        """End the process. May be called any number of times; the next `iter` starts a new one."""
        self._consumer.close()


def _check_strategy(strategy: object) -> SharingStrategy:
    check_type("sharing_strategy", strategy, SharingStrategy)
    assert isinstance(strategy, SharingStrategy)
    return strategy


def _check_dataset(dataset: Any, rebatched_size: int | None) -> bool:
    """Refuse what can't be wrapped; return whether a rest is dropped when items are cut again."""
    if rebatched_size is not None:
        check_integer("rebatched_size", rebatched_size, least=2)
    if not hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__"):
        raise TypeError(f"The dataset is {show(dataset)}, which can't be iterated: give an iterable.")
    if not isinstance(dataset, DataLoader):
        return False
    if dataset.is_asynchronous:
        raise ValueError(
            "The DataLoader is asynchronous already: iterate it as it is, or build it with DataLoaderMode.Sync."
        )
    if not dataset.drop_last and (dataset.combinedBatchSize or 1) > 1 and rebatched_size is None:
        raise ValueError(
            f"The DataLoader may have an incomplete last step (drop_last=False, {dataset.combinedBatchSize} samples a "
            f"step): use drop_last=True, rebatched_size, or DataLoader(mode=DataLoaderMode.Async)."
        )
    return bool(dataset.drop_last)
