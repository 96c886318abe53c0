"""The recorder: decides what a process of a job writes down, and when it reaches the disk.

Nothing in here may break the job: what can't be written (a full disk) is counted, and told once there is room again.
What was flushed is the system's, whatever happens to the process: when an epoch begins or ends, when a block is full,
and at the latest a second after a batch came, whether another one comes or not.
"""

import atexit
import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from conformance.records.blocks import Block, Ids, Unfit, with_key
from conformance.records.crash import Place, ending, passed, told
from conformance.records.frames import CLOSING, DELIVERIES, MADE, SUFFIX, fact, frame
from conformance.records.later import Later
from conformance.records.place import about_this_process, token_of_this_start
from conformance.records.texts import Texts, text_of, word_of

# How an epoch ended: read to its end, left by the loop, cut by --steps, or "error: ..." with what the loader raised. An
# epoch that was left by what ended the process is told later, by a fact of its own.
How = Literal["whole", "left", "steps"] | str
# A block is written when it holds this many samples (256 kB of uint32).
_FULL = 65_536

Facts = Mapping[str, Any]
_recorders: dict[str, "Recorder"] = {}


def open_record(folder: str | os.PathLike[str]) -> "Recorder":
    """The recorder of this process for a folder, which is made if need be; the same one at each call.

    A process that is forked from this one has its own file, which begins with its first word.
    """
    key = os.path.abspath(folder)
    if key not in _recorders:
        _recorders[key] = Recorder(Path(key))
    return _recorders[key]


def _about_to_fork() -> None:
    for recorder in _recorders.values():
        recorder.pause()


def _forked() -> None:
    for recorder in _recorders.values():
        recorder.begin_again()


os.register_at_fork(before=_about_to_fork, after_in_child=_forked)


class Recorder:
    """One process's file in a record. Use `open_record`. No method raises an OSError."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._loaders: list[dict[str, Any]] = []
        self._file: int | None = None
        self._leaves = 0  # the process that closes this when it leaves
        self.begin_again()

    def begin_again(self) -> None:
        """Begin another file, and forget what is not written: it belongs to the process that was forked."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._lock = threading.RLock()
        self._file = None
        self.token = token_of_this_start()
        self._said: set[int] = set()
        self._unnamed: set[str] = set()
        self._epochs = [0] * len(self._loaders)
        self._open: set[tuple[int, int]] = set()
        self._left: deque[tuple[int, int, Place]] = deque(maxlen=8)
        self._ready: list[bytes] = []
        self._blocks: dict[tuple[int, int], Block] = {}
        self._made: dict[tuple[str, int], Block] = {}
        self._texts, self._new_texts = Texts(), dict[str, str]()
        self._size = self._frames = self._lost = 0
        self._trouble = ""
        self._later = Later(self.flush)

    def hello(self, facts: Facts) -> None:
        """Facts of the process: argv, rank, world_size, ... May be said again: what is known later counts."""
        with self._lock:
            self._say({"what": "hello", **facts})
            self.flush()

    def loader(self, facts: Facts) -> int:
        """A loader of this process: the number by which the other methods know it."""
        with self._lock:
            number = len(self._loaders)
            self._loaders.append(dict(facts))
            self._epochs.append(0)
            self._introduce(number)
            return number

    def epoch(self, loader: int, facts: Facts) -> int:
        """An epoch of a loader begins: its number, from 0, in this process."""
        with self._lock:
            self._introduce(loader)
            number = self._epochs[loader]
            self._epochs[loader] = number + 1
            self._open.add((loader, number))
            self._say({"what": "epoch", "loader": loader, "epoch": number, "time": time.time(), **facts})
            self.flush()
            self._later.soon()
            return number

    def iterator(self, loader: int, epoch: int) -> str:
        """The key under which workers write what they make for an epoch of a loader of this process."""
        return f"{self.token}/{loader}/{epoch}"

    def batch(self, loader: int, epoch: int, ids: Ids | None, worker: int | None = None) -> None:
        """A batch was delivered to the loop: the samples' indices, or digests of 16 bytes.

        `ids` is None where the worker writes them (`made`): the k-th batch of a worker that comes is the k-th it made.
        """
        with self._lock:
            block = self._blocks.get((loader, epoch))
            if block is None:
                block = self._blocks[loader, epoch] = Block(loader, epoch)
            self._add(block, ids, worker)

    def made(self, iterator: str, worker: int, ids: Ids) -> None:
        """In a worker: the ids of the next batch that it made for an iterator, whether it will be delivered or not."""
        with self._lock:
            block = self._made.get((iterator, worker))
            if block is None:
                block = self._made[iterator, worker] = Block(worker, 0)
            self._add(block, ids, None)

    def text(self, digest: bytes, value: Any) -> None:
        """What an id was made of, so that a person can read it; kept if it is short, and of so many samples only."""
        word = word_of(digest)
        if not self._texts.wants(word):
            return
        text = text_of(value)
        with self._lock:
            if text is not None and self._texts.add(word, text):
                self._new_texts[word] = text

    def worker(self, iterator: str, worker: int, facts: Facts) -> None:
        """In a worker, or of one: facts at the start of an epoch, such as the fingerprints of its random states."""
        with self._lock:
            self._say({"what": "worker", "iterator": iterator, "worker": worker, **facts})
            self.flush()

    def end_of_epoch(self, loader: int, epoch: int, how: How, place: Place | None = None) -> None:
        """An epoch is over, if it isn't already: "whole", "left" (`place`: by which line), ...; it goes to the disk."""
        with self._lock:
            if (loader, epoch) not in self._open:
                return
            self._open.discard((loader, epoch))
            if place is not None and how == "left":
                self._left.append((loader, epoch, place))
            block = self._blocks.pop((loader, epoch), None)
            steps = 0
            if block is not None:
                steps = block.step + block.batches
                self._seal(block)
            self._say({"what": "end", "loader": loader, "epoch": epoch, "how": how, "steps": steps})
            self.flush()

    def unnamed(self, why: str) -> None:
        """Who the samples of a batch are can't be told. It is written once, behind all batches that came before it."""
        with self._lock:
            if why not in self._unnamed:
                self._unnamed.add(why)
                self._seal_all()
                self._say({"what": "unnamed", "why": why})
                self.flush()

    def say(self, what: str, facts: Facts) -> None:
        """Any other fact; a reader that does not know `what` passes over it."""
        with self._lock:
            self._say({"what": what, **facts})

    def flush(self) -> None:
        """Give what there is to the system: a process that is killed after this has not lost it."""
        with self._lock:
            self._seal_all()
            self._write()

    def pause(self) -> None:
        """Flush, and leave no thread that waits to do so, until the next batch comes."""
        self._later.stop()
        self.flush()

    def close(self) -> None:
        """A clean end: end what is open, and write the closing frame. What is said later begins another file."""
        self._later.stop()
        error = ending()
        with self._lock:
            crashed = [(loader, epoch) for loader, epoch, place in self._left if error and passed(error, place)]
            for loader, epoch in sorted(self._open):
                crashed += [(loader, epoch)] if error else []
                self.end_of_epoch(loader, epoch, "left")
            for loader, epoch in crashed:
                why = {"why": told(error) if error else "", "time": time.time()}
                self._say({"what": "crash", "loader": loader, "epoch": epoch, **why})
            self._seal_all()
            if self._file is not None or self._ready:
                self._write(closing=True)
            self.begin_again()

    def _introduce(self, loader: int) -> None:
        # A forked process may read a loader that its parent made and told.
        if loader not in self._said:
            self._said.add(loader)
            self._say({"what": "loader", "loader": loader, **self._loaders[loader]})

    def _add(self, block: Block, ids: Ids | None, worker: int | None) -> None:
        block.add(ids, worker)
        if block.rows >= _FULL or block.batches >= _FULL:
            self.flush()
        else:
            self._later.ask()

    def _say(self, told: dict[str, Any]) -> None:
        self._ready.append(fact(told))

    def _seal_all(self) -> None:
        # An iterator that is collected meanwhile ends its epoch.
        if self._new_texts:
            told, self._new_texts = self._new_texts, {}
            self._say({"what": "texts", "texts": told})
        for block in list(self._blocks.values()):
            self._seal(block)
        for (key, _), block in list(self._made.items()):
            self._seal(block, key)

    def _seal(self, block: Block, key: str = "") -> None:
        if not block.batches:
            return
        about = {"loader": block.loader, "epoch": block.epoch, "step": block.step, "batches": block.batches}
        try:
            payload = block.take()
        except Unfit as error:
            self._say({"what": "unread", "why": str(error), **about, "iterator": key})
            return
        self._ready.append(frame(MADE, with_key(key, payload)) if key else frame(DELIVERIES, payload))

    def _write(self, closing: bool = False) -> None:
        pending, self._ready = self._ready, []
        number = len(pending)
        if not (pending or closing):
            return
        try:
            if self._file is None:
                self._file = self._made_file()
            if not self._size:
                pending[:0] = [fact({"what": "process", "token": self.token, **about_this_process()})]
            if self._lost:
                pending.append(fact({"what": "lost", "why": self._trouble, "frames": self._lost}))
            if closing:
                pending.append(fact({"frames": self._frames + len(pending), "time": time.time()}, CLOSING))
            data = b"".join(pending)
            _write_all(self._file, data)
        except OSError as error:
            self._lost += number
            self._trouble = error.strerror or str(error)
            self._said.clear()
            self._cut_back()
            return
        self._size += len(data)
        self._frames += len(pending)
        self._lost = 0

    def _made_file(self) -> int:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._close_at_exit()
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        return os.open(self.folder / f"{self.token}{SUFFIX}", flags, 0o644)

    def _close_at_exit(self) -> None:
        if self._leaves == os.getpid():
            return
        self._leaves = os.getpid()
        atexit.register(self.close)
        # Children of multiprocessing that are forked leave without atexit, and run finalizers of their own.
        util: Any = sys.modules.get("multiprocessing.util")
        if util is not None:
            util.Finalize(None, self.close, exitpriority=10)

    def _cut_back(self) -> None:
        """Half a frame is on the disk, perhaps: what follows it could not be read."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._file, self._size)


def _write_all(file: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
