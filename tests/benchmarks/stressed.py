"""Decides what the process does that has the loaders of the stress: makes one after the other, and counts what is left.

Its parent sends it interrupts, and kills it. It heeds an interrupt only while a loader is used; then the loader is
ended, and what is open is counted.
"""

import faulthandler
import gc
import os
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing import forkserver, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset, IterableDataset, TensorDataset

import reference as poptorch
from conformance.processes.descendants import children, listed, text_of
from reference import DataLoaderMode
from tests.benchmarks.fates import HANGS, SAMPLES, Fate

_BATCH = 2
_TIMEOUT = {True: 1, False: 0}  # seconds; of a dataset that hangs, and of one that does not
_SLOW = 0.002  # seconds for a sample
_PATIENCE = 20.0  # seconds within which what was ended has gone
_NEVER = threading.Event()
MANAGER = "torch_shm_mana"  # as the kernel names it
WRONG = "WRONG: "


class Numbers(Dataset[int]):
    """0 to 23; one of them may be a bad one."""

    def __init__(self, fate: Fate) -> None:
        self.fault, self.bad = fate.fault, fate.bad

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> int:
        if self.fault == "slow":
            time.sleep(_SLOW)
        elif index == self.bad:
            _fail(self.fault)
        return index


class Stream(IterableDataset[int]):
    """The same as a stream, or as an iterable of tensors."""

    def __init__(self, fate: Fate, batch: int = 0) -> None:
        self.numbers, self.batch = Numbers(fate), batch

    def __iter__(self) -> Iterator[Any]:
        numbers = (self.numbers[index] for index in range(SAMPLES))
        return (torch.tensor([n, next(numbers)]) for n in numbers) if self.batch else numbers

    def __len__(self) -> int:
        return SAMPLES // (self.batch or 1)


def _fail(fault: str) -> None:
    if fault == "raises":
        raise KeyError("a bad sample")
    if fault == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "deaf":
        os.closerange(3, 256)
    if fault in HANGS:
        _NEVER.wait()


def make(fate: Fate) -> Any:
    """The loader, or the accessor."""
    how = {
        "buffer_size": 0 if fate.end == "refused" else fate.slots,
        "early_preload": fate.early_preload,
        "sharing_strategy": fate.start,
    }
    if fate.kind == "accessor":
        return poptorch.AsynchronousDataAccessor(Stream(fate, _BATCH), **how)
    dataset: Any = Numbers(fate)
    if fate.kind == "gathered":
        dataset = TensorDataset(torch.arange(SAMPLES))
    elif fate.kind in ("stream", "rebatched"):
        dataset = poptorch.split(Stream(fate))
    return poptorch.DataLoader(
        poptorch.Options(),
        dataset,
        _BATCH,
        num_workers=fate.workers,
        drop_last=False,
        timeout=_TIMEOUT[fate.fault in HANGS],
        mode=DataLoaderMode.AsyncRebatched if fate.kind == "rebatched" else DataLoaderMode.Async,
        async_options=how,
    )


def undergo(fate: Fate, made: list[Any]) -> None:
    """Make the loader and put it into the list, use it as is its fate, and end it, if it is to be ended.

    Raises what the loader raises, and AssertionError if it delivers something else than its dataset.
    """
    made.append(make(fate))
    (loader,) = made
    steps = iter(loader)
    if fate.end == "killed producer":
        next(steps, None)
        os.kill(loader._consumer.producers.processes[-1].pid, signal.SIGKILL)
    if fate.end in ("left", "dropped", "begun anew", "exits"):
        next(steps)
    if fate.end == "begun anew":
        steps = iter(loader)
    if fate.end not in ("left", "dropped", "exits"):
        found = sorted(int(value) for step in steps for value in _tensor(step).flatten())
        assert found == list(range(SAMPLES)) or fate.end == "killed producer", f"{found} came"
    if fate.end not in ("dropped", "exits"):
        loader.terminate()


def _tensor(step: Any) -> torch.Tensor:
    tensor = step[0] if isinstance(step, list | tuple) else step
    assert isinstance(tensor, torch.Tensor)
    return tensor


class Host:
    """The process that has the loaders. The line says when one begins, and what came of it."""

    def __init__(self, line: Connection) -> None:
        self.line = line
        self.heeds = False
        self.kept: list[Any] = []

    def interrupted(self, *_: object) -> None:
        """Take an interrupt."""
        if self.heeds:
            raise KeyboardInterrupt

    def run(self, fates: Sequence[Fate]) -> None:
        """One loader after the other."""
        signal.signal(signal.SIGINT, self.interrupted)
        before = opened()
        for fate in fates:
            self.line.send(None)
            came = self.outcome(fate)
            self.line.send((came, [] if fate.end == "exits" else left_since(before)))

    def outcome(self, fate: Fate) -> str:
        """What came of a loader, which is ended then."""
        made: list[Any] = []
        came = "as it should"
        try:
            try:
                self.heeds = True
                undergo(fate, made)
            finally:
                self.heeds = False
        except KeyboardInterrupt:
            self.heeds = False
            came = "interrupted"
        except Exception as error:
            is_right = fate.may_fail and not isinstance(error, AssertionError)
            came = "an error" if is_right else f"{WRONG}{type(error).__name__}: {error}"
        if fate.end == "exits":
            self.kept += made
        elif fate.end != "dropped":
            for loader in made:
                loader.terminate()
        return came


def opened() -> Counter[str]:
    """The descriptors, processes, threads and temporary files that this process has, but for those of helpers."""
    tracker: Any = resource_tracker._resource_tracker  # type: ignore[attr-defined]
    server: Any = forkserver._forkserver
    helpers = (tracker._fd, server._forkserver_alive_fd)
    descriptors = [_target(name) for name in listed("/proc/self/fd") if int(name) not in helpers]
    processes = [
        f"process {text_of(f'/proc/{child}/comm').strip()}"
        for child in children(os.getpid())
        if child not in (tracker._pid, server._forkserver_pid) and MANAGER not in text_of(f"/proc/{child}/comm")
    ]
    threads = [f"thread {thread.name}" for thread in threading.enumerate()]
    files = [path.name for path in Path(tempfile.gettempdir()).glob("loader-*")]
    return Counter([*descriptors, *processes, *threads, *files])


def _target(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except OSError:
        # The one by which the folder was listed.
        return f"/proc/{os.getpid()}/fd"


def left_since(before: Counter[str]) -> list[str]:
    """What is open now and was not before, once what is about to end has ended."""
    gc.collect()
    deadline = time.monotonic() + _PATIENCE
    while (left := opened() - before) and time.monotonic() < deadline:
        time.sleep(0.02)
    return list(left.elements())


def host(line: Connection, fates: Sequence[Fate], sharing: str, errors: str) -> None:
    """Be the process that has these loaders, in a group of its own, which gets an interrupt as from a terminal."""
    os.setpgid(0, 0)
    file = os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(file, sys.stderr.fileno())
    os.close(file)
    faulthandler.register(signal.SIGUSR1, all_threads=True, file=sys.__stderr__ or 2)
    # What is left in it is this process's.
    tempfile.tempdir = os.environ["TMPDIR"] = tempfile.mkdtemp()
    torch.set_num_threads(1)
    torch.multiprocessing.set_sharing_strategy(sharing)
    # Under file_system, torch starts a process that removes what is left: it is there before anything is counted.
    torch.zeros(1).share_memory_()
    Host(line).run(fates)
