"""What is left of accessors and loaders that load asynchronously, however they, or their processes, end."""

import atexit
import gc
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest
import torch

import reference as poptorch
from reference import DataLoaderMode, SharingStrategy
from reference.ahead import producers as producers_module
from reference.ahead import producing, supply
from reference.ahead.line import pair
from reference.ahead.producers import Producers
from tests.reference.ahead.async_probes import PATIENCE, Items, has_ended, in_child, numbers, producers, running, told
from tests.reference.loading.test_faults import Faulty, hang
from tests.reference.loading.test_lifecycle import nothing_left
from tests.reference.reference_probes import Numbers, options

FORK = {"sharing_strategy": SharingStrategy.Fork}
KEPT: list[Any] = []


def accessor(dataset: Any = None) -> Any:
    """Return an accessor that nobody will terminate."""
    return poptorch.AsynchronousDataAccessor(Items(5) if dataset is None else dataset, **FORK)


def loader(dataset: Any, batch_size: int = 2, mode: DataLoaderMode = DataLoaderMode.Async, **how: Any) -> Any:
    """Return an asynchronous loader with forked workers."""
    return poptorch.DataLoader(
        options(), dataset, batch_size, mode=mode, async_options={**FORK, **how.pop("async_options", {})}, **how
    )


def unused(made: Any) -> None:
    """Do not iterate at all."""


def left(made: Any) -> None:
    """Leave an epoch early."""
    next(iter(made))


def read(made: Any) -> None:
    """Iterate an epoch."""
    numbers(made)


MAKERS = [accessor, lambda: loader(Numbers(9)), lambda: loader(Numbers(9), num_workers=2)]


@pytest.mark.parametrize("use", [unused, left, read])
@pytest.mark.parametrize("make", MAKERS)
def test_nothing_is_left_of_what_is_dropped(make: Any, use: Any) -> None:
    """Its producers end with the last reference, without the garbage collector (LEAK-1, LEAK-2, LEAK-3)."""
    made = make()
    del made
    with nothing_left():
        made = make()
        use(made)
        pids = producers(made)
        gc.disable()
        try:
            del made
            assert [os.path.exists(f"/proc/{pid}") for pid in pids] == [False] * len(pids)
        finally:
            gc.enable()


def test_a_loop_keeps_a_loader_that_nobody_else_keeps() -> None:
    """As any iterator does."""
    for made in (accessor, lambda: loader(Numbers(10)), lambda: loader(Numbers(10), num_workers=2)):
        assert len(list(iter(made()))) == 5


@pytest.mark.deep
def test_descriptors_and_objects_do_not_pile_up() -> None:
    """Over many loaders, and over as many times that one is terminated (LEAK-2, LEAK-5)."""
    one = loader(Numbers(4))
    one.terminate()
    gc.collect()
    with nothing_left():
        before = len(gc.get_objects())
        for _ in range(50):
            made = loader(Numbers(4))
            made.terminate()
            del made
            left(one)
            one.terminate()
        gc.collect()
        assert len(gc.get_objects()) - before < 25


def test_nobody_waits_for_a_process_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ending waits for processes that are there, and not for none until the time is over."""
    waited = []

    def wait(objects: Any, timeout: float) -> Any:
        waited.append(len(objects))
        return really(objects, timeout)

    really = producers_module.wait
    monkeypatch.setattr(producers_module, "wait", wait)
    for _ in range(40):
        with running(Items(2)) as made:
            left(made)
    assert 0 not in waited


@pytest.mark.deep
@pytest.mark.parametrize("mode", ["accessor", "loader"])
def test_the_end_of_the_interpreter_ends_the_producers(mode: str) -> None:
    """Nobody has terminated, and it waits for nothing (ASYNC-8)."""
    make = "accessor()" if mode == "accessor" else "loader(Numbers(9), num_workers=2)"
    script = (
        f"from tests.reference.ahead.test_accessor_ends import *; made = {make}; left(made); print(*producers(made))"
    )
    where = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-W", "ignore", "-c", script]
    ran = subprocess.run(command, env=where, capture_output=True, text=True, timeout=60, check=True)
    assert [has_ended(int(pid)) for pid in ran.stdout.split()] in ([True], [True, True])


def ends(line: Connection) -> None:
    """Keep an accessor, and end as a process of multiprocessing does."""
    atexit._clear()
    KEPT.append(accessor())
    left(KEPT[-1])
    line.send(producers(KEPT[-1]))


def test_the_end_of_a_process_of_multiprocessing_ends_the_producers() -> None:
    """Which joins its children before it lets go of anything (ASYNC-8)."""
    with in_child(ends) as (child, line):
        pids = told(line)
        child.join(PATIENCE)
        assert (child.exitcode, [has_ended(pid) for pid in pids]) == (0, [True])


def waits(line: Connection) -> None:
    """Wait for what never comes, and tell how the waiting ended, and what was left."""
    with nothing_left():
        made = accessor(Faulty2(2))
        passing = iter(made)
        next(passing)
        next(passing)
        try:
            # The interrupt may come as soon as this is said.
            line.send(producers(made))
            next(passing)
        except KeyboardInterrupt:
            line.send("interrupted")
        del passing
        made.terminate()
    line.send("nothing left")


class Faulty2(Items):
    """Item `bad` never comes."""

    def __init__(self, bad: int) -> None:
        super().__init__(9)
        self.bad = bad

    def __iter__(self) -> Any:
        for number in range(self.count):
            if number == self.bad:
                hang()
            yield torch.tensor([number])


def test_an_interrupt_ends_the_waiting() -> None:
    """It comes out of next(), and what hangs is gone (ASYNC-8)."""
    with in_child(waits) as (child, line):
        (pid,) = told(line)
        os.kill(child.pid, signal.SIGINT)
        assert (told(line), told(line), has_ended(pid)) == ("interrupted", "nothing left", True)


def stays(line: Connection, forks: bool) -> None:
    """Hold an accessor and a loader, and perhaps a child that inherits all ends of their lines; wait to be killed."""
    held = [accessor(), loader(Numbers(9), num_workers=2)]
    for made in held:
        left(made)
    child = os.fork() if forks else None
    if child == 0:
        hang()
    line.send((child, [pid for made in held for pid in producers(made)]))
    hang()


@pytest.mark.parametrize("forks", [False, True])
def test_a_killed_consumer_leaves_no_producer(forks: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even where somebody else holds what it held (LEAK-1)."""
    monkeypatch.setattr(producing, "_LOOK_AGAIN", 0.1)
    with in_child(stays, forks) as (child, line):
        other, pids = told(line)
        child.kill()
        child.join()
        try:
            assert [has_ended(pid) for pid in pids] == [True] * 3
        finally:
            if other is not None:
                os.kill(other, signal.SIGKILL)


@pytest.mark.parametrize("at", range(9))
def test_an_interrupt_may_come_between_any_two_messages(at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In making, beginning or reading; what is begun afterwards is whole, and nothing is left (ASYNC-8)."""
    sent = []

    def send(crew: Any, number: int, message: Any) -> None:
        sent.append(message)
        if len(sent) == at + 1:
            raise KeyboardInterrupt
        really(crew, number, message)

    really = Producers.send
    with nothing_left():
        monkeypatch.setattr(Producers, "send", send)
        made = None
        try:
            # With a timeout, so that what is lost is an error and no hang.
            made = loader(Numbers(8), num_workers=2, timeout=5)
            numbers(made)
        except KeyboardInterrupt:
            made = made or loader(Numbers(8), num_workers=2, timeout=5)
        assert (numbers(made), len(sent) > at) == ([0, 2, 4, 6], True)
        made.terminate()
        del made


def test_large_orders_do_not_hold_up_the_end() -> None:
    """A line that is full of orders for a producer that hangs is no reason to wait (ASYNC-8)."""
    with nothing_left():
        made = loader(Faulty(2_000_000, 60_000, hang), 60_000, async_options={"buffer_size": 2})
        left(made)
        made.terminate()
        del made


class Deaf(Items):
    """One item; then it closes what its process has open, and hangs. Tells of that by a file."""

    def __init__(self, mark: Path, closes: bool) -> None:
        super().__init__(1)
        self.mark, self.closes = mark, closes

    def __iter__(self) -> Iterator[Any]:
        yield from super().__iter__()
        if self.closes:
            os.closerange(3, 256)
        self.mark.touch()
        hang()


def stays_with_a_hang(line: Connection, dataset: Any, strategy: SharingStrategy) -> None:
    """Have a producer that hangs in its dataset; wait to be killed."""
    made = poptorch.AsynchronousDataAccessor(dataset, sharing_strategy=strategy)
    left(made)
    line.send(producers(made))
    hang()


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("strategy", [SharingStrategy.Fork, SharingStrategy.ForkServer])
def test_a_killed_consumer_leaves_no_producer_that_hangs(
    strategy: SharingStrategy, closes: bool, tmp_path: Path
) -> None:
    """Which does not look whether anybody still wants its work, or could hear it (LEAK-1)."""
    with in_child(stays_with_a_hang, Deaf(tmp_path / "mark", closes), strategy) as (child, line):
        (pid,) = told(line)
        while not (tmp_path / "mark").exists():
            assert child.is_alive()
        child.kill()
        child.join()
        assert has_ended(pid)


class Torn:
    """A socket whose writes are interrupted as soon as they are done."""

    def __init__(self, end: Any) -> None:
        self.end = end

    def __getattr__(self, name: str) -> Any:
        return getattr(self.end, name)

    def sendmsg(self, *what: Any) -> int:
        """Write, and be interrupted before anybody knows how much was written."""
        self.end.sendmsg(*what)
        raise KeyboardInterrupt


def test_a_message_that_was_torn_is_not_written_twice(capfd: pytest.CaptureFixture[str]) -> None:
    """The producer ends without a word, since it reads no half of a message for a whole one (ASYNC-8)."""
    made = accessor()
    passing = iter(made)
    (line,) = made._consumer.producers.lines
    line.end = Torn(line.end)
    with pytest.raises(KeyboardInterrupt):
        list(passing)
    made.terminate()
    assert capfd.readouterr().err == ""


class WithAChild(Items):
    """An iterable that has a process of its own, as a loader with workers has, which hangs; the first item tells it."""

    def __iter__(self) -> Iterator[Any]:
        child = get_context("fork").Process(target=hang)
        child.start()
        yield torch.tensor([child.pid])
        hang()


def test_what_a_producer_has_started_ends_with_it() -> None:
    """However the producer ends, and although nobody tells its child (LEAK-1)."""
    made = accessor(WithAChild(1))
    child = int(next(iter(made)))
    os.kill(producers(made)[0], signal.SIGKILL)
    assert has_ended(child)
    made.terminate()


def becomes_a_producer(line: Connection) -> None:
    """Be a producer whose consumer has hung up, and tell what SIGTERM does before and after."""
    ours, theirs = pair()
    ours.close()
    found = [signal.getsignal(signal.SIGTERM)]
    producing.produce(theirs, supply.Items(Items(1)), 0, [], {})
    found.append(signal.getsignal(signal.SIGTERM))
    line.send(found)


def test_a_producer_that_is_ending_is_not_told_to_end() -> None:
    """It would break off the joining of its own workers, and leave a traceback (ASYNC-8)."""
    with in_child(becomes_a_producer) as (_, line):
        assert told(line) == [signal.SIG_DFL, signal.SIG_IGN]
