"""Loaders of subsets: decides how one, or two in one process, are read, and what the caller looks at afterwards."""

import gc
from contextlib import suppress
from dataclasses import replace
from typing import Any

from conformance.chosen.asked import Reading, second_of
from conformance.chosen.judging import in_words
from conformance.chosen.scenario import BEHIND, has_second
from conformance.contract import Request
from conformance.loader import reading
from conformance.loader.probes import empty_folder
from conformance.loader.reading import Reader
from conformance.processes import calls
from conformance.processes.calls import Stopped
from conformance.trace import Epoch


def read(going: Reading, request: Request) -> None:
    """Read what is asked for, alone or beside a second loader; the epochs of that one come behind the others."""
    if BEHIND & {*going.scenario.words}:
        request = _behind_another(going, request)
    requests = [request, *([replace(request, **second_of(going.scenario))] if has_second(going.scenario) else [])]
    before = [_looked_at(each) for each in requests]
    alone = {"first": requests[:1], "second": requests[1:]}.get(going.scenario.variant, requests)
    readers: list[Reader] = []
    try:
        readers += [going.reader(each) for each in alone]
        if len(readers) == 1:
            reading.read_epochs(readers[0], going.task.epochs, going.epochs)
        else:
            _in_turns(going, readers)
    except Stopped:
        # What stopped the reading is told, and not what closing makes of it.
        for reader in readers:
            with suppress(Stopped):
                calls.close(reader.loader)
        raise
    for reader in readers:
        calls.close(reader.loader)
    changes = [change for each, was in zip(requests, before, strict=True) for change in _changes(was, _looked_at(each))]
    going.remarks += [("touched", change) for change in changes[:1]]


# Lists that are made until one has the address of another that is gone: the first has it, unless somebody took it.
_TRIES = 200


def _behind_another(going: Reading, request: Request) -> Request:
    """The request, when a loader over as many other samples has been read and closed.

    Its list is refilled; or it is gone, and another one has its address, so that who knows a list by that is wrong.
    """
    indices = list(request.indices or ())
    caller = [(index + 1) % going.scenario.samples for index in indices]
    _read_before(going, replace(request, indices=caller))
    # What that one read is nothing of this one's.
    empty_folder(going.workdir, "watch")
    if "reused" in going.scenario.words:
        caller[:] = indices
        return replace(request, indices=caller)
    address, made = id(caller), list[list[int]]()
    del caller
    gc.collect()
    while len(made) < _TRIES:
        made.append(list(indices))
        if id(made[-1]) == address:
            break
    return replace(request, indices=made[-1])


def _read_before(going: Reading, request: Request) -> None:
    # What such a loader does wrong is found by its own scenario.
    with suppress(Stopped):
        reader = going.reader(request)
        try:
            reading.read_epochs(reader, going.task.epochs[:1], [])
        finally:
            calls.close(reader.loader)


def _in_turns(going: Reading, readers: list[Reader]) -> None:
    """Epoch by epoch, a step of each in turn until all have ended."""
    epochs: list[list[Epoch]] = [[] for _ in readers]
    for number in going.task.epochs:
        passes = [reader.begin(number) for reader in readers]
        reading_on = list(range(len(readers)))
        while reading_on:
            reading_on = [at for at in reading_on if readers[at].step(passes[at])]
        for at, each in enumerate(passes):
            epochs[at].append(each.epoch())
    going.epochs += [epoch for mine in epochs for epoch in mine]


def _looked_at(request: Request) -> dict[str, Any]:
    """What the caller can see of its own list and of its dataset."""
    # What a probe writes samples into, and logs by, is its own business.
    own = {name: value for name, value in vars(request.dataset).items() if name not in ("watch", "buffer")}
    seen = {f"dataset.{name}": value if isinstance(value, int | str) else type(value) for name, value in own.items()}
    return {**seen, "request.indices": None if request.indices is None else list(request.indices)}


def _changes(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    return [
        f"{name} was {_shown(before.get(name))} and is {_shown(after.get(name))}"
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def _shown(value: Any) -> str:
    return in_words(value) if isinstance(value, list) else "not there" if value is None else str(value)
