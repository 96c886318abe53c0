"""Exchanges about how long a handle lives, and whose it is: the last line of each can be understood, or can't."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from conformance.bridge.exchange import Exchange
from conformance.vectors.exchanges import STREAM, Elements, Exchanged, Samples, asked_for, one_of_a_stream


def _two_iterators(exchange: Exchange) -> None:
    """The first is dropped before a step of it; the second is asked for one."""
    loader = asked_for(exchange, Samples())
    first = iter(loader)
    del first
    next(iter(loader))


def _dropped_after_a_step(exchange: Exchange) -> None:
    steps = iter(asked_for(exchange, Samples()))
    next(steps)
    del steps
    exchange.settle()


def _closed_after_a_step(exchange: Exchange) -> None:
    loader = asked_for(exchange, Samples())
    steps = iter(loader)
    next(steps)
    loader.close()
    next(steps)


def _closed(exchange: Exchange) -> None:
    asked_for(exchange, Samples()).close()


class _Last:
    """Samples; the first read of them is the last that is heard of a loader."""

    def __init__(self, others: list[Any]) -> None:
        self.others = others

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        self.others.clear()
        return 1000 + index


def _left_while_another_reads(exchange: Exchange) -> None:
    """The last name for a loader is gone while another one is asked for a step: it is closed after that."""
    others = [asked_for(exchange, Samples())]
    steps = iter(asked_for(exchange, _Last(others)))
    next(steps)
    exchange.settle()


def _tried(exchange: Exchange, call: Callable[[], Any]) -> None:
    """A call that may be answered with an error; a line that can't be understood is told all the same."""
    with suppress(ValueError, RuntimeError):
        call()
    exchange.settle()


def _iter_fails(exchange: Exchange) -> None:
    """An `iter` that fails, and a step of another iterator."""
    loader = asked_for(exchange, Samples())
    _tried(exchange, partial(iter, loader))
    next(iter(loader))


def _open_fails(exchange: Exchange) -> None:
    """An `open` that fails, and a step of another loader."""
    _tried(exchange, partial(asked_for, exchange, Samples()))
    next(iter(asked_for(exchange, Samples())))


def _of_another_stream(exchange: Exchange) -> None:
    """A loader of a stream, and one of samples that is asked for a step."""
    stream = asked_for(exchange, Elements())
    steps = iter(stream)
    next(iter(asked_for(exchange, Samples())))
    del steps


_READ, _BROKEN, _STEP = '{"read":[0]}', '{"read":[2]}', '{"step":[1]}'
EXCHANGES: tuple[Exchanged, ...] = (
    (False, one_of_a_stream, ("{}", '{"stream":true,"why":0}')),
    (False, _two_iterators, ("{}", _READ, "{}", "{}", "{}", _STEP)),
    (True, _dropped_after_a_step, ("{}", "{}", _BROKEN, '{"step":[]}', '{"raised":1}')),
    (True, _dropped_after_a_step, ("{}", "{}", '{"step":[]}', _BROKEN, '{"raised":1}')),
    (True, _closed_after_a_step, ("{}", "{}", _READ, _STEP, "{}", _STEP)),
    (True, _closed, ("{}", _READ, "{}")),
    (True, _left_while_another_reads, (_BROKEN, "{}", "{}", "{}", _READ, '{"step":[2]}', _READ, '{"raised":1}')),
    (False, _iter_fails, ("{}", _READ, '{"error":"not yet"}', "{}", _STEP)),
    (True, _iter_fails, (_READ, "{}", '{"error":"not yet"}', "{}", _STEP)),
    (False, _iter_fails, ("{}", _BROKEN, '{"raised":1}', '{"raised":1}')),
    (False, _open_fails, (_READ, '{"error":"not yet"}', "{}", "{}", _STEP)),
    (False, _of_another_stream, ("{}", STREAM, "{}", "{}", "{}", '{"pull":1}')),
)
