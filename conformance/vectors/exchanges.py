"""Short exchanges over the bridge, line by line: the last line of each can be understood, or can't.

They need more than `open`, `iter` and `next`: a start, a stream, two iterators or loaders, or one that is dropped.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from conformance.bridge.exchange import Exchange, Refused
from conformance.bridge.implementation import introduction_of
from conformance.bridge.loader import Loader, opened
from conformance.bridge.process import Gone
from conformance.contract import AdapterError, Request

Play = Callable[[Exchange], None]
# Whether the last line can be understood, who asks, and what the command says.
Exchanged = tuple[bool, Play, tuple[str, ...]]


class Scripted:
    """Stands for a process that says these lines, whatever it is told."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self.lines = list(lines)

    def send(self, line: bytes, deadline: float | None = None) -> None:
        """Nobody hears it."""

    def receive(self, deadline: float | None = None) -> bytes:
        """The next line."""
        if not self.lines:
            raise Gone
        return self.lines.pop(0).encode()


class Samples:
    """Two samples, and a third one that raises; from -3 on they count from the end."""

    def __len__(self) -> int:
        return 3

    def __getitem__(self, index: int) -> int:
        place = index + 3 if -3 <= index < 0 else index
        if not 0 <= place < 2:
            raise ValueError(f"sample {index} is broken on purpose" if index == 2 else f"there is no sample {index}")
        return 1000 + place


class Elements:
    """A stream of three elements."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(1000, 1003))


def asked_for(exchange: Exchange, dataset: Any, has: tuple[str, ...] = ()) -> Loader:
    """A loader of two samples a step."""
    fields: dict[str, Any] = dict(batch_size=2, shuffle=False, seed=0, drop_last=False, num_workers=0, rank=0)
    fields |= dict(world_size=1, replication_factor=1, device_iterations=1, gradient_accumulation=1)
    return opened(exchange, Request(dataset=dataset, asynchronous=False, workdir="", **fields), has)


def start(exchange: Exchange) -> None:
    """The first order of a process."""
    introduction_of(exchange)


def one(exchange: Exchange, dataset: Callable[[], Any] = Samples) -> None:
    """The first step of one iterator."""
    next(iter(asked_for(exchange, dataset())))


def _one_after_another(exchange: Exchange, dataset: Callable[[], Any] = Samples) -> None:
    loader = asked_for(exchange, dataset())
    first = iter(loader)
    next(first)
    del first
    next(iter(loader))


one_of_a_stream, _another_of_a_stream = (partial(each, dataset=Elements) for each in (one, _one_after_another))


def _two_at_once(exchange: Exchange) -> None:
    loader = asked_for(exchange, Samples())
    first, second = iter(loader), iter(loader)
    next(first)
    next(second)


def _two_loaders(exchange: Exchange) -> None:
    loaders = [asked_for(exchange, Samples()) for _ in range(2)]
    first, second = map(iter, loaders)
    next(first)
    next(second)


_READ, _STEP, STREAM, _PULL = '{"read":[0,1]}', '{"step":[1,2]}', '{"stream":true}', '{"pull":1,"count":2}'
EXCHANGES: tuple[Exchanged, ...] = (
    (True, start, ('{"version":1,"claims":{},"has":[],"name":"mine","language":"mine too"}',)),
    (True, start, ('{"version":1}',)),
    (False, start, ('{"version":2,"claims":{},"has":[]}',)),
    (False, start, ('{"claims":{},"has":[]}',)),
    (False, start, ('{"version":1,"claims":{},"has":["length"]}',)),
    (False, start, ('{"version":1,"claims":{"shuffles":"global"},"has":[]}',)),
    (False, start, ('{"version":1,"claims":{},"has":[],"why":0}',)),
    (False, start, ('{"read":[0]}',)),
    (True, one, ("{}", "{}", '{"step":[]}')),
    (True, one, ("{}", "{}", _READ, '{"step":[2,1,1]}')),
    (True, one, ("{}", "{}", '{"read":[3]}', '{"raised":1}')),
    (True, one, ("{}", "{}", '{"read":[-2]}', '{"step":[1]}')),
    (True, one, ("{}", "{}", '{"read":[-4]}', '{"raised":1}')),
    (True, one, ("{}", "{}", '{"read":[2]}', '{"end":true}')),
    (True, _one_after_another, ("{}", "{}", _READ, _STEP, "{}", "{}", _READ, '{"step":[3,4]}')),
    (False, _one_after_another, ("{}", "{}", _READ, _STEP, "{}", "{}", '{"step":[1]}')),
    (True, _one_after_another, (_READ, "{}", "{}", '{"step":[1]}', "{}", "{}", '{"step":[1]}')),
    (True, _two_at_once, ("{}", "{}", "{}", _READ, _STEP, '{"step":[1]}')),
    (True, _two_loaders, ("{}", "{}", "{}", "{}", _READ, _STEP, '{"step":[1]}')),
    (True, one_of_a_stream, ("{}", "{}", STREAM, _PULL, '{"step":[2,3]}')),
    (True, one_of_a_stream, ("{}", "{}", STREAM, '{"pull":1}', '{"pull":1,"count":9}', '{"step":[2,3,4]}')),
    (False, one_of_a_stream, ("{}", "{}", '{"read":[0]}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, '{"pull":1,"count":0}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, '{"pull":1,"end":true}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, '{"step":[1]}')),
    (False, one_of_a_stream, ("{}", "{}", STREAM, _PULL, '{"pull":2}')),
    (True, _another_of_a_stream, (STREAM, "{}", "{}", '{"step":[]}', "{}", "{}", '{"pull":1}', '{"step":[2]}')),
    (False, _another_of_a_stream, ("{}", "{}", STREAM, '{"step":[]}', "{}", "{}", '{"pull":1}')),
)


def exchanges(among: tuple[Exchanged, ...] = EXCHANGES) -> Iterator[dict[str, Any]]:
    """Each as a vector; AssertionError if one is not what it is said to be."""
    for understood, play, said in among:
        lines, told = played(play, said)
        assert understood == (not told), (said, told)
        assert len(said) == sum(line.startswith("<") for line in lines), f"not all is heard: {said}"
        yield {"name": "understood" if understood else "wrong", "lines": lines, "told": told}


def played(play: Play, said: tuple[str, ...]) -> tuple[list[str], str]:
    """The lines of both sides until the command has nothing more to say, and what is told of its last one, or ""."""
    process, lines = Scripted(said), list[str]()

    def heard(side: str, line: str) -> None:
        if side == "<" or process.lines:
            lines.append(f"{side} {line}")

    exchange, told = Exchange(process, tap=heard), ""
    try:
        play(exchange)
    except AdapterError as error:
        told = str(error)
    except (Gone, Refused, StopIteration, TypeError, ValueError):
        pass
    return lines, told
