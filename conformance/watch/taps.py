"""Taps in torch's loader: decides which of its methods are wrapped, and what is taken where.

| method | taken |
|---|---|
| `DataLoader.__init__` | the line where the user made it |
| `_BaseDataLoaderIter.__init__` | an epoch begins |
| `_next_index` | the index that was drawn |
| `_SingleProcessDataLoaderIter._next_data` | the batch came, or the epoch ended |
| `_MultiProcessingDataLoaderIter._reset` | another epoch of workers that stay |
| `_try_put_index` | to which worker the index went |
| `_process_data` | that worker's next batch came |
"""

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from conformance.records import wrapper
from conformance.records.crash import told
from conformance.watch import fetching
from conformance.watch.delivery import HERE, Delivery, end_all
from conformance.watch.lines import first_argument
from conformance.watch.stopping import Enough
from conformance.watch.watching import give_up, on, tapped, watching

_DONE = "_loaderspec_tapped"
# An iterator that has this is on its way to where it was before a restart: nothing that it reads is delivered.
RETURNING = "_loaderspec_returning"


def tap(module: Any) -> None:
    """Tap `torch.utils.data.dataloader`."""
    if module.__dict__.get(_DONE):
        return
    module.__dict__[_DONE] = True
    module.DataLoader.__init__ = making(module.DataLoader.__init__)
    base = module._BaseDataLoaderIter
    base.__init__ = beginning(base.__init__)
    base._next_index = drawing(base._next_index)
    tap_iterators(module._SingleProcessDataLoaderIter, module._MultiProcessingDataLoaderIter)
    fetching.tap(module._utils.fetch)
    wrapper.is_tapped = lambda loader: isinstance(loader, module.DataLoader)


def tap_iterators(single: Any, many: Any) -> None:
    """Tap an iterator without workers and one with them: torch's, or torchdata's, which are made like them."""
    single._next_data = ending(single._next_data, alone=True)
    many._next_data = ending(many._next_data, alone=False)
    many._reset = resetting(many._reset)
    many._try_put_index = sending(many._try_put_index)
    many._process_data = receiving(many._process_data)


def making(plain: Callable[..., None]) -> Callable[..., None]:
    """Wrap the `__init__` of a loader."""

    @functools.wraps(plain)
    def __init__(self: Any, *given: Any, **more: Any) -> None:
        plain(self, *given, **more)
        _made(self, sys._getframe(1))

    return __init__


@tapped
def _made(loader: Any, frame: FrameType | None) -> None:
    # The line of a subclass that calls its super() is not where the user made it.
    while frame is not None and frame.f_code.co_name == "__init__" and first_argument(frame) is loader:
        frame = frame.f_back
    watching().number(loader, frame)


def beginning(plain: Callable[..., None]) -> Callable[..., None]:
    """Wrap the `__init__` of an iterator."""

    @functools.wraps(plain)
    def __init__(self: Any, loader: Any, *given: Any, **more: Any) -> None:
        # Before, as the `__init__` of torch's iterators draws ahead.
        _begin(self, loader, 0, sys._getframe(1))
        plain(self, loader, *given, **more)

    return __init__


@tapped
def _begin(iterator: Any, loader: Any, generation: int, frame: FrameType | None) -> None:
    before = iterator.__dict__.get(HERE)
    if before is not None:
        before.ended("left")
    iterator.__dict__[HERE] = Delivery(loader, generation, frame)


def drawing(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `_next_index`."""

    @functools.wraps(plain)
    def _next_index(self: Any) -> Any:
        index = plain(self)
        delivery = self.__dict__.get(HERE)
        if delivery is not None:
            delivery.drawn = index
        return index

    return _next_index


def ending(plain: Callable[..., Any], alone: bool) -> Callable[..., Any]:
    """Wrap `_next_data`: the epoch's end, and, of an iterator without workers (`alone`), the batch."""

    @functools.wraps(plain)
    def _next_data(self: Any) -> Any:
        delivery: Delivery | None = self.__dict__.get(HERE) if on() else None
        if delivery is None:
            return plain(self)
        returning = RETURNING in self.__dict__
        if not returning:
            _stop(delivery)
        if alone:
            _key(self, delivery)
        try:
            data = plain(self)
        except StopIteration:
            _ended(delivery, "whole")
            raise
        except BaseException as error:
            _look_at_workers(delivery, getattr(self, "_workers", []))
            _ended(delivery, f"error: {told(error)}")
            raise
        if alone and not returning:
            _delivered(delivery, delivery.drawn, None, getattr(self, "_dataset_fetcher", None), data)
        return data

    return _next_data


def _stop(delivery: Delivery) -> None:
    try:
        enough = delivery.stops()
        if enough:
            end_all("steps")
            stopping = watching().stopping
            stopping.note()
            watching().recorder.say("limit", stopping.limit)
    except Exception as error:
        give_up("stop", error)
        return
    if enough:
        raise Enough


@tapped
def _key(iterator: Any, delivery: Delivery) -> None:
    fetcher_making = iterator._dataset_fetcher.__dict__.get(fetching.HERE)
    if fetcher_making is not None and fetcher_making.key is None:
        fetcher_making.key = delivery.key


@tapped
def _ended(delivery: Delivery, how: str) -> None:
    delivery.ended(how)


@tapped
def _look_at_workers(delivery: Delivery, workers: list[Any]) -> None:
    for at, worker in enumerate(workers):
        worker.join(0.1)  # one that was killed may not be reaped yet
        if worker.exitcode:
            code = worker.exitcode
            delivery.died(at, f"signal {-code} ended it" if code < 0 else f"it left with exit code {code}")


@tapped
def _delivered(delivery: Delivery, index: Any, worker: int | None, fetcher: Any, batch: Any = None) -> None:
    made = fetcher.__dict__.get(fetching.HERE) if fetcher is not None else None
    delivery.delivered(index, worker, None if made is None else made.made, batch)


@tapped
def _skipped(delivery: Delivery, worker: int) -> None:
    delivery.skipped(worker)


def resetting(plain: Callable[..., None]) -> Callable[..., None]:
    """Wrap `_reset`, which sends the first indices of an epoch, also from within `__init__`."""

    @functools.wraps(plain)
    def _reset(self: Any, loader: Any, first_iter: bool = False, *given: Any, **more: Any) -> None:
        _another(self, loader, first_iter, sys._getframe(1))
        plain(self, loader, first_iter, *given, **more)

    return _reset


@tapped
def _another(iterator: Any, loader: Any, first: bool, frame: FrameType | None) -> None:
    generation = 0 if first else iterator.__dict__.get("_loaderspec_generation", 0) + 1
    iterator.__dict__["_loaderspec_generation"] = generation
    if not first:
        _begin(iterator, loader, generation, frame)
    iterator.__dict__[HERE].workers(iterator._workers)


def sending(plain: Callable[..., None]) -> Callable[..., None]:
    """Wrap `_try_put_index`."""

    @functools.wraps(plain)
    def _try_put_index(self: Any) -> None:
        before = self._send_idx
        plain(self)
        delivery = self.__dict__.get(HERE)
        if delivery is not None and self._send_idx > before:
            delivery.sent(self._task_info[before][0])

    return _try_put_index


def receiving(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `_process_data`."""

    @functools.wraps(plain)
    def _process_data(self: Any, data: Any, worker: int, *given: Any) -> Any:
        delivery: Delivery | None = self.__dict__.get(HERE)
        # Before: the call draws and sends the next index. It raises what the worker raised.
        index = delivery.answered(worker) if delivery is not None else None
        data = plain(self, data, worker, *given)
        if delivery is not None:
            if RETURNING in self.__dict__:
                _skipped(delivery, worker)
            else:
                _delivered(delivery, index, worker, None)
        return data

    return _process_data
