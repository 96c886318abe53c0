"""A mixture that is stopped, and goes on in another loader from its state: decides what becomes of the epoch."""

import pickle
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.chosen.asked import Reading
from conformance.chosen.scenario import stopped_after
from conformance.contract import Request
from conformance.loader.reading import Reader, read_epochs
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.trace import Epoch


def read(going: Reading, request: Request) -> None:
    """Read a few steps of the last epoch, take the state, and the rest in a loader that was given it."""
    first = going.reader(request)
    after = stopped_after(going.scenario)
    *before, number = going.task.epochs
    try:
        read_epochs(first, tuple(before), going.epochs)
        head = first.begin(number)
        more = first.up_to(head, after)
        blob = pickle.dumps(first.method("state_dict"))
    finally:
        with suppress(Stopped):
            calls.close(first.loader)
    if not more:
        going.epochs.append(head.epoch())
        return
    second = going.reader(request)
    try:
        rest = _resumed(second, number, pickle.loads(blob), {*going.scenario.words})
        going.epochs.append(replace(rest, steps=(*head.steps, *rest.steps)))
    finally:
        with suppress(Stopped):
            calls.close(second.loader)


def _resumed(reader: Reader, number: int, state: Any, words: set[str]) -> Epoch:
    """What comes from the state; `inside`: the epoch was set before it was loaded, and is not set again."""
    if "inside" in words:
        _tell(reader, number)
    reader.method("load_state_dict", state)
    if "retold" in words:
        _tell(reader, number)
    if "inside" in words:
        reader = replace(reader, sets_epoch=False)
    return reader.rest(reader.begin(number)).epoch()


def _tell(reader: Reader, number: int) -> None:
    if hasattr(reader.loader, "set_epoch"):
        calls.called("set_epoch", number, lambda: reader.loader.set_epoch(number))
