"""The files of a record before they are read: decides which rank and which start of it a file belongs to.

A file is skimmed for its facts; deliveries are read once, later.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.audit.worlds import numbered, world_of
from conformance.records.frames import CLOSING, FACT, MADE, End, Frame, frames
from conformance.records.reader import Deliveries, decoded, key_of, worker_of

# The ids of some batches, and how many each of them has.
Block = tuple[npt.NDArray[Any], npt.NDArray[np.uint32]]
_CHUNK = 1 << 22  # bytes that are read of a file at a time


@dataclass
class Skimmed:
    """A file, the facts of its process, and where it has what for which iterator and worker."""

    path: Path
    token: str
    size: int
    hello: dict[str, Any] = field(default_factory=dict)
    start: float = 0.0
    last: float = 0.0
    end: End = field(default_factory=lambda: End("cut", 0))
    epochs: int = 0
    loaders: int = 0
    made: list[tuple[str, int, int]] = field(default_factory=list)  # key, worker, where in the file
    workers: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # what digests were made of
    unnamed: list[str] = field(default_factory=list)  # why it could not be told who samples are
    iterators: list[str] = field(default_factory=list)  # the keys of its epochs
    rank: int = -1
    attempt: int = 0


def skim(path: Path) -> Skimmed:
    """What there is to know of a file before its deliveries are read."""
    found = Skimmed(path, path.stem, path.stat().st_size)
    with path.open("rb") as file:
        for read in frames(file, skim=True):
            if isinstance(read, End):
                found.end = read
            elif read.kind == FACT:
                _note(found, read.fact())
            elif read.kind == MADE:
                found.made.append((key_of(read), worker_of(read), read.start))
    return found


def _note(found: Skimmed, fact: dict[str, Any]) -> None:
    what = fact.pop("what", "")
    moment = fact.get("time")
    if isinstance(moment, int | float):
        found.start = found.start or float(moment)
        found.last = max(found.last, float(moment))
    if what in ("process", "hello"):
        found.hello.update({name: value for name, value in fact.items() if value is not None})
        found.token = str(found.hello.get("token", found.token))
    elif what == "epoch":
        found.epochs += 1
        default = f"{found.token}/{fact.get('loader')}/{fact.get('epoch')}"
        found.iterators.append(str(fact.get("iterator") or default))
    elif what == "loader":
        found.loaders += 1
    elif what == "worker":
        found.workers.append(fact)
    elif what == "texts":
        found.texts.update(fact.get("texts") or {})
    elif what == "unnamed":
        found.unnamed.append(str(fact.get("why", "")))


def place(files: list[Skimmed]) -> None:
    """Give each file of the job its rank and attempt: the how manieth start of the job it is.

    Processes that did not tell their rank are put into lanes: one that began after another one's last word goes on in
    its lane. Lanes are numbered -1, -2, ...
    """
    lanes: dict[int, list[Skimmed]] = {}
    for file in sorted(
        (file for file in files if file.epochs or file.loaders), key=lambda file: (file.start, file.token)
    ):
        told = file.hello.get("rank")
        if isinstance(told, int):
            rank = told
        else:
            free = (
                lane
                for lane in range(-1, -len(files) - 1, -1)
                if lane not in lanes or lanes[lane][-1].last < file.start
            )
            rank = next(free)
        file.rank, file.attempt = rank, len(lanes.setdefault(rank, []))
        lanes[rank].append(file)
    ranks = {rank: lane for rank, lane in lanes.items() if rank >= 0}
    starts = numbered({rank: [world_of(file.hello) for file in lane] for rank, lane in ranks.items()})
    for rank, lane in ranks.items():
        for file, start in zip(lane, starts[rank], strict=True):
            file.attempt = start


class Cursor:
    """A file that is read on, a few blocks at a time, and is closed in between."""

    def __init__(self, file: Skimmed) -> None:
        self.file = file
        self.end: End | None = None
        self._at = 0
        self._frames = 0

    def read_on(self) -> Iterator[dict[str, Any] | Deliveries]:
        """The next facts and deliveries. At the end, `end` says how it ends."""
        start = self._at
        with self.file.path.open("rb") as file:
            file.seek(start)
            for read in frames(file, before=self._frames):
                if isinstance(read, End):
                    self.end = read
                    return
                self._frames += 1
                self._at = file.tell()
                yield decoded(read)
                # Whether bytes follow the closing frame is known only in one go.
                if self._at - start > _CHUNK and read.kind != CLOSING:
                    return

    @property
    def done(self) -> int:
        """How many bytes were read."""
        return self._at


class Made:
    """What the workers made for the iterators of a record, handed out in the order in which each of them made it."""

    def __init__(self, files: list[Skimmed]) -> None:
        self._places: dict[tuple[str, int], list[tuple[Path, int]]] = {}
        self._rest: dict[tuple[str, int], Block] = {}
        for file in sorted(files, key=lambda file: (file.start, file.token)):
            for key, worker, at in file.made:
                self._places.setdefault((key, worker), []).append((file.path, at))
        for places in self._places.values():
            places.reverse()

    def take(self, key: str, worker: int, batches: int) -> Block:
        """The ids and sizes of a worker's next batches for an iterator; fewer if its file has no more."""
        ids, sizes = [], [np.zeros(0, np.uint32)]
        while batches:
            block = self._rest.pop((key, worker), None) or self._next((key, worker))
            if block is None:
                break
            some = block[1][:batches]
            rows = int(some.sum())
            ids.append(block[0][:rows])
            sizes.append(some)
            batches -= len(some)
            if len(some) < len(block[1]):
                self._rest[key, worker] = (block[0][rows:], block[1][len(some) :])
        return np.concatenate(ids) if ids else np.zeros((0, 2), np.uint64), np.concatenate(sizes)

    def _next(self, key: tuple[str, int]) -> Block | None:
        places = self._places.get(key)
        while places:
            path, at = places.pop()
            with path.open("rb") as file:
                file.seek(at)
                read = next(frames(file))
            block = decoded(read) if isinstance(read, Frame) else None
            if isinstance(block, Deliveries) and block.ids is not None:
                return block.ids, block.sizes
        return None


def joined(block: Deliveries, made: Made, iterator: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
    """The ids and sizes of batches whose workers wrote them, and of how many batches a worker's file lacks them."""
    sizes = np.zeros(len(block.workers), np.int64)
    taken = []
    for worker in np.unique(block.workers).tolist():
        mine = np.flatnonzero(block.workers == worker)
        ids, found = made.take(iterator, worker, len(mine))
        sizes[mine[: len(found)]] = found
        taken.append((mine[: len(found)], ids, found))
    starts = np.cumsum(sizes) - sizes
    like = taken[0][1]
    out = np.zeros((int(sizes.sum()), *like.shape[1:]), like.dtype)
    for mine, ids, found in taken:
        own = np.cumsum(found, dtype=np.int64) - found
        out[np.repeat(starts[mine] - own, found) + np.arange(len(ids))] = ids
    return out, sizes, len(sizes) - sum(len(mine) for mine, _, _ in taken)
