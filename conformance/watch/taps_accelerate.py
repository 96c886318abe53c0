"""Taps in accelerate's loaders: decides what the loop has had of what accelerate has read.

A `DataLoaderShard` reads a batch ahead of the loop, and throws away what is skipped; so batches wait (`Held`) until the
loop gets them. A `DataLoaderDispatcher` reads on rank 0 alone and cuts up what it read: there the rows that each rank
gets are looked at, and what was read is not counted.
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

from conformance.records.content import digest, rows
from conformance.watch.delivery import HELD, Delivery, Held
from conformance.watch.identity import id_of
from conformance.watch.watching import tapped, watching


class Dispatched(Held):
    """What the dispatcher reads: of its own batches none counts, but those that it cuts out of them do."""

    def begin(self, delivery: Delivery) -> None:
        """The first iterator is the one of this epoch."""
        super().begin(delivery)
        self.delivery = delivery

    def add(self, ids: Any, worker: int | None) -> None:
        """Read, and not yet cut up."""

    def cut(self, batch: Any) -> None:
        """This rank's part of what was read."""
        parts = rows(batch)
        try:
            ids = [_id(each) for each in parts]
        except Exception as error:
            watching().recorder.unnamed(str(error))
            ids = None
        self.delivery.came(ids, None)


def _id(part: Any) -> int | bytes:
    state = watching()
    if state.identify is None:
        return digest(part)
    value = state.identify(part)
    found = id_of(value)
    if isinstance(found, bytes):
        state.recorder.text(found, value)
    return found


def tap(module: Any) -> None:
    """Tap `accelerate.data_loader`."""
    for kind in (module.DataLoaderShard, module.SkipDataLoader):
        kind.__iter__ = _reading(kind.__iter__, lambda loader: Held(loader.skip_batches), _taken)
    kind = module.DataLoaderDispatcher
    kind.__iter__ = _reading(kind.__iter__, lambda loader: Dispatched(), _cut)


def _reading(
    plain: Callable[[Any], Iterator[Any]], holding: Callable[[Any], Held], handed: Callable[[Any, Any], None]
) -> Callable[[Any], Iterator[Any]]:
    @functools.wraps(plain)
    def __iter__(self: Any) -> Iterator[Any]:
        base = self.base_dataloader
        held = base.__dict__[HELD] = holding(self)
        whole = False
        try:
            for batch in plain(self):
                handed(held, batch)
                yield batch
            whole = True
        finally:
            base.__dict__.pop(HELD, None)
            _closed(held, whole)

    return __iter__


@tapped
def _taken(held: Held, batch: Any) -> None:
    held.take()


@tapped
def _cut(held: Dispatched, batch: Any) -> None:
    held.cut(batch)


@tapped
def _closed(held: Held, whole: bool) -> None:
    held.close(whole)
