"""From files to a summary: decides how what many processes wrote at the same time is brought together.

Files are read side by side, always on where the fewest epochs are done, so that the counts of few epochs are in use at
a time; the others are packed.
"""

import heapq
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conformance.audit.delivered import Open
from conformance.audit.facts import OF_AN_EPOCH
from conformance.audit.files import Cursor, Made, Skimmed, joined, place, skim
from conformance.audit.partial import ordered
from conformance.audit.summary import (
    Epoch,
    Group,
    GroupKey,
    Process,
    RankSeen,
    Summary,
    WorkerSeen,
)
from conformance.records.frames import End
from conformance.records.reader import Deliveries, files
from conformance.records.texts import thinned

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
    summary = Summary(texts=thinned(file.texts for file in skimmed))
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


# The facts that are read here, each by a method of its name; others are passed over, but those of OF_AN_EPOCH.
_TOLD = ("loader", "epoch", "end", "unread", "skipped", "crash", "failed", "lost", "same_data", "limit")


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
        self._open: dict[tuple[int, int], Open] = {}
        self._left: dict[tuple[int, int], RankSeen] = {}
        self._ended: dict[tuple[int, int], Open] = {}  # the latest one

    def read_on(self) -> bool:
        """Take in some more of the file; whether there is more."""
        for item in self.cursor.read_on():
            if isinstance(item, Deliveries):
                self._deliveries(item)
            elif item.get("what") in _TOLD:
                getattr(self, f"_{item['what']}")(item)
            elif item.get("what") in OF_AN_EPOCH:
                self._told_of_an_epoch(item)
        return self.cursor.end is None

    def _loader(self, fact: dict[str, Any]) -> None:
        number = int(fact.get("loader", 0))
        key = self._key(fact)
        line = self._groups[key]
        self._loaders[number] = (key, fact)
        group = self._summary.groups.setdefault(key, Group())
        # Of a loader that a library makes out of the user's, what it was made to.
        if self._file.rank not in group.loaders or (not line.epochs and "rebuilt_from" in fact):
            group.loaders[self._file.rank] = {**_plain(fact), "overlap": self._shared(key, fact)}
        elif any(group.loaders[self._file.rank].get(name) != fact.get(name) for name in _WHICH):
            group.loaders[self._file.rank]["other_dataset"] = True
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

    def _shared(self, key: GroupKey, fact: dict[str, Any]) -> list[list[Any]]:
        """What its subset shares with other loaders': which loader, how many samples, whether all, and some of them."""
        shared = {}
        for one in fact.get("overlap") or ():
            other = self._loaders.get(one.get("loader"), (key,))[0]
            # A library makes another loader of the user's, and both are one.
            if other != key:
                shared[other] = [*other, one.get("shared"), one.get("same"), one.get("some")]
        return list(shared.values())

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
        seen = epoch.ranks.setdefault(self._file.rank, RankSeen(_plain(fact), nth=self.epochs))
        first = self._summary.groups[key].loaders[self._file.rank]
        other = {name: loader.get(name) for name in _MADE_WITH if loader.get(name) != first.get(name)}
        if other:
            seen.facts["made_with"] = other
        iterator = str(fact.get("iterator") or f"{self._file.token}/{number}/{fact.get('epoch')}")
        group = self._summary.groups[key]
        opened = Open(group, epoch, epoch_key, self._file.rank, seen, iterator, _length(loader, loader.get("length")))
        self._open[_which(fact)] = opened
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
            ids, sizes, lacking = joined(block, self._made, opened.iterator)
            opened.seen.unread += lacking
            opened.add(ids, sizes, block.workers)
        else:
            opened.add(block.ids, block.sizes, block.workers)

    def _opened(self, fact: dict[str, Any]) -> Open | None:
        return self._open.get(_which(fact))

    def _told_of_an_epoch(self, fact: dict[str, Any]) -> None:
        # What is made of its batches may be told when it has ended.
        told_of = self._opened(fact) or self._ended.get(_which(fact))
        if told_of is not None:
            OF_AN_EPOCH[fact["what"]](told_of, fact)

    def _end(self, fact: dict[str, Any]) -> None:
        at = _which(fact)
        opened = self._open.pop(at, None)
        if opened is None:
            return
        opened.seen.how = str(fact.get("how", ""))
        self._ended = {at: opened}
        if opened.seen.how == "left":
            self._left[at] = opened.seen
        if opened.seen.how == "left" and not opened.seen.steps and opened.seen.facts.get("restored"):
            # An iterator that was made to find that its state is that of an epoch's end: torchdata makes another one.
            opened.forget()
            self._groups[self._loaders[at[0]][0]].epochs -= 1

    def _crash(self, fact: dict[str, Any]) -> None:
        seen = self._left.get(_which(fact))
        if seen is not None:
            seen.how = f"crash: {fact.get('why', '')}"
            seen.facts["crashed"] = fact.get("time", 0)

    def _unread(self, fact: dict[str, Any]) -> None:
        opened = self._opened(fact)
        if opened is not None:
            opened.seen.unread += int(fact.get("batches", 0))
            opened.seen.why_unread = str(fact.get("why", ""))

    def _skipped(self, fact: dict[str, Any]) -> None:
        opened = self._opened(fact)
        if opened is not None:
            self._made.take(opened.iterator, int(fact.get("worker") or 0), 1)

    def _failed(self, fact: dict[str, Any]) -> None:
        self.lost.append(f"{fact.get('where')}: {fact.get('why')}")

    def _lost(self, fact: dict[str, Any]) -> None:
        self.lost.append(str(fact.get("why", "")))
        for opened in self._open.values():
            opened.seen.unread += 1
            opened.seen.why_unread = str(fact.get("why", ""))

    def _same_data(self, fact: dict[str, Any]) -> None:
        for group in fact.get("groups", []):
            if group not in self._summary.same_data:
                self._summary.same_data.append(group)
        self._summary.same_data.sort()

    def _limit(self, fact: dict[str, Any]) -> None:
        told = {name: fact[name] for name in sorted(fact) if name != "what"}
        if told not in self._summary.limits:
            self._summary.limits.append(told)


def _which(fact: dict[str, Any]) -> tuple[int, int]:
    """The loader and the epoch of a fact."""
    return int(fact.get("loader", 0)), int(fact.get("epoch", 0))


def _plain(fact: dict[str, Any]) -> dict[str, Any]:
    """What a fact says of its subject."""
    aside = ("what", "loader", "epoch", "time", "dataset_id", "overlap")
    return {name: fact[name] for name in sorted(fact) if name not in aside and fact[name] is not None}


def _worker_told(seen: WorkerSeen, fact: dict[str, Any]) -> None:
    seen.random = seen.random or dict(fact.get("random") or {})
    if isinstance(fact.get("dataset_state"), dict):
        seen.dataset_state = fact["dataset_state"]
    if isinstance(fact.get("drew"), list):
        seen.drew = sorted({*(seen.drew or []), *fact["drew"]})


def _length(loader: dict[str, Any], length: Any) -> int:
    """How far indices go, if they are known: those of a map-style dataset."""
    return length if isinstance(length, int) and loader.get("ids", "index") == "index" else 0


# What a loader may be made with otherwise when it is made again, as in a restart with another number of ranks.
_MADE_WITH = ("batch_size", "drop_last", "sampler_length", "replicas")
_WHICH = ("dataset_print", "length")
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
