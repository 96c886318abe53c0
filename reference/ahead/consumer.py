"""Decides when the consumer asks, waits, and gives up: the ring (`ring.py`) with processes and memory around it.

All decisions about slots are the ring's, and are made in the consumer's process, within its own calls: a slot becomes
free only when the next step is asked for, so there is nothing to decide in between.
"""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch

from ..enums import SharingStrategy
from .layout import Layout
from .producers import Producers
from .producing import Left, Order, Said, Supply
from .ring import Content, Due, Phase, make_ring


@dataclass(frozen=True)
class Settings:
    """How a ring is run; `timeout` in seconds, 0 for none."""

    buffer_size: int = 3
    load_indefinitely: bool = True
    early_preload: bool = False
    strategy: SharingStrategy = SharingStrategy.ForkServer
    producers: int = 1
    timeout: float = 0


Plan = Callable[[int], Iterator[Any]]
"""What is ordered in an epoch, step after step: without end where only the producers can tell how many there are."""


class Consumer:
    """The consumer's side of a ring. It starts its producers when they are first needed."""

    def __init__(self, supply: Supply, settings: Settings, plan: Plan) -> None:
        self.supply = supply
        self.settings = settings
        self.plan = plan
        self.producers: Producers | None = None
        self.forget: Callable[[], Any] = lambda: None
        self.passes = 0
        self.is_torn = False
        """Whether something was begun and is not done: an interrupt may come while another one is dealt with."""
        self._reset()

    def _reset(self) -> None:
        settings = self.settings
        self.ring = make_ring(
            settings.buffer_size, settings.producers, settings.early_preload, settings.load_indefinitely
        )
        self.layout: Layout | None = None
        self.memory = torch.empty(0)
        # By the ring's number of an epoch: the loader's, and what is still to be ordered in it.
        self.numbers: dict[int, int] = {}
        self.orders: dict[int, Iterator[Any]] = {}
        self.said: dict[int, Said] = {}

    def preload(self, epoch: int) -> None:
        """Start the producers, and load as much of the epoch as may be loaded before it is begun."""
        if self.is_torn:
            self.close()
        if self.producers is None:
            with self._whole():
                self._reset()
                settings = self.settings
                self.producers = producers = Producers()
                # Ends them, too, when nobody refers to this object any more.
                end = weakref.finalize(self, producers.end)
                end.atexit = False
                self.forget = end.detach
                producers.start(self.supply, settings.producers, settings.strategy)
                self.numbers[0] = epoch
                self._give_out()
                if settings.early_preload:
                    # ASYNC-4: the first item fixes the layout, without which no other one can be loaded.
                    self._load_first()

    def load_first(self, epoch: int) -> Said | None:
        """Wait until the first place is filled: what was said of it, or None if there is no first place."""
        self.preload(epoch)
        with self._whole():
            self._load_first()
        return self.said.get(0)

    def _load_first(self) -> None:
        while self.ring.slots[0].phase is Phase.FILLING or self._is_behind():
            self._hear()

    def _is_behind(self) -> bool:
        """Whether what is to be loaded early was not even ordered yet: nobody continues with it until the next call."""
        return self.settings.early_preload and self.producers is not None and self.producers.is_behind

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Close after an error or an interrupt: what the ring says and what was sent may differ then."""
        self.is_torn = True
        try:
            yield
        except BaseException:
            self.close()
            raise
        self.is_torn = False

    def begin(self, epoch: int) -> "Pass":
        """Begin an epoch of the loader; what was loaded for another one is thrown away (ASYNC-6)."""
        self.preload(epoch)
        with self._whole():
            self._begin(epoch)
        self.passes += 1
        return Pass(self, self.passes)

    def _begin(self, epoch: int) -> None:
        assert self.producers is not None
        kept = [offer for offer in self.ring.offers() if self.numbers.get(offer) == epoch]
        self.ring = self.ring.begin(kept[0] if kept else None)
        now = self.ring.next.epoch
        self.numbers = {number: name for number, name in self.numbers.items() if kept and number >= now}
        self.orders = {number: rest for number, rest in self.orders.items() if number in self.numbers}
        self.numbers[now] = epoch
        for producer in range(self.settings.producers):
            self.producers.send(producer, Left(now))
        self._give_out()

    def next(self) -> Any:
        """Return the next step, in memory that is the ring's. StopIteration at the end of the epoch."""
        # ASYNC-2: only now is the step before given up.
        self.ring = self.ring.release()
        self._give_out()
        while True:
            self.ring, answer = self.ring.ask()
            if answer is Content.END:
                self._give_out()
                self.is_torn = False
                raise StopIteration
            if isinstance(answer, int):
                return self._delivered(self.said.pop(answer), answer)
            before = self.ring
            # Asking may have freed the slots of producers that have ended.
            self._give_out()
            if self.ring == before:
                self._hear()

    @property
    def is_used(self) -> bool:
        """Whether anything of the epoch under way was asked for."""
        return self.is_torn or self.ring.next.epoch not in self.ring.offers()

    def close(self) -> None:
        """End the producers. The next epoch that is begun starts new ones.

        An interrupt may come anywhere in it: what has not ended then is still known, and ended by the next call.
        """
        self.is_torn = True
        self.passes += 1
        if self.producers is not None:
            self.producers.end()
        # LEAK-5: nothing remembers them afterwards.
        self.forget()
        self.producers = None
        # Whatever the user still holds stays mapped.
        self._reset()
        self.is_torn = False

    def _delivered(self, said: Said, slot: int) -> Any:
        if said.failure is not None:
            # The producers are as good as before.
            self.is_torn = False
            try:
                # ASYNC-7: here, after all steps before it, with its own type.
                raise said.failure.error
            finally:
                del said
        assert self.layout is not None
        return self.layout.item(self.layout.views(self.memory, slot), said.rows)

    def _hear(self) -> None:
        assert self.producers is not None
        message = self.producers.receive(self.settings.timeout)
        if isinstance(message, Said):
            self.said[message.slot] = message
            self.ring = self.ring.filled(message.slot, message.content)
        elif self.layout is None:
            self.layout = message
            self.memory = self.producers.share(message, self.settings.buffer_size)
        self._give_out()

    def _give_out(self) -> None:
        """Order whatever is due."""
        while (due := self.ring.due()) is not None and not self._waits_for_layout():
            ask = next(self._orders(due), _NO_MORE)
            if ask is _NO_MORE:
                self.ring = self.ring.no_more()
                continue
            self.ring = self.ring.assign(due)
            assert self.producers is not None
            self.producers.send(due.producer, Order(due.slot, due.place, self.numbers[due.place.epoch], ask))

    def _waits_for_layout(self) -> bool:
        # One item fixes the layout, and which one that is may not depend on who is faster.
        return self.layout is None and any(slot.phase is Phase.FILLING for slot in self.ring.slots)

    def _orders(self, due: Due) -> Iterator[Any]:
        epoch = due.place.epoch
        if epoch not in self.orders:
            # ASYNC-5: what is loaded ahead is the epoch that follows.
            self.numbers.setdefault(epoch, self.numbers[self.ring.next.epoch] + 1)
            self.orders[epoch] = self.plan(self.numbers[epoch])
        return self.orders[epoch]


_NO_MORE = object()


class Pass:
    """One epoch under way. Another one that is begun ends it."""

    def __init__(self, consumer: Consumer, number: int) -> None:
        self.consumer: Consumer | None = consumer
        self.number = number

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        consumer = self.consumer
        if consumer is None:
            # WORK-15: the end stays the end.
            raise StopIteration
        if consumer.passes != self.number or consumer.is_torn:
            # WORK-13: both would be given parts of one epoch.
            raise RuntimeError(
                "This epoch was left: the loader was iterated again, or terminated, and has one ring for one epoch "
                "at a time. Go on with the new iterator, or load synchronously."
            )
        is_over = consumer.is_torn = True
        try:
            step = consumer.next()
            is_over = consumer.is_torn = False
            return step
        except StopIteration:
            raise
        except BaseException:
            # A death, a time-out, an interrupt: what was under way is lost, and nothing of it may come back.
            if consumer.is_torn:
                consumer.close()
            raise
        finally:
            if is_over:
                self.consumer = None
