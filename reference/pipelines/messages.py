"""Decides how the processes of a pipeline talk: workers run copies of the graph, a dispatcher what stands before it.

    main -> process     Begin(epoch, seeds)    start this epoch, drop the one before
                        More(epoch)            one more chunk may come
    process -> main     (epoch,)               the epoch is begun
    worker -> main      (epoch, elements, is_over, failure)    a chunk, only when one was asked for
    worker -> dispatcher, dispatcher -> worker: More and chunks, likewise

The main process reads all lines while it waits, and each worker always reads the dispatcher's, so that nobody is kept
waiting with a full line by somebody who waits for another. Hanging up ends: a process whose line to the main process
is closed goes.
"""

import contextlib
import os
import pickle
import signal
import sys
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing import parent_process
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

import torch

from ..loading.faults import Failure
from .graph import Place
from .seeds import SeedGenerator

_PATIENCE = 0.01  # seconds after which a chunk is sent although it is small

# A fork copies the ends of all lines; a copy that stays open would hide that its owner has hung up.
ends: "weakref.WeakSet[Connection]" = weakref.WeakSet()


@dataclass(frozen=True)
class Begin:
    """Start an epoch. `number` counts the epochs of these processes; `change` changes a worker's graph for this one."""

    number: int
    seeds: SeedGenerator
    change: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class More:
    """One more chunk of this epoch may come."""

    number: int


@dataclass(frozen=True)
class WorkerInfo:
    """What initialisers are told of their worker."""

    num_workers: int
    worker_id: int


@dataclass(frozen=True)
class Job:
    """What a worker is to do, beside its graph."""

    place: Place
    info: WorkerInfo
    chunk: int
    init: Callable[..., Any] | None
    reset: Callable[..., Any] | None


def raising(failure: Failure) -> Iterator[Any]:
    """An iteration that begins with an error."""
    raise failure.error
    yield


def read_some(chunk: list[Any], elements: Iterator[Any], most: int) -> None:
    """Read elements until there are many, or some time has passed; at least one. What they raise goes through."""
    deadline = monotonic() + _PATIENCE
    while len(chunk) < most:
        chunk.append(next(elements))
        if monotonic() >= deadline:
            return


def fill(chunk: list[Any], elements: Iterator[Any], most: int) -> tuple[bool, Failure | None]:
    """Read some elements; return whether it is over, and an error if so."""
    try:
        read_some(chunk, elements, most)
    except StopIteration:
        return True, None
    except (Exception, SystemExit) as error:
        return True, Failure(error, "by the pipeline")
    return False, None


def packed(number: int, elements: list[Any], is_over: bool, failure: Failure | None) -> bytes:
    """A chunk as bytes. An element that can't be pickled becomes a failure in its place."""
    try:
        return pickle.dumps((number, elements, is_over, failure), pickle.HIGHEST_PROTOCOL)
    except Exception:
        good: list[Any] = []
        for element in elements:
            try:
                pickle.dumps(element)
            except Exception as error:
                return pickle.dumps((number, good, True, Failure(error, "when an element was sent")))
            good.append(element)
        raise


def name_process(error: BaseException, process: str) -> BaseException:
    """Say in an error's text which process has raised it, as far as the text is what the error was made of.

    It goes to the end of the first line, which is what other ranks are told.
    """
    if [type(each) for each in error.args] == [str]:
        before = error.args
        first, line, rest = before[0].partition("\n")
        told = f"(Caught {type(error).__name__} in {process}.)"
        error.args = (f"{first} {told}{line}{rest}",)
        if told not in str(error):
            # A type with a text of its own; a note says the same.
            error.args = before
    return error


def close(elements: Iterator[Any] | None) -> None:
    """End an iteration, so that its `finally` parts run before the next one begins."""
    end = getattr(elements, "close", None)
    if callable(end):
        end()


def parent() -> Any:
    """What becomes ready when the main process is gone."""
    process = parent_process()
    assert process is not None
    return process.sentinel


def settle(own: list[Connection | None]) -> None:
    """Make this process ready: no lines of others, one thread, no interrupt from the terminal."""
    for end in list(ends):
        if not any(end is each for each in own):
            end.close()
    # The main process ends its workers when it is interrupted.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)


def leave(elements: Iterator[Any] | None) -> None:
    """End this process, because the main process has hung up."""
    # The user's pipes may have something to finish: a file to close, say.
    with contextlib.suppress(Exception):
        close(elements)
    sys.stdout.flush()
    sys.stderr.flush()
    # Handlers that were registered in the main process are of no concern here.
    os._exit(0)
