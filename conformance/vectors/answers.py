"""Exchanges about the orders beside `open`, `iter` and `next`, and about what readers of specs/bridge.md took apart.

As in `exchanges.py`, the last line of each can be understood, or can't.
"""

from functools import partial
from typing import Any

from conformance.bridge.exchange import Exchange
from conformance.vectors.exchanges import (
    STREAM,
    Elements,
    Exchanged,
    Play,
    Samples,
    asked_for,
    one,
    one_of_a_stream,
    start,
)


def _told(exchange: Exchange, part: str) -> None:
    """Ask a loader that has this part for its length or its state."""
    loader: Any = asked_for(exchange, Samples(), (part,))
    len(loader) if part == "len" else loader.state_dict()


def _restored(exchange: Exchange) -> None:
    loader: Any = asked_for(exchange, Samples(), ("state",))
    loader.load_state_dict(loader.state_dict())


def _merged(exchange: Exchange) -> None:
    exchange.ask({"op": "merge", "states": [{"taken": 1}, {"taken": 1}]}, 0, ("loader", 0))


def _closed_while_it_is_read(exchange: Exchange) -> None:
    loader = asked_for(exchange, Samples())
    steps = iter(loader)
    loader.close()
    next(steps)


def _closed(exchange: Exchange) -> None:
    asked_for(exchange, Samples()).close()


def _dropped(exchange: Exchange) -> None:
    loader = asked_for(exchange, Samples())
    steps = iter(loader)
    del steps
    # An order about what nobody holds has nobody to raise to, so that the next call does.
    exchange.settle()


def _another_loader(exchange: Exchange) -> None:
    loader = asked_for(exchange, Samples())
    del loader
    next(iter(asked_for(exchange, Samples())))


def _two_of_streams(exchange: Exchange) -> None:
    loaders = [asked_for(exchange, Elements()) for _ in range(2)]
    first, second = map(iter, loaders)
    next(first)
    next(second)


_LENGTH: Play = partial(_told, part="len")
_STATE: Play = partial(_told, part="state")
_CLAIMS = '{"version":1,"claims":%s}'
_STATED = '{"state":[1.5,1e3,"2",null]}'
EXCHANGES: tuple[Exchanged, ...] = (
    (True, start, ('{"version":1,"name":5,"language":null}',)),
    (False, start, ('{"version":1.0}',)),
    (False, start, ('{"version":1,"has":"len"}',)),
    (False, start, (_CLAIMS % '{"shuffle":"yes"}',)),
    (False, start, (_CLAIMS % '{"ranks":"process_group"}',)),
    (False, start, (_CLAIMS % '{"device":["training"]}',)),
    (False, start, ('{"error":"no licence"}',)),
    (True, one, ("{}", "{}", '{"read":[2],"read":[0,1]}', '{"step":[1],"step":[1,2]}')),
    (True, one, ("{}", "{}", '{"read":[9007199254740992]}', '{"raised":1}')),
    (False, one, ("{}", "{}", '{"step":[9007199254740992]}')),
    (False, one_of_a_stream, ("{}", '{"stream":false}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, '{"raised":1}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, '{"pull":1,"count":"2"}')),
    (True, one_of_a_stream, ("{}", "{}", STREAM, '{"pull":1,"count":9007199254740992}', '{"step":[2,3,4]}')),
    (True, _two_of_streams, ("{}",) * 4 + (STREAM, '{"pull":1}', '{"step":[2]}', '{"pull":1}', '{"step":[3]}')),
    (True, _LENGTH, ("{}", '{"len":0}')),
    (True, _LENGTH, ("{}", '{"unknown":true}')),
    (False, _LENGTH, ("{}", '{"len":-1}')),
    (False, _LENGTH, ("{}", '{"len":2.0}')),
    (False, _LENGTH, ("{}", '{"unknown":false}')),
    (False, _LENGTH, ("{}", '{"len":2,"unknown":true}')),
    (False, _LENGTH, ("{}", "{}")),
    (True, _STATE, ("{}", _STATED)),
    (True, _STATE, ("{}", '{"state":null}')),
    (False, _STATE, ("{}", "{}")),
    (False, _STATE, ("{}", '{"state":1,"why":0}')),
    (True, _restored, ("{}", _STATED, "{}")),
    (False, _restored, ("{}", _STATED, '{"state":1}')),
    (True, _merged, ('{"state":{"taken":2}}',)),
    (True, _merged, ('{"error":"one is missing"}',)),
    (False, _merged, ("{}",)),
    (False, _merged, ('{"read":[0]}',)),
    (False, _merged, ('{"stream":true}',)),
    (True, _dropped, ("{}", "{}", '{"error":"no"}')),
    (False, _dropped, ("{}", "{}", '{"dropped":true}')),
    (False, _closed, ("{}", '{"end":true}')),
    (True, _closed_while_it_is_read, ('{"read":[0]}', "{}", "{}", "{}", '{"step":[1]}')),
    (True, _closed_while_it_is_read, ("{}", '{"read":[0]}', "{}", "{}", '{"step":[1]}')),
    (False, _another_loader, ('{"read":[0]}', "{}", "{}", "{}", "{}", '{"step":[1]}')),
)
