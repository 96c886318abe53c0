"""Decides what producers put into the slots of a ring: the items of any iterable, or the steps of a loader.

`Items`     any iterable, in one producer, as it comes; or cut again into items of another size
`Batches`   a map-style dataset: the consumer's order says which samples; any number of producers
`Stream`    an iterable-style dataset: each producer, as a worker of the loader, cuts its own share into steps
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import torch
from torch.utils.data import TensorDataset
from torch.utils.data._utils import worker as torch_worker

from ..loading.collate import collate
from ..loading.faults import Collating, Failure, Source
from ..loading.worker import Starting, seed_generators, seed_worker
from ..rules.sampler import MicroBatches
from ..rules.shuffle import worker_seed
from ..rules.streams import begin_epoch
from .gather import gather, layout_of_gathered, put_samples, tensors_to_gather
from .layout import Layout, rebuild, structure_of, walk
from .producing import Order


class Items:
    """The items of an iterable, epoch after epoch."""

    def __init__(self, dataset: Iterable[Any], rebatched_size: int | None = None, drop_last: bool = False) -> None:
        self.dataset = dataset
        self.rebatched_size = rebatched_size
        self.drop_last = drop_last
        self.epoch = -1
        self.items: Iterator[Any] = iter(())
        # What an item is made of, and how much makes a full one, is its own affair.
        self.rows = self.full = 0
        self.smaller: int | None = None
        """The item of this epoch that was smaller than the first one."""

    def open(self, number: int) -> None:
        """Nothing is to be done."""

    def layout(self, order: Order) -> Layout | None:
        """Not known before the first item."""
        return None

    def item(self, order: Order) -> Any:
        """Return the next item of the order's epoch."""
        if self.epoch != order.place.epoch:
            self.epoch, self.items, self.smaller = order.place.epoch, iter(()), None
            if hasattr(self.dataset, "set_epoch"):
                self.dataset.set_epoch(order.epoch)
            self.items = iter(self.dataset)
            if self.rebatched_size is not None:
                self.items = rebatched(self.items, self.rebatched_size, self.drop_last)
        try:
            return next(self.items)
        except StopIteration:
            # WORK-15: the end stays the end, also of an iterator that starts again by itself.
            self.items = iter(())
            raise

    def put(self, order: Order, layout: Layout, views: list[torch.Tensor]) -> tuple[int, ...] | Failure | None:
        """Copy the next item."""
        item = self.item(order)
        if self.smaller is not None:
            raise ValueError(
                f"Item {self.smaller} is smaller than the first one, and not the last of its epoch: give all items "
                f"the same size, or rebatched_size to cut them again."
            )
        rows = layout.put(item, views, order.place.step)
        if rows is not None:
            self.smaller = order.place.step
        return rows


def rebatched(items: Iterator[Any], size: int, drop_last: bool) -> Iterator[Any]:
    """Cut items again along their first dimension, `size` to an item. ASYNC-9: drops less than one item in all."""
    held: list[Any] = []
    count, first = 0, ""
    for number, item in enumerate(items):
        held.append(item)
        count += _rows(item, number)
        first = first or _kind(item)
        if _kind(item) != first:
            # ASYNC-11: joined they would become what one of them is not.
            raise TypeError(
                f"Item {number} is a {_kind(item)}, but the first item was a {first}: items that are cut again are "
                f"joined, so give them the same structure, dtypes and sizes of a row."
            )
        while count >= size:
            whole, held = _cut(held, size)
            yield whole
            count -= size
    if count and not drop_last:
        yield _joined(held)


def _kind(item: Any) -> str:
    rows = ", ".join(f"{tensor.dtype} {tuple(tensor.shape[1:])}" for _, tensor in walk(item))
    return f"{structure_of(item)} with rows of {rows}"


def _rows(item: Any, number: int) -> int:
    tensors = [tensor for _, tensor in walk(item, f"Item {number}")]
    if not tensors or not all(tensor.dim() and len(tensor) == len(tensors[0]) for tensor in tensors):
        raise ValueError(
            f"Item {number} can only be cut again if all its tensors have the same first dimension, but they have the "
            f"shapes {', '.join(str(tuple(tensor.shape)) for tensor in tensors)}: leave out rebatched_size."
        )
    return len(tensors[0])


def _cut(held: list[Any], size: int) -> tuple[Any, list[Any]]:
    joined = _joined(held)
    tensors = [tensor for _, tensor in walk(joined)]
    rest = rebuild(joined, iter([tensor[size:] for tensor in tensors]))
    whole = rebuild(joined, iter([tensor[:size] for tensor in tensors]))
    return whole, [rest] if len(tensors[0]) > size else []


def _joined(held: list[Any]) -> Any:
    if len(held) == 1:
        return held[0]
    columns = zip(*([tensor for _, tensor in walk(item)] for item in held), strict=True)
    return rebuild(held[0], iter([torch.cat(column) for column in columns]))


class _Worker:
    """What both kinds of worker share: who they are, their random numbers, and the collate function."""

    def __init__(
        self,
        dataset: Any,
        collate_fn: Callable[[Any], Any],
        initialiser: Callable[[int], Any] | None,
        workers: int,
        seed: int,
        rank: int,
        full: int = 0,
    ) -> None:
        """Keep what a worker of the loader needs; `workers` 0 is a producer that passes for the main process.

        `full` are the samples of a full step, 0 if that is not known.
        """
        self.source = Source(dataset)
        self.collate_fn = collate_fn
        self.initialiser = initialiser
        self.workers = workers
        self.seed = seed
        self.rank = rank
        self.number = 0
        self.epoch = -1
        self.rows, self.full = 0, full

    def open(self, number: int) -> None:
        """Become worker `number`."""
        self.number = number
        if self.workers:
            # WORK-7: the dataset, and all other code that asks get_worker_info(), must see a worker like any other.
            torch_worker._worker_info = torch_worker.WorkerInfo(
                id=number, num_workers=self.workers, seed=0, dataset=self.source
            )
            Starting(worker_seed(self.seed, 0, self.rank), self.initialiser)(number)

    def layout(self, order: Order) -> Layout | None:
        """Not known before the first step."""
        return None

    def begins(self, order: Order) -> bool:
        """Return whether the order is the first of its epoch here, and seed this process if so (WORK-8 to WORK-11)."""
        if self.epoch == order.place.epoch:
            return False
        self.epoch = order.place.epoch
        epoch_seed = worker_seed(self.seed, order.epoch, self.rank)
        if self.workers:
            seed_worker(epoch_seed)
        else:
            seed_generators(epoch_seed, self.number)
        begin_epoch(self.source.dataset, order.epoch)
        return True

    def item(self, order: Order) -> Any:
        """Return the step that is ordered, or a Failure."""
        raise NotImplementedError

    def put(self, order: Order, layout: Layout, views: list[torch.Tensor]) -> tuple[int, ...] | Failure | None:
        """Copy the step."""
        item = self.item(order)
        return item if isinstance(item, Failure) else layout.put(item, views, order.place.step)


class Batches(_Worker):
    """Steps of a map-style dataset: the order names the samples, batch by batch, or without batches the one sample."""

    def layout(self, order: Order) -> Layout | None:
        """Known where the step will be gathered."""
        dataset = self.source.dataset
        is_gathered = type(dataset) is TensorDataset and isinstance(order.ask, list) and self.collate_fn is collate
        return layout_of_gathered(dataset, max(self.full, len(order.ask))) if is_gathered else None

    def item(self, order: Order) -> Any:
        """Return the step, or a Failure."""
        self.begins(order)
        is_batched = isinstance(order.ask, list | MicroBatches)
        samples = self.source.__getitems__(order.ask) if is_batched else self.source[order.ask]
        self.rows = len(order.ask) if isinstance(order.ask, list) else 0
        return Collating(self.collate_fn, sends=False)(samples)

    def put(self, order: Order, layout: Layout, views: list[torch.Tensor]) -> tuple[int, ...] | Failure | None:
        """Write the step, without a copy in between where that makes no difference."""
        self.begins(order)
        if self._is_plain(order.ask, layout):
            tensors = tensors_to_gather(self.source.dataset, layout)
            if tensors is not None:
                return gather(tensors, order.ask, views)
            if not hasattr(self.source.dataset, "__getitems__"):
                return put_samples(self.source, order.ask, layout, views, order.place.step)
        return super().put(order, layout, views)

    def _is_plain(self, ask: Any, layout: Layout) -> bool:
        """Whether the step is a batch of our own collating, and no larger than a slot."""
        is_batch = isinstance(ask, list) and self.collate_fn is collate and self.source.failure is None
        return is_batch and all(len(ask) <= leaf.shape[0] for leaf in layout.leaves)


class Stream(_Worker):
    """Steps of an iterable-style dataset; each order asks for the next (size, drop_last)."""

    elements: Iterator[Any] = iter(())

    def item(self, order: Order) -> Any:
        """Return this worker's next step, or a Failure. StopIteration if it has none."""
        if self.begins(order):
            self.elements = iter(self.source)
        size, drop_last = order.ask
        if size is None:
            return Collating(self.collate_fn, sends=False)(next(self.elements))
        elements = list(islice(self.elements, size))
        if not elements or (len(elements) < size and drop_last):
            raise StopIteration
        self.rows = len(elements)
        return Collating(self.collate_fn, sends=False)(elements)
