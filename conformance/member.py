"""One process of the fleet: decides how one rank's loader is built, read to the end, and written down.

Nothing here judges. What the implementation does wrong (raise, give nonsense, never end) becomes a `Failure` in the
trace; what takes the whole process down is seen from outside, by the fleet.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from conformance import datasets, random_state
from conformance.contract import Implementation, Request
from conformance.trace import Epoch, Failure, FailureKind, RandomState, RankRun, Where

# The loader that is read first in a process "after other loaders" (the variant `after`): nothing like the scenario's.
_OTHER_LOADER = {"samples": 7, "batch_size": 2, "seed": 99}


@dataclass(frozen=True)
class Task:
    """One rank's part in a run: the request in plain numbers, and the circumstances.

    `arguments` are the fields of `Request` but for dataset and workdir. `epochs` are the numbers of the epochs to read.
    `process_group` is (file for the rendezvous, rank, world size) where ranks need torch.distributed.
    """

    samples: int
    arguments: dict[str, Any]
    epochs: tuple[int, ...]
    random_seed: int = 0
    after_others: bool = False
    process_group: tuple[str, int, int] | None = None


class _Stopped(Exception):
    """The run of this rank can't go on."""

    def __init__(self, kind: FailureKind, where: Where, message: str, epoch: int | None = None) -> None:
        super().__init__(message)
        self.failure = Failure(kind, where, message, epoch)


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Build the loader that the task asks for, read its epochs, and write down what came."""
    random_state.seed_all(task.random_seed)
    if task.after_others:
        _read_another_loader(implementation, task, workdir)
    epochs: list[Epoch] = []
    failure = None
    before = random_state.seed_all_and_tell(task.random_seed)
    try:
        _read(implementation, task, workdir, epochs)
    except _Stopped as stopped:
        failure = stopped.failure
    after = random_state.digests()
    # A library that is imported on the way has a state only afterwards: nothing can be said about it.
    states = tuple(RandomState(name, before[name], after[name]) for name in before if name in after)
    return RankRun(task.arguments["rank"], tuple(epochs), failure, states)


def _read(implementation: Implementation, task: Task, workdir: str, epochs: list[Epoch]) -> None:
    loader = _call("load", None, lambda: implementation.load(_request(task, workdir)))
    if loader is None or not (hasattr(loader, "__iter__") or hasattr(loader, "__getitem__")):
        raise _Stopped(
            "unusable", "load", f"load(request) gives {_short(loader)}, which can't be iterated; return the loader"
        )
    try:
        for number in task.epochs:
            epochs.append(_read_epoch(implementation, task, loader, number))
    except _Stopped:
        # What stopped the epoch is told, and not what closing makes of it.
        with suppress(_Stopped):
            _close(loader)
        raise
    _close(loader)


def _read_epoch(implementation: Implementation, task: Task, loader: Any, number: int) -> Epoch:
    if implementation.claims.epochs != "automatic" and hasattr(loader, "set_epoch"):
        _call("set_epoch", number, lambda: loader.set_epoch(number))
    length = _length(loader, number)
    iterator = _call("iter", number, lambda: iter(loader))
    steps: list[tuple[int, ...]] = []
    # Enough for any declared padding; a loader that goes on beyond it never ends.
    most = 8 + 2 * task.samples + 4 * _combined(task) * max(1, _number(task.arguments["world_size"]))
    delivered = 0
    for batch in _batches(iterator, number):
        steps.append(_indices(implementation, batch, number))
        delivered += max(1, len(steps[-1]))
        if delivered > most:
            raise _Stopped(
                "endless",
                "step",
                f"after {len(steps)} steps, {delivered} samples of a dataset of {task.samples}",
                number,
            )
    return Epoch(number, tuple(steps), length)


def _batches(iterator: Iterator[Any], number: int) -> Iterator[Any]:
    done = object()
    while True:
        batch = _call("step", number, lambda: next(iterator, done))
        if batch is done:
            return
        yield batch


def _indices(implementation: Implementation, batch: Any, number: int) -> tuple[int, ...]:
    try:
        values = implementation.decode(batch) if implementation.decode else datasets.decode(batch)
        return tuple(int(value) - datasets.FIRST_SAMPLE for value in values)
    except (Exception, SystemExit) as error:
        raise _Stopped("undecodable", "step", f"{_described(error)}", number) from error


def _length(loader: Any, number: int) -> int | str | None:
    if not hasattr(type(loader), "__len__"):
        return None
    try:
        return len(loader)
    except (Exception, SystemExit) as error:
        return _described(error)


def _close(loader: Any) -> None:
    for name in ("close", "shutdown", "terminate"):
        if hasattr(loader, name):
            _call("close", None, getattr(loader, name))
            return


def _call(where: Where, epoch: int | None, function: Callable[[], Any]) -> Any:
    """What `function` gives; whatever it raises, a SystemExit too, ends the run as a failure at `where`."""
    try:
        return function()
    except (Exception, SystemExit) as error:
        raise _Stopped("raised", where, _described(error), epoch) from error


def _request(task: Task, workdir: str) -> Request:
    # One folder a dataset and a process: ranks never write over each other's files.
    folder = os.path.join(workdir, f"map-{task.samples}")
    os.makedirs(folder, exist_ok=True)
    return Request(dataset=datasets.MapDataset(task.samples), workdir=folder, **task.arguments)


def _read_another_loader(implementation: Implementation, task: Task, workdir: str) -> None:
    arguments = {
        **task.arguments,
        "batch_size": _OTHER_LOADER["batch_size"],
        "seed": _OTHER_LOADER["seed"],
        "drop_last": False,
    }
    other = Task(_OTHER_LOADER["samples"], arguments, epochs=(0, 1))
    try:
        _read(implementation, other, workdir, [])
    except _Stopped:
        return  # what this loader does wrong is found by its own scenario


def _combined(task: Task) -> int:
    names = ("batch_size", "gradient_accumulation", "replication_factor", "device_iterations")
    product = 1
    for name in names:
        product *= max(1, _number(task.arguments[name]))
    return product


def _number(value: Any) -> int:
    return int(value) if isinstance(value, int | float) else 1


def _described(error: BaseException) -> str:
    """The exception as ``Type: first line``, without what changes from run to run (addresses, process ids)."""
    text = str(error).strip().split("\n")[0]
    text = re.sub(r"0x[0-9a-f]{6,}", "0x...", text)
    text = re.sub(r"\bpid\(?s?\)?[ :=(]*\d+(, \d+)*", "pid ...", text)
    name = type(error).__name__
    return f"{name}: {text[:200]}" if text else name


def _short(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
