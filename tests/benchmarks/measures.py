"""Decides how each figure is taken; every function here is called in a process of its own (`children.py`)."""

import gc
import os
import subprocess
import sys
import time
from typing import Any

import torch

from tests.benchmarks.children import memory, processor_seconds
from tests.benchmarks.images import Load
from tests.benchmarks.ways import Way


def rate(way: Way, load: Load, seconds: float, threads: int) -> tuple[float]:
    """Samples per second over whole epochs, one behind the other, of which there are as many as fill the seconds.

    The epoch before them isn't counted: workers and memory are there when the clock starts. A loader that reads ahead
    has about as much in store at the end as it had at the beginning, so the store is no gift.
    """
    torch.set_num_threads(way.threads or threads)
    loader = way.open(load)
    read_epoch(loader)
    samples, begin = 0, time.perf_counter()
    while samples == 0 or time.perf_counter() - begin < seconds:
        samples += read_epoch(loader) * load.step
    found = samples / (time.perf_counter() - begin)
    close(loader)
    return (found,)


def first_item(way: Way, load: Load, pause: float, threads: int) -> tuple[float]:
    """Milliseconds until the first item is there, from before the loader is made, or from behind a pause after that."""
    torch.set_num_threads(threads)
    begin = time.perf_counter()
    loader = way.open(load)
    if pause:
        time.sleep(pause)
        begin = time.perf_counter()
    touch(next(iter(loader)))
    waited = time.perf_counter() - begin
    close(loader)
    return (waited * 1e3,)


def first_items(way: Way, load: Load, threads: int) -> tuple[float, float]:
    """The same of a process's first loader, and of another one when that was closed: milliseconds."""
    return (*first_item(way, load, 0.0, threads), *first_item(way, load, 0.0, threads))


def new_interpreters() -> tuple[float, float]:
    """Milliseconds that an interpreter takes to start and import torch, twice: no spawned worker is there sooner."""
    times = []
    for _ in range(2):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", "import torch"], check=True)
        times.append((time.perf_counter() - begin) * 1e3)
    return times[0], times[1]


def idle_consumer(way: Way, load: Load) -> tuple[float]:
    """The part of one core that the iterating process uses while it waits for the items of a slow dataset."""
    items = iter(loader := way.open(load))
    touch(next(items))
    begin, used = time.perf_counter(), time.process_time()
    # Several, since workers may bring two at the same time; not the end, which may be that of the workers.
    for _ in range(len(loader) - 1):
        touch(next(items))
    used, waited = time.process_time() - used, time.perf_counter() - begin
    close(loader)
    return (used / waited,)


def idle_family(way: Way, load: Load, pause: float) -> tuple[float]:
    """The part of one core that all processes together use while nobody asks for the next item."""
    items = iter(loader := way.open(load))
    touch(next(items))
    time.sleep(pause)  # whatever is loaded ahead is loaded in this time
    begin, used = time.perf_counter(), processor_seconds(os.getpid())
    time.sleep(pause)
    used, waited = processor_seconds(os.getpid()) - used, time.perf_counter() - begin
    close(loader)
    return (used / waited,)


def memory_use(way: Way, load: Load, epochs: int) -> tuple[float, float]:
    """Megabytes above those held before the loader was made, at the second epoch's peak; and what the last one adds.

    All pages but those of files are counted, private and shared, of the process that made the dataset and of all below
    it, shared ones once; the highest sum after any step of an epoch is its peak.
    """
    # Python's collector writes to every object, and so copies what this process shares with those forked from it. When
    # it runs here depends on this very code, so it leaves alone what is there already; when it runs there is theirs.
    gc.freeze()
    os.register_at_fork(after_in_child=gc.unfreeze)
    root = os.getppid()
    before = memory(root)
    loader = way.open(load)
    read_epoch(loader)
    early = _peak(loader, root)
    for _ in range(epochs - 3):
        read_epoch(loader)
    late = _peak(loader, root)
    close(loader)
    return (early - before) / 1e6, (late - early) / 1e6


def read_epoch(loader: Any) -> int:
    """Read an epoch, touching one element of every step; returns how many steps there were."""
    steps = 0
    for item in loader:
        touch(item)
        steps += 1
    return steps


def touch(item: Any) -> None:
    """Look at one element: what is counted as delivered is there."""
    tensor = item if isinstance(item, torch.Tensor) else item[0]
    tensor.view(-1)[-1].item()


def close(loader: Any) -> None:
    """End the loader's processes now, where it has a way to."""
    end = getattr(loader, "terminate", None)
    if end is not None:
        end()


def _peak(loader: Any, root: int) -> int:
    highest = 0
    for item in loader:
        touch(item)
        highest = max(highest, memory(root))
    return highest
