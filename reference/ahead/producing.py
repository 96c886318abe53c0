"""Decides what a producer process does: it carries out orders, one after the other, and says what became of each.

An order names a slot and a place. The producer asks its *supply* for the item of that place and puts it into the slot.
The supply is what differs: batches of a map-style dataset, batches of a stream, or the items of any iterable
(`supply.py`). The first item of all fixes the layout; memory is made for it only then, by the consumer.
"""

import gc
import os
import signal
from collections import deque
from contextlib import suppress
from multiprocessing import parent_process
from typing import Any, NamedTuple, Protocol

import torch

from ..loading.faults import Failure
from .layout import ICustomArgParser, Layout, adopt, layout_of
from .line import NOTHING, Line, ready, send_whole
from .orphans import ends_with_parent, offspring_ends_with_this
from .ring import Content, Place
from .shared_memory import attach

_LOOK_AGAIN = 5.0  # seconds after which a producer without orders looks whether its parent is alive


class Order(NamedTuple):
    """Fill this slot with the item of this place. `epoch` is the loader's; `ask` is what the supply is asked for."""

    slot: int
    place: Place
    epoch: int
    ask: Any


class Left(NamedTuple):
    """The orders of epochs before this one are wanted no more."""

    epoch: int


class Memory(NamedTuple):
    """The slots have this layout; their memory comes along as a descriptor."""

    layout: Layout


class Said(NamedTuple):
    """What became of an order; `rows` as `Layout.item` takes them."""

    slot: int
    content: Content
    rows: tuple[int, ...] | None = None
    failure: Failure | None = None


class Supply(Protocol):
    """What a producer puts into slots. It is pickled, or inherited, before it is opened."""

    rows: int
    """The samples of the last item, where items are batches."""
    full: int
    """The samples of a full item, or 0 where that is not known."""

    def open(self, number: int) -> None:
        """Get ready in producer `number`."""
        ...

    def layout(self, order: Order) -> Layout | None:
        """Return the layout of the items, if it is known without making one."""
        ...

    def item(self, order: Order) -> Any:
        """Return the item, or a Failure. Raises StopIteration if there is none any more in this epoch."""
        ...

    def put(self, order: Order, layout: Layout, views: list[torch.Tensor]) -> tuple[int, ...] | Failure | None:
        """Write the item into a slot, as `Layout.put` does."""
        ...


def produce(
    line: Line,
    supply: Supply,
    number: int,
    others: list[Line],
    parsers: dict[type, ICustomArgParser],
    is_of_main_thread: bool = False,
) -> None:
    """Be a producer until the consumer hangs up.

    `others` are ends of lines that a fork has copied, `parsers` are registered where no fork has copied them;
    `is_of_main_thread` says whether the thread that has made this process lives as long as its own.
    """
    with suppress(EOFError, OSError, KeyboardInterrupt):
        # The consumer's to decide: it gets the same interrupt, and hangs up.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            # No SystemExit: that is how a dataset may exit, which is an error to be told.
            signal.signal(signal.SIGTERM, _interrupt)
            adopt(parsers)
            for other in others:
                other.close()
            ends_with_parent(int(_parent().sentinel), is_of_main_thread)
            offspring_ends_with_this()
            torch.set_num_threads(1)
            # What a fork has inherited is not this process's to collect; looking at it would copy its pages.
            gc.freeze()
            _Producer(line, supply, number).work()
        finally:
            # ASYNC-8: it is ending, and who breaks off the joining of its own workers leaves a traceback.
            for number in (signal.SIGTERM, signal.SIGIO):
                signal.signal(number, signal.SIG_IGN)


def _parent() -> Any:
    parent = parent_process()
    assert parent is not None
    return parent


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


class _Producer:
    def __init__(self, line: Line, supply: Supply, number: int) -> None:
        self.line = line
        self.supply = supply
        self.orders: deque[Order] = deque()
        self.wanted = 0
        self.layout: Layout | None = None
        self.slots: dict[int, list[torch.Tensor]] = {}
        self.memory = torch.empty(0)
        self.parent = _parent().pid
        self.parent_ends = int(_parent().sentinel)
        supply.open(number)

    def work(self) -> None:
        """Carry out orders. EOFError when the consumer has hung up."""
        while True:
            while self._listen(waits=not self.orders):
                pass
            if not self.orders:
                continue
            order = self.orders.popleft()
            if order.place.epoch < self.wanted:
                # Nobody reads what would be written: the consumer only waits for the slot.
                self._say(Said(order.slot, Content.END))
            else:
                self._say(self._carry_out(order))

    def _say(self, message: Any) -> None:
        send_whole(self.line, message, self.parent_ends)

    def _listen(self, waits: bool) -> bool:
        """Take in one message, if there is one or it may be waited for; return whether one was there."""
        message = self.line.receive()
        while message is NOTHING:
            if not waits:
                return False
            found = ready([self.line], _LOOK_AGAIN, (self.parent_ends,))
            if not found:
                # A fork of the parent may keep both open: an error if there is no such process any more.
                os.kill(self.parent, 0)
            elif self.line.fileno() not in found:
                raise EOFError("The consumer's process has ended.")
            message = self.line.receive()
        if isinstance(message, Order):
            self.orders.append(message)
        elif isinstance(message, Left):
            self.wanted = message.epoch
        else:
            self.layout = message.layout
            self.memory = attach(self.line.descriptor())
        return True

    def _carry_out(self, order: Order) -> Said:
        try:
            rows = self._fill(order)
        except StopIteration:
            return Said(order.slot, Content.END)
        except (Exception, SystemExit) as error:
            # ASYNC-7: an error travels in place of the item.
            rows = Failure(error, f"while item {order.place.step} was loaded")
        if isinstance(rows, Failure):
            return Said(order.slot, Content.ERROR, failure=rows)
        return Said(order.slot, Content.ITEM, rows)

    def _fill(self, order: Order) -> tuple[int, ...] | Failure | None:
        if self.layout is None:
            known = self.supply.layout(order)
            if known is not None:
                self._agree(known)
        if self.layout is not None:
            return self.supply.put(order, self.layout, self._views(order.slot))
        item = self.supply.item(order)
        if isinstance(item, Failure):
            return item
        # WORK-14: the first that comes may be the last of an epoch, after an error or of a worker with a small share.
        self._agree(layout_of(item, self.supply.rows, self.supply.full))
        assert self.layout is not None
        return self.layout.put(item, self._views(order.slot), order.place.step)

    def _agree(self, layout: Layout) -> None:
        """Tell the consumer the layout, and wait for the memory that it makes."""
        self._say(layout)
        while self.layout is None:
            self._listen(waits=True)

    def _views(self, slot: int) -> list[torch.Tensor]:
        assert self.layout is not None
        if slot not in self.slots:
            self.slots[slot] = self.layout.views(self.memory, slot)
        return self.slots[slot]
