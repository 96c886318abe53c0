"""The server that producers are forked from, and what an interrupt does while they are started or ended."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from typing import Any

import pytest

import reference as poptorch
from reference import SharingStrategy
from reference.ahead.producers import Producers
from tests.reference.ahead.async_probes import PATIENCE, Items, in_child, told


def read(strategy: SharingStrategy) -> list[list[int]]:
    """All steps of an accessor with that strategy."""
    accessor = poptorch.AsynchronousDataAccessor(Items(3), sharing_strategy=strategy)
    steps = [step.tolist() for step in accessor]
    accessor.terminate()
    return steps


def tell_steps(line: Connection) -> None:
    """Read with the server, in this process."""
    line.send(read(SharingStrategy.ForkServer))


@pytest.mark.deep
def test_a_process_that_was_forked_gets_a_server_of_its_own() -> None:
    """The one of its parent's is not its child, and can't be asked whether it runs."""
    assert [[0, 0], [1, 1], [2, 2]] == read(SharingStrategy.ForkServer)
    with in_child(tell_steps) as (_, line):
        assert [[0, 0], [1, 1], [2, 2]] == told(line)


def preloaded(line: Connection) -> None:
    """Tell what the server imports before it forks, by itself, and when a user has said something."""
    found: list[Any] = []
    for chosen in (["__main__"], ["numpy"]):
        multiprocessing.set_forkserver_preload(chosen)
        read(SharingStrategy.ForkServer)
        found.append(list(forkserver._forkserver._preload_modules))
    line.send(found)


def test_the_server_has_what_producers_need_before_it_forks() -> None:
    """Unless a user has chosen what it imports."""
    with in_child(preloaded) as (_, line):
        assert [["__main__", "torch", "reference.ahead.producing"], ["numpy"]] == told(line)


def test_an_interrupt_waits_until_a_process_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while the first producer is started; the producer is ended all the same."""
    start: Callable[..., None] = Producers._start
    before = multiprocessing.active_children()

    def interrupted(self: Producers, *how: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        start(self, *how)

    monkeypatch.setattr(Producers, "_start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        poptorch.AsynchronousDataAccessor(Items(3), sharing_strategy=SharingStrategy.Fork)
    assert before == multiprocessing.active_children()


class HangsAfterOne(Items):
    """One item, and then nothing more; tells when it is asked for the next."""

    def __init__(self) -> None:
        super().__init__(2)
        self.hangs = multiprocessing.get_context("fork").Event()

    def __iter__(self) -> Iterator[Any]:
        yield next(super().__iter__())
        self.hangs.set()
        threading.Event().wait()


def test_an_interrupt_hurries_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes while a producer that hangs is waited for, and is raised when the producer has ended."""
    dataset = HangsAfterOne()
    before = multiprocessing.active_children()
    accessor = poptorch.AsynchronousDataAccessor(dataset, sharing_strategy=SharingStrategy.Fork)
    next(iter(accessor))
    assert dataset.hangs.wait(PATIENCE)
    join: Callable[..., None] = Producers._join

    def interrupted(*how: Any) -> None:
        if not waits:
            os.kill(os.getpid(), signal.SIGINT)
        waits.append(how)
        join(*how)

    waits: list[Any] = []
    monkeypatch.setattr(Producers, "_join", interrupted)
    with pytest.raises(KeyboardInterrupt):
        accessor.terminate()
    assert before == multiprocessing.active_children()
    assert waits
    accessor.terminate()
