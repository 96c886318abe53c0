"""Probe datasets that watch and break: decides what a read leaves in the log, and how a drawn fault happens.

The log is a file, since a read may happen in any process: a line a read, written in one call. A fault happens once,
in whichever process comes to it first; what is read after that is sound.
"""

import builtins
import errno
import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, cast

from conformance.loader.conducts import BASE_ERRORS, ERRORS
from conformance.loader.datasets import FIRST_SAMPLE, MapDataset
from conformance.loader.interrupts import first, interrupt, said, within
from conformance.loader.reach import reaches
from conformance.loader.samples import sample_of
from conformance.processes.descendants import children
from conformance.trace import Read
from conformance.trial.words import place_of

# Seconds in which a worker ends that is about to, and in which one that was killed is gone.
_UNTIL_ENDED, _UNTIL_GONE = 0.2, 2.0
_DRAW = 2**53  # large enough that two streams of draws don't meet by chance


class BrokenSample(ValueError):
    """What a drawn fault raises."""


@dataclass(frozen=True)
class Watch:
    """What a probe does besides giving samples: where it logs, which fault it has, what its samples are."""

    folder: str
    fault: str = ""
    kind: str = ""
    draws: bool = False
    consumer: int = 0  # the process id of the one that iterates the loader
    error: str = ""  # the word for what it raises (ERRORS)
    armed_in: int = 0  # the first epoch in which the fault happens
    always: bool = False  # the fault happens in every epoch
    interrupts: int | None = None  # the sample whose read lasts until the consumer, waiting for it, was interrupted

    @property
    def log(self) -> str:
        """The file of reads."""
        return os.path.join(self.folder, "reads.txt")

    def read(self, index: int, dataset: Any) -> None:
        """Log a read of a sample, and let the fault happen if it is this one's."""
        _append(self.log, [index, os.getpid(), _worker(dataset), _draws() if self.draws else []])
        if index == self.interrupts and first(self.folder, "interrupts"):
            interrupt(self.folder, self.consumer)
        name, _, place = self.fault.partition("@")
        if name == "crawl":
            time.sleep(0.5)
        if name in _AT_A_READ and int(place) == index and self.fires():
            _AT_A_READ[name](index, self.error)

    def fires(self) -> bool:
        """Whether the fault happens now: the first time, and never where it would end the consumer itself."""
        if self.fault.startswith(("kill", "exit", "hang")) and os.getpid() == self.consumer:
            return False
        if self.armed_in and not said(self.folder, "armed"):
            return False
        if self.fault.startswith("again") and first(self.folder, "sound"):
            return False
        return first(self.folder, "fired") or self.always

    @property
    def fired(self) -> bool:
        """Whether the fault has happened."""
        return said(self.folder, "fired")

    def begin_epoch(self, number: int) -> None:
        """Log that the consumer begins an epoch."""
        if self.armed_in and number >= self.armed_in:
            first(self.folder, "armed")
        if self.fault.startswith("idle") and number == self.armed_in:
            self._kill_the_reader()
        _append(self.log, number)

    def _kill_the_reader(self) -> None:
        """Kill the worker that read the sample of the fault, if it lives on; it is gone when this returns."""
        place = place_of(self.fault)
        reader = next((entry[1] for entry in self.entries()[::-1] if isinstance(entry, list) and entry[0] == place), 0)
        # One that is about to end by itself is not idle.
        if reader != self.consumer and not within(_UNTIL_ENDED, lambda: not _lives(reader)):
            first(self.folder, "fired")
            os.kill(reader, signal.SIGKILL)
            within(_UNTIL_GONE, lambda: not _lives(reader))

    def note(self, entry: dict[str, Any]) -> None:
        """Log something else, wherever it happens."""
        _append(self.log, entry)

    def count(self) -> int:
        """How many reads there were until now, before the first epoch too."""
        if not os.path.exists(self.log):
            return 0
        with open(self.log) as lines:
            return sum(line.startswith("[") for line in lines)

    def epoch(self) -> int:
        """The number of the latest epoch that the consumer began."""
        return max((each for each in self.entries() if isinstance(each, int)), default=0)

    def entries(self) -> list[Any]:
        """The log as it stands: the number of an epoch, a read, or what a hook says."""
        with open(self.log) as lines:
            return [json.loads(line) for line in lines]

    def reads(self) -> tuple[Read, ...]:
        """The log, process by process: the order between processes is nobody's promise."""
        return _parsed(self.log, self.consumer)


class WatchedMap(MapDataset):
    """A map-style probe."""

    def __init__(self, length: int, watch: Watch) -> None:
        super().__init__(length)
        self.watch = watch
        self.buffer: Any = None  # the one buffer of the kind "buffer"

    def __getitem__(self, index: int) -> Any:
        value = super().__getitem__(index)
        self.watch.read(value - FIRST_SAMPLE, self)
        return sample_of(self.watch.kind, value, self)


class WatchedIterable:
    """An iterable-style probe. It yields everything: splitting it is the loader's claim, or the adapter's work."""

    def __init__(self, length: int, watch: Watch) -> None:
        self.length = length
        self.watch = watch
        self.buffer: Any = None

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.length})"

    def __iter__(self) -> Iterator[Any]:
        for index in range(self.length):
            self.watch.read(index, self)
            yield sample_of(self.watch.kind, FIRST_SAMPLE + index, self)


class NotingCollate:
    """A collate function that gives a plain list, and notes that it was called."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, samples: list[Any]) -> list[Any]:
        """The samples as they are."""
        _append(self.watch.log, {"collated": [int(sample) - FIRST_SAMPLE for sample in samples]})
        return samples


class NotingInitialiser:
    """A worker initialiser that notes in which worker it was called."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, worker: int) -> None:
        """Do nothing else."""
        _append(self.watch.log, {"begun": int(worker), "process": os.getpid()})


class BreakingCollate:
    """A collate function that gives a plain list, and raises at the sample of the fault."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, samples: list[Any]) -> list[Any]:
        """The samples as they are."""
        place = place_of(self.watch.fault)
        if FIRST_SAMPLE + place in samples and self.watch.fires():
            raise broken(self.watch.error, self.watch.fault)
        return samples


class BreakingInitialiser:
    """A worker initialiser that raises in the worker of the fault."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def __call__(self, worker: int) -> None:
        """Raise, or do nothing."""
        if worker == place_of(self.watch.fault) and self.watch.fires():
            raise broken(self.watch.error, self.watch.fault)


def sentence(fault: str) -> str:
    """The text of the exception that a fault raises; it must reach the consumer."""
    name, _, place = fault.partition("@")
    what = {"collate": f"collating sample {place}", "init": f"worker {place}"}.get(name, f"sample {place}")
    return f"{what} is broken on purpose"


class Stubborn(Exception):
    """An exception that no other process can rebuild: it is pickled without what its constructor wants."""

    def __init__(self, *, fault: str) -> None:
        super().__init__(sentence(fault))


class Abandoned(BaseException):
    """An exception of the dataset's own that is no Exception, as of a library that ends a program by it."""


# How each error is made of its text; the others take the text alone.
_MADE: dict[str, Callable[[str], BaseException]] = {
    "": BrokenSample,
    "abandons": Abandoned,
    "disk": lambda text: OSError(errno.ENOSPC, text),
    "unicode": lambda text: UnicodeDecodeError("utf-8", b"\xff", 0, 1, text),
}


def broken(error: str, fault: str) -> BaseException:
    """What a fault raises, by the word of its class."""
    if error == "stubborn":
        return Stubborn(fault=fault)
    make = _MADE.get(error) or getattr(builtins, {**ERRORS, **BASE_ERRORS}[error])
    return cast(BaseException, make(sentence(fault)))


def _raise(index: int, error: str) -> None:
    raise broken(error, f"raise@{index}")


def _end(error: type[Exception], index: int) -> None:
    raise error(sentence(f"raise@{index}"))


_AT_A_READ: dict[str, Callable[[int, str], None]] = {
    "raise": _raise,
    "stop": lambda index, _: _end(StopIteration, index),
    "index": lambda index, _: _end(IndexError, index),
    "again": _raise,
    "kill": lambda index, _: os.kill(os.getpid(), signal.SIGKILL),
    "exit": lambda index, _: os._exit(0),
    "hang": lambda index, _: _hang(),
    "slow": lambda index, _: time.sleep(0.5),
    "long": lambda index, _: time.sleep(6),
}


def _lives(process: int) -> bool:
    return process in children(os.getpid())


def _hang() -> None:
    threading.Event().wait()


def _worker(dataset: Any) -> list[Any] | None:
    data = sys.modules.get("torch.utils.data")
    info = data.get_worker_info() if data is not None else None
    if info is None:
        return None
    own = info.dataset is dataset or reaches(info.dataset, dataset)
    return [info.id, info.num_workers, info.seed, own]


def _draws() -> list[int]:
    draws = [random.randrange(_DRAW)]
    if "numpy" in sys.modules:
        draws.append(int(sys.modules["numpy"].random.randint(_DRAW)))
    if "torch" in sys.modules:
        draws.append(int(sys.modules["torch"].randint(_DRAW, ()).item()))
    return draws


def empty_folder(workdir: str, name: str) -> str:
    """A folder for the files of a watch, without those of an earlier one."""
    folder = os.path.join(workdir, name)
    os.makedirs(folder, exist_ok=True)
    for file in os.listdir(folder):
        os.unlink(os.path.join(folder, file))
    return folder


def _append(path: str, entry: Any) -> None:
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, json.dumps(entry).encode() + b"\n")
    finally:
        os.close(descriptor)


def _parsed(path: str, consumer: int) -> tuple[Read, ...]:
    if not os.path.exists(path):
        return ()
    epoch = None
    entries = []
    with open(path) as lines:
        for line in lines:
            entry = json.loads(line)
            if isinstance(entry, int):
                epoch = entry
            elif isinstance(entry, dict):
                continue  # what the hooks say
            elif epoch is not None:  # what is read before the first epoch is the adapter's own business
                entries.append((epoch, *entry))
    # Process ids change from run to run: processes are numbered by their worker's id, or by what they read first.
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for number, index, process, worker, _ in entries:
        first.setdefault((number, process), (worker[0] if worker else -1, index))
    numbers = _numbered(first, consumer)
    reads = [
        Read(number, index, numbers[number, process], tuple(worker) if worker else None, tuple(draws))
        for number, index, process, worker, draws in entries
    ]
    return tuple(sorted(reads, key=lambda read: (read.epoch, read.process)))


def _numbered(first: dict[tuple[int, int], tuple[int, int]], consumer: int) -> dict[tuple[int, int], int]:
    numbers = {}
    for epoch in {epoch for epoch, _ in first}:
        others = [process for number, process in first if number == epoch and process != consumer]
        others.sort(key=lambda process: first[epoch, process])
        numbers[epoch, consumer] = 0
        numbers.update({(epoch, process): position + 1 for position, process in enumerate(others)})
    return numbers
