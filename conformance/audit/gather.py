"""From files to a summary: decides how what many processes wrote at the same time is brought together.

Files are read side by side, always on where the fewest epochs are done, so that the counts of few epochs are in use at
a time; the others are packed.
"""

import heapq
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.audit.counts import DENSE
from conformance.audit.files import Cursor, Made, Skimmed, place, skim
from conformance.audit.partial import ordered
from conformance.audit.summary import (
    HEAD_SAMPLES,
    HEAD_STEPS,
    Epoch,
    EpochKey,
    Group,
    GroupKey,
    Order,
    Process,
    RankSeen,
    Summary,
    WorkerSeen,
    mixed,
)
from conformance.records.frames import End
from conformance.records.reader import Deliveries, files

Progress = Callable[[int, int], None]
# Bytes of counts that are kept as they are; beyond it those of other epochs are packed.
_ROOM = 256 << 20


def gather(folder: Path, progress: Progress = lambda done, all_of_it: None) -> Summary:
    """The summary of the record in a folder. FileNotFoundError if there is no folder."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder} is no folder; a record is one, left by `loaderspec watch` or `record()`")
    skimmed = [skim(path) for path in files(folder)]
    place(skimmed)
    return gathered(skimmed, progress)


def gathered(skimmed: list[Skimmed], progress: Progress = lambda done, all_of_it: None) -> Summary:
    """The summary of some files of a record, all those of each rank that is among them."""
    summary = Summary()
    made, told = Made(skimmed), _by_iterator(skimmed)
    readers = [_Reader(file, summary, made, told) for file in skimmed if file.loaders]
    all_of_it = sum(file.size for file in skimmed if file.loaders)
    waiting = [(0, 0, at) for at in range(len(readers))]
    done = 0
    while waiting:
        _, _, at = heapq.heappop(waiting)
        before = readers[at].cursor.done
        if readers[at].read_on():
            heapq.heappush(waiting, (readers[at].epochs, readers[at].cursor.done, at))
        done += readers[at].cursor.done - before
        progress(done, all_of_it)
        _make_room(summary, readers[at].touched)
    read = {reader.cursor.file.path: reader for reader in readers}
    for file in skimmed:
        reader = read.get(file.path)
        end = file.end if reader is None or reader.cursor.end is None else reader.cursor.end
        summary.processes.append(_process(file, end, reader.lost if reader else []))
    return ordered(summary)


def _by_iterator(skimmed: list[Skimmed]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for file in skimmed:
        for fact in file.workers:
            found.setdefault(str(fact.get("iterator")), []).append(fact)
    return found


def _process(file: Skimmed, end: End, lost: list[str]) -> Process:
    facts = {name: value for name, value in sorted(file.hello.items()) if name not in ("token", "time")}
    facts["start"], facts["last"], facts["loaders"] = file.start, file.last, file.loaders
    return Process(
        file.token, file.rank, file.attempt, facts, end.state, end.why, lost, bool(file.epochs), file.unnamed
    )


def _make_room(summary: Summary, touched: set[int]) -> None:
    epochs = [epoch for group in summary.groups.values() for epoch in group.epochs.values()]
    if sum(epoch.counts.room for epoch in epochs) > _ROOM:
        for epoch in epochs:
            if id(epoch) not in touched:
                epoch.counts.pack()
    touched.clear()


# The facts that are read here, each by a method of its name; others are passed over.
_OF_EPOCHS = ("epoch", "end", "unread", "skipped", "drew", "content", "worker_died", "crash")
_TOLD = ("loader", *_OF_EPOCHS, "failed", "lost", "same_data", "limit")


class _Reader:
    """One file on its way into the summary."""

    def __init__(self, file: Skimmed, summary: Summary, made: Made, told: dict[str, list[dict[str, Any]]]) -> None:
        self.cursor = Cursor(file)
        self.epochs = 0
        self.lost: list[str] = []
        self.touched: set[int] = set()
        self._file = file
        self._summary = summary
        self._made = made
        self._told = told
        self._loaders: dict[int, tuple[GroupKey, dict[str, Any]]] = {}
        self._groups: dict[GroupKey, _OneLine] = {}
        self._open: dict[tuple[int, int], _Open] = {}
        self._left: dict[tuple[int, int], RankSeen] = {}

    def read_on(self) -> bool:
        """Take in some more of the file; whether there is more."""
        for item in self.cursor.read_on():
            if isinstance(item, Deliveries):
                self._deliveries(item)
            elif item.get("what") in _TOLD:
                getattr(self, f"_{item['what']}")(item)
        return self.cursor.end is None

    def _loader(self, fact: dict[str, Any]) -> None:
        number = int(fact.get("loader", 0))
        key = self._key(fact)
        line = self._groups[key]
        self._loaders[number] = (key, fact)
        group = self._summary.groups.setdefault(key, Group())
        # Of a loader that a library makes out of the user's, what it was made to.
        if self._file.rank not in group.loaders or (not line.epochs and "rebuilt_from" in fact):
            group.loaders[self._file.rank] = {**_plain(fact), "overlap": self._shared(fact)}
        line.last, line.used = fact, False

    def _key(self, fact: dict[str, Any]) -> GroupKey:
        origin = self._loaders.get(fact.get("rebuilt_from", -1))
        if origin is not None:
            return origin[0]
        at = (str(fact.get("file", "?")), int(fact.get("line") or 0))
        here = [key for key in self._groups if key[:2] == at]
        key = next((key for key in here if self._groups[key].goes_on_as(fact)), None)
        if key is None:
            key = (*at, len(here))
            self._groups[key] = _OneLine()
        return key

    def _shared(self, fact: dict[str, Any]) -> list[list[Any]]:
        """What its subset shares with other loaders': which loader, how many samples, whether all, and some of them."""
        return [
            [*self._loaders[one["loader"]][0], one.get("shared"), one.get("same"), one.get("some")]
            for one in fact.get("overlap") or ()
            if one.get("loader") in self._loaders
        ]

    def _epoch(self, fact: dict[str, Any]) -> None:
        self.epochs += 1
        number = int(fact.get("loader", 0))
        if number not in self._loaders:
            self._loader({"loader": number})
        key, loader = self._loaders[number]
        line = self._groups[key]
        line.used = True
        epoch_key = (self._file.attempt, line.epochs)
        line.epochs += 1
        epoch = self._summary.groups[key].epochs.setdefault(epoch_key, Epoch())
        seen = epoch.ranks.setdefault(self._file.rank, RankSeen(_plain(fact)))
        iterator = str(fact.get("iterator") or f"{self._file.token}/{number}/{fact.get('epoch')}")
        group = self._summary.groups[key]
        opened = _Open(group, epoch, epoch_key, self._file.rank, seen, iterator, _length(loader, loader.get("length")))
        self._open[number, int(fact.get("epoch", 0))] = opened
        for told in self._told.get(iterator, ()):
            _worker_told(seen.workers.setdefault(int(told.get("worker", -1)), WorkerSeen()), told)

    def _deliveries(self, block: Deliveries) -> None:
        at = (block.loader, block.epoch)
        if at not in self._open:
            # The facts that came before it are lost.
            self._epoch({"loader": block.loader, "epoch": block.epoch})
        opened = self._open[at]
        self.touched.add(id(opened.epoch))
        if block.ids is None:
            ids, sizes, lacking = _joined(block, self._made, opened.iterator)
            opened.seen.unread += lacking
            opened.add(ids, sizes, block.workers)
        else:
            opened.add(block.ids, block.sizes, block.workers)

    def _end(self, fact: dict[str, Any]) -> None:
        number = int(fact.get("loader", 0))
        opened = self._open.pop((number, int(fact.get("epoch", 0))), None)
        if opened is None:
            return
        opened.seen.how = str(fact.get("how", ""))
        if opened.seen.how == "left":
            self._left[number, int(fact.get("epoch", 0))] = opened.seen
        if opened.seen.how == "left" and not opened.seen.steps and opened.seen.facts.get("restored"):
            # An iterator that was made to find that its state is that of an epoch's end: torchdata makes another one.
            opened.forget()
            self._groups[self._loaders[number][0]].epochs -= 1

    def _crash(self, fact: dict[str, Any]) -> None:
        seen = self._left.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        if seen is not None:
            seen.how = f"crash: {fact.get('why', '')}"
            seen.facts["crashed"] = fact.get("time", 0)

    def _unread(self, fact: dict[str, Any]) -> None:
        opened = self._open.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        if opened is not None:
            opened.seen.unread += int(fact.get("batches", 0))
            opened.seen.why_unread = str(fact.get("why", ""))

    def _skipped(self, fact: dict[str, Any]) -> None:
        opened = self._open.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        if opened is not None:
            self._made.take(opened.iterator, int(fact.get("worker") or 0), 1)

    def _failed(self, fact: dict[str, Any]) -> None:
        self.lost.append(f"{fact.get('where')}: {fact.get('why')}")

    def _lost(self, fact: dict[str, Any]) -> None:
        self.lost.append(str(fact.get("why", "")))
        for opened in self._open.values():
            opened.seen.unread += 1
            opened.seen.why_unread = str(fact.get("why", ""))

    def _drew(self, fact: dict[str, Any]) -> None:
        opened = self._open.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        if opened is not None:
            opened.seen.facts["drew"] = fact.get("names", [])

    def _content(self, fact: dict[str, Any]) -> None:
        opened = self._open.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        for index, hexadecimal in fact.get("pairs", []) if opened is not None else ():
            assert opened is not None
            known = opened.group.contents.setdefault(int(index), {})
            known[opened.key] = min(str(hexadecimal), known.get(opened.key, str(hexadecimal)))

    def _worker_died(self, fact: dict[str, Any]) -> None:
        opened = self._open.get((int(fact.get("loader", 0)), int(fact.get("epoch", 0))))
        if opened is not None:
            place = {"rank": opened.rank, "attempt": opened.key[0], "epoch": opened.key[1]}
            told = {name: fact.get(name) for name in ("worker", "why")}
            opened.group.died.append({**place, **told, "step": opened.seen.steps})

    def _same_data(self, fact: dict[str, Any]) -> None:
        for group in fact.get("groups", []):
            if group not in self._summary.same_data:
                self._summary.same_data.append(group)
        self._summary.same_data.sort()

    def _limit(self, fact: dict[str, Any]) -> None:
        told = {name: fact[name] for name in sorted(fact) if name != "what"}
        if told not in self._summary.limits:
            self._summary.limits.append(told)


def _plain(fact: dict[str, Any]) -> dict[str, Any]:
    """What a fact says of its subject."""
    aside = ("what", "loader", "epoch", "time", "dataset_id", "overlap")
    return {name: fact[name] for name in sorted(fact) if name not in aside and fact[name] is not None}


def _worker_told(seen: WorkerSeen, fact: dict[str, Any]) -> None:
    seen.random = seen.random or dict(fact.get("random") or {})
    if isinstance(fact.get("drew"), list):
        seen.drew = sorted({*(seen.drew or []), *fact["drew"]})


def _length(loader: dict[str, Any], length: Any) -> int:
    """How far indices go, if they are known: those of a map-style dataset."""
    return length if isinstance(length, int) and loader.get("ids", "index") == "index" else 0


_LOOKS = ("class", "dataset_class", "length", "subset_print", "kind", "sampler")


class _OneLine:
    """The loaders of one process that are one loader made again, and how many epochs they had."""

    def __init__(self) -> None:
        self.last: dict[str, Any] = {}
        self.used = False
        self.epochs = 0

    def goes_on_as(self, fact: dict[str, Any]) -> bool:
        """Whether a loader that is made now is this one made again: it is alike, and the earlier one had its epoch."""
        alike = all(self.last.get(name) == fact.get(name) for name in _LOOKS)
        return alike and (self.used or (self.last.get("loader") == fact.get("loader")))


class _Open:
    """One epoch of one loader in one rank, while it is read."""

    def __init__(
        self, group: Group, epoch: Epoch, key: EpochKey, rank: int, seen: RankSeen, iterator: str, length: int
    ) -> None:
        self.group, self.epoch, self.key, self.rank, self.seen = group, epoch, key, rank, seen
        self.iterator = iterator
        self._length = length
        self._order = Order(seen, narrow=0 < length <= 1 << 32)

    def forget(self) -> None:
        """It was no epoch."""
        del self.epoch.ranks[self.rank]
        if not self.epoch.ranks:
            del self.group.epochs[self.key]

    def add(self, ids: npt.NDArray[Any], sizes: npt.NDArray[Any], workers: npt.NDArray[np.int16]) -> None:
        """Batches that came, in their order."""
        if not len(sizes):
            return
        seen = self.seen
        ends = np.cumsum(sizes, dtype=np.int64)
        self._order.add(ids, ends)
        spread = ids[:, 0] if ids.ndim == 2 else mixed(ids)
        self._count(ids)
        self._note_witnesses(ids, spread, ends, sizes, workers)
        self._note_head(ids, ends)
        for size, number in zip(*(each.tolist() for each in np.unique(sizes, return_counts=True)), strict=True):
            seen.sizes[size] = seen.sizes.get(size, 0) + number
        seen.last_size = int(sizes[-1])
        self._note_workers(spread, ends, sizes, workers)
        seen.steps += len(sizes)
        seen.rows += len(ids)

    def _count(self, ids: npt.NDArray[Any]) -> None:
        if ids.ndim == 2:
            self.epoch.digests.add(ids)
            return
        if not len(ids):
            return
        limit = max(self._length, DENSE)
        low, high = int(ids.min()), int(ids.max())
        if low >= 0 and high < limit:
            self.epoch.counts.add(ids, max(self._length, high + 1))
            return
        words = np.zeros((len(ids), 2), np.uint64)
        words[:, 0] = mixed(ids)
        words[:, 1] = ids.astype(np.int64).view(np.uint64)
        self.epoch.digests.add(words)

    def _note_witnesses(
        self,
        ids: npt.NDArray[Any],
        spread: npt.NDArray[np.uint64],
        ends: npt.NDArray[np.int64],
        sizes: npt.NDArray[Any],
        workers: npt.NDArray[np.int16],
    ) -> None:
        kept = self.group.witnesses.below(spread)
        if not len(kept):
            return
        step = np.searchsorted(ends, kept, side="right")
        rows = np.empty((len(kept), 6), np.int64)
        rows[:, 0] = ids[kept, 0].view(np.int64) if ids.ndim == 2 else ids[kept]
        rows[:, 1:4] = (*self.key, self.rank)
        rows[:, 4] = workers[step]
        rows[:, 5] = step + self.seen.steps
        self.group.witnesses.add(spread[kept], rows)

    def _note_head(self, ids: npt.NDArray[Any], ends: npt.NDArray[np.int64]) -> None:
        starts = np.concatenate([[0], ends[:-1]])
        for step in range(min(HEAD_STEPS - len(self.seen.head), len(ends))):
            some = ids[starts[step] : ends[step]][:HEAD_SAMPLES]
            self.seen.head.append([_hexadecimal(row) for row in some] if ids.ndim == 2 else some.tolist())

    def _note_workers(
        self,
        spread: npt.NDArray[np.uint64],
        ends: npt.NDArray[np.int64],
        sizes: npt.NDArray[Any],
        workers: npt.NDArray[np.int16],
    ) -> None:
        # The sum up to each step; what wraps cancels out.
        up_to = np.concatenate([np.zeros(1, np.uint64), np.cumsum(spread, dtype=np.uint64)])
        each = np.diff(up_to[np.concatenate([[0], ends])])
        self.seen.mixed = (self.seen.mixed + int(up_to[-1])) % (1 << 64)
        for worker in np.unique(workers).tolist():
            mine = workers == worker
            seen = self.seen.workers.setdefault(worker, WorkerSeen())
            seen.batches += int(mine.sum())
            seen.rows += int(sizes[mine].sum())
            seen.mixed = (seen.mixed + int(each[mine].sum(dtype=np.uint64))) % (1 << 64)


def _hexadecimal(words: npt.NDArray[np.uint64]) -> str:
    return words.astype("<u8").tobytes().hex()[:8]


def _joined(block: Deliveries, made: Made, iterator: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any], int]:
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
