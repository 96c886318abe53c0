"""`loaderspec bridge check COMMAND`: whether a command speaks the lines of the bridge, apart from what it delivers.

A short conversation with each order in it. What can't be understood is INVALID, with the line that was wrong; nothing
here is ever VIOLATED, for what a loader promises is judged by `--impl="stdio:COMMAND"`.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from conformance.bridge.exchange import Exchange, Refused
from conformance.bridge.implementation import Introduction, introduced, introduction_of
from conformance.bridge.loader import Loader, opened
from conformance.bridge.process import Gone, Late, Process, within
from conformance.contract import AdapterError, Request

EXIT_GREEN, EXIT_INVALID = 0, 4
# As in a run: samples are numbers from here on, of which a loader sees none.
_FIRST = 1000
_MOST_STEPS = 100
_SHOWN = 40  # characters of a state
Part = Callable[[Exchange, Introduction], str]


class Broken(ValueError):
    """What the one broken sample raises."""


class _Samples:
    def __init__(self, length: int, broken: int = -1) -> None:
        self.length, self.broken = length, broken

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        if not 0 <= index < self.length:
            raise IndexError(f"sample {index} of a dataset of {self.length}")
        if index == self.broken:
            raise Broken(f"sample {index} is broken on purpose")
        return _FIRST + index


class _Elements:
    def __init__(self, length: int) -> None:
        self.length = length

    def __iter__(self) -> Iterator[int]:
        return iter(range(_FIRST, _FIRST + self.length))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `loaderspec bridge`."""
    parser.add_argument("what", choices=["check"], help="check: whether the command's lines can be understood")
    parser.add_argument("words", metavar="command", help='the command, as one word: "node loader.js"')
    parser.add_argument("--patience", type=float, default=10.0, help="seconds that an answer may take (default 10)")
    parser.add_argument("--lines", action="store_true", help="show each line, > the suite's and < the command's")


def main(given: argparse.Namespace) -> int:
    """Run the command `loaderspec bridge`; its exit code."""
    tap = _shown if given.lines else lambda side, line: None
    try:
        told = checked(shlex.split(given.words), given.patience, tap)
    except (AdapterError, ValueError) as error:
        print(f"loaderspec: INVALID bridge {given.words}: {error}", file=sys.stderr)
        return EXIT_INVALID
    for line in told:
        print(line)
    print(f"{given.words}: its lines can be understood")
    return EXIT_GREEN


def _shown(side: str, line: str) -> None:
    print(side, line)


def checked(
    command: Sequence[str], patience: float, tap: Callable[[str, str], None], parts: Mapping[str, Part] | None = None
) -> list[str]:
    """What each part of the conversation came to. AdapterError if a line can't be understood, or none comes."""
    introduced(command, patience)  # its last words are told if it can't even start
    process = Process(command)
    until = [within(patience)]
    exchange = Exchange(process, lambda: until[0], tap=tap)
    told = []
    try:
        introduction = introduction_of(exchange)
        for name, part in (PARTS if parts is None else parts).items():
            until[0] = within(patience)
            try:
                outcome = part(exchange, introduction)
            except (Refused, Broken) as error:
                outcome = f"an error, where none is due: {error}"
            exchange.settle()
            told += [f"{name:<10}{outcome}"] if outcome else []
    except Gone:
        what = f"the command ended after its line {exchange.heard}; let it answer until its input ends"
        raise AdapterError(what) from None
    except Late:
        raise AdapterError(f"after its line {exchange.heard} no whole line came within {patience:g} s") from None
    finally:
        code = process.end(patience)
    if code is None:
        raise AdapterError(f"the command does not end within {patience:g} s of its input's end; end it there")
    return told


def _request(dataset: Any, **fields: Any) -> Request:
    usual: dict[str, Any] = dict(
        batch_size=2, shuffle=False, seed=2**31 - 1, drop_last=False, num_workers=0, rank=0, world_size=1,
        replication_factor=1, device_iterations=1, gradient_accumulation=1, asynchronous=False, workdir="",
    )  # fmt: skip
    return Request(dataset=dataset, **{**usual, **fields})


def _usual(introduction: Introduction, length: int = 4) -> Any:
    return _Samples(length) if "map" in introduction.claims.datasets else _Elements(length)


def _epoch(exchange: Exchange, introduction: Introduction) -> str:
    loader: Any = opened(exchange, _request(_usual(introduction)), introduction.has)
    if "set_epoch" in introduction.has:
        loader.set_epoch(0)
    told = _read(loader)
    if "len" in introduction.has:
        try:
            told += f", len {len(loader)}"
        except TypeError:
            told += ", len unknown"
    loader.close()
    loader.close()
    return told


def _read(loader: Loader) -> str:
    steps = iter(loader)
    found = []
    for step in steps:
        found.append(len(step))
        if len(found) > _MOST_STEPS:
            return f"more than {_MOST_STEPS} steps of 4 samples"
    # Whatever is said after the end, it is an answer.
    next(steps, None)
    return f"{sum(found)} samples in {len(found)} steps"


def _shuffled(exchange: Exchange, introduction: Introduction) -> str:
    if not introduction.claims.shuffle or "map" not in introduction.claims.datasets:
        return ""
    loader = opened(exchange, _request(_Samples(4), shuffle=True), introduction.has)
    return _read(loader)


def _stream(exchange: Exchange, introduction: Introduction) -> str:
    if "iterable" not in introduction.claims.datasets:
        return ""
    return _read(opened(exchange, _request(_Elements(4)), introduction.has))


def rest_of_a_stream(exchange: Exchange, introduction: Introduction) -> str:
    """A stream whose last element fills no step, under drop_last."""
    return _read(opened(exchange, _request(_Elements(3), drop_last=True), introduction.has))


def epoch_of_a_state(exchange: Exchange, introduction: Introduction) -> str:
    """A state of the middle, and one of the end, each followed by the epoch that is set, and the next one."""
    told = []
    for taken, epoch in ((1, 0), (4, 1)):
        loader: Any = opened(exchange, _request(_Samples(4), batch_size=1), introduction.has)
        steps = iter(loader)
        for _ in range(taken):
            next(steps)
        other: Any = opened(exchange, _request(_Samples(4), batch_size=1), introduction.has)
        other.load_state_dict(loader.state_dict())
        other.set_epoch(epoch)
        told += [_read(other), _read(other)]
    return ", ".join(told)


def _left(exchange: Exchange, introduction: Introduction) -> str:
    loader = opened(exchange, _request(_usual(introduction), batch_size=1), introduction.has)
    first = iter(loader)
    next(first, None)
    try:
        second = iter(loader)
        next(second, None)
        del second
    except Refused:
        pass
    del first, loader
    return "two iterators were dropped before their ends"


def _fault(exchange: Exchange, introduction: Introduction) -> str:
    if "map" not in introduction.claims.datasets:
        return ""
    loader = opened(exchange, _request(_Samples(4, broken=2), batch_size=1), introduction.has)
    try:
        _read(loader)
    except Broken:
        return "what a sample raised was passed on"
    except Refused as error:
        return f'what a sample raised came as an error of the loader\'s own ({error}); ERROR-1 wants {{"raised":...}}'
    return "what a sample raised did not come"


def _refused(exchange: Exchange, introduction: Introduction) -> str:
    try:
        _read(opened(exchange, _request(_usual(introduction), batch_size=0), introduction.has))
    except Refused as error:
        return f"batch_size 0: {error}"
    return "batch_size 0 was not refused; BATCH-4 will say so"


def _states(exchange: Exchange, introduction: Introduction) -> str:
    if "state" not in introduction.has:
        return ""
    loader: Any = opened(exchange, _request(_usual(introduction), batch_size=1), introduction.has)
    steps = iter(loader)
    next(steps, None)
    state = loader.state_dict()
    if "merge" in introduction.has:
        order = {"op": "merge", "states": [state]}
        state = exchange.ask(order, 0, ("loader", 0))["state"]
    other: Any = opened(exchange, _request(_usual(introduction), batch_size=1), introduction.has)
    other.load_state_dict(state)
    text = json.dumps(state)
    return f"after step 1: {text if len(text) <= _SHOWN else text[:_SHOWN] + '...'}; after it {_read(other)}"


PARTS: Mapping[str, Part] = {
    "epoch": _epoch,
    "shuffle": _shuffled,
    "stream": _stream,
    "left": _left,
    "fault": _fault,
    "refusal": _refused,
    "state": _states,
}
