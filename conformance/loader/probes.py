"""Probe datasets that watch and break: decides what a read leaves in the log, and how a drawn fault happens.

A fault happens once, in whichever process comes to it first; what is read after that is sound.
"""

import json
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from conformance.loader.datasets import FIRST_SAMPLE, MapDataset
from conformance.loader.errors import broken, sentence
from conformance.loader.interrupts import first, interrupt, said, within
from conformance.loader.log import append, parsed
from conformance.loader.reach import reaches
from conformance.loader.samples import sample_of
from conformance.processes.descendants import children
from conformance.trace import Read
from conformance.trial.words import place_of

# Seconds in which a worker ends that is about to, and in which one that was killed is gone.
_UNTIL_ENDED, _UNTIL_GONE = 0.2, 2.0
_DRAW = 2**53  # large enough that two streams of draws don't meet by chance


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
        append(self.log, [index, os.getpid(), _worker(dataset), _draws() if self.draws else []])
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
        append(self.log, number)

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
        append(self.log, entry)

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
        return parsed(self.log, self.consumer)


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
