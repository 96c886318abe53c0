"""What is kept of a record: decides what a judge can know. Small, and mergeable in any grouping of ranks.

Of every delivery its epoch's counts keep that it came, its rank's order keeps a hash, and the witnesses keep who got
it, for as many samples as fit. Everything in here is a function of what was delivered, and not of the order in which
files were read.
"""

import hashlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.audit.counts import Counts
from conformance.audit.digests import Digests
from conformance.records.frames import State

# A loader over all ranks: the file and the line where it was made, and the how manieth of those it is.
GroupKey = tuple[str, int, int]
# The how manieth start of its rank, and the how manieth epoch of the loader in that.
EpochKey = tuple[int, int]
HEAD_STEPS, HEAD_SAMPLES = 4, 8
_MOST_WITNESSES = 1 << 17
WITNESS = 7  # numbers of a row of `Witnesses`
FULL_RANGE = 64


@dataclass
class Process:
    """One file of a record: who wrote it, and how it ends."""

    token: str
    rank: int  # -1 and below: the job did not say; numbered by lanes that overlap in time
    attempt: int
    facts: dict[str, Any]
    state: State
    why: str = ""
    lost: list[str] = field(default_factory=list)
    has_epochs: bool = False
    unnamed: list[str] = field(default_factory=list)  # why it could not tell who samples are
    ended: str = ""  # how it is known that it writes no more, as words


@dataclass
class WorkerSeen:
    """What one worker of one rank gave in one epoch. `mixed` is a sum over its samples that no order changes."""

    batches: int = 0
    rows: int = 0
    mixed: int = 0
    random: dict[str, str] = field(default_factory=dict)
    drew: list[str] | None = None
    dataset_state: dict[str, Any] | None = None  # what set_epoch sets, as its copy of the dataset has it


@dataclass
class RankSeen:
    """One epoch of one loader in one rank. `prefixes` has a hash of all up to a step, for 1, 2, 4, 8, ... and the last.

    `how` is empty where the file ends before the epoch does. `sizes` counts the batches of each size. `nth` counts the
    epochs of all loaders as this process began them.
    """

    facts: dict[str, Any] = field(default_factory=dict)
    nth: int = 0
    how: str = ""
    steps: int = 0
    rows: int = 0
    unread: int = 0
    why_unread: str = ""
    sizes: dict[int, int] = field(default_factory=dict)
    last_size: int = 0
    mixed: int = 0
    prefixes: dict[int, str] = field(default_factory=dict)
    head: list[list[int | str]] = field(default_factory=list)  # of a digest its first 8 bytes in hexadecimal
    workers: dict[int, WorkerSeen] = field(default_factory=dict)

    @property
    def whole(self) -> bool:
        """Whether the loop read the epoch to its end, and all of it is known."""
        return self.how == "whole" and not self.unread

    @property
    def only_looked_at(self) -> bool:
        """Whether the loop left it after its first step, as one does that looks at a batch before the training."""
        return self.how == "left" and self.steps == 1


@dataclass
class Epoch:
    """One epoch of one loader over all ranks."""

    ranks: dict[int, RankSeen] = field(default_factory=dict)
    counts: Counts = field(default_factory=Counts)
    digests: Digests = field(default_factory=Digests)

    @property
    def whole(self) -> bool:
        """Whether every rank that began it read it to its end."""
        return all(seen.whole for seen in self.ranks.values())

    @property
    def evaluation(self) -> bool:
        """Whether it was read with gradients off, or the models in eval mode."""
        return all(bool(seen.facts.get("no_grad") or seen.facts.get("eval")) for seen in self.ranks.values())

    def histogram(self) -> dict[int, int]:
        """How many samples came how often."""
        found = self.counts.histogram() if self.counts.total else {}
        for times, number in self.digests.histogram().items():
            found[times] = found.get(times, 0) + number
        return found


@dataclass
class Group:
    """One loader over all ranks and epochs."""

    loaders: dict[int, dict[str, Any]] = field(default_factory=dict)  # by rank
    epochs: dict[EpochKey, Epoch] = field(default_factory=dict)
    contents: dict[int, dict[EpochKey, str]] = field(default_factory=dict)
    died: list[dict[str, Any]] = field(default_factory=list)
    witnesses: "Witnesses" = field(default_factory=lambda: Witnesses())


@dataclass
class Summary:
    """A record, or the part of it that some ranks wrote."""

    processes: list[Process] = field(default_factory=list)
    groups: dict[GroupKey, Group] = field(default_factory=dict)
    same_data: list[list[int]] = field(default_factory=list)
    limits: list[dict[str, Any]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)  # what a digest was made of, by its first 8 bytes


class Order:
    """The order of a rank's epoch while it is read: a hash over the ids, told at some steps.

    `narrow`: all ids are below 2^32, however the blocks are that they come in.
    """

    def __init__(self, seen: RankSeen, narrow: bool = False) -> None:
        self._seen = seen
        self._kind = "<u4" if narrow else "<i8"
        self._hash = hashlib.sha1(usedforsecurity=False)
        self._last = 0

    def add(self, ids: npt.NDArray[Any], ends: npt.NDArray[np.int64]) -> None:
        """A block of ids, and where each of its steps ends in it. The seen's `steps` are those before the block."""
        # Of a digest half is enough to tell orders apart.
        plain = np.ascontiguousarray(ids[:, 0] if ids.ndim == 2 else ids.astype(self._kind, copy=False))
        before, after = self._seen.steps, self._seen.steps + len(ends)
        done = 0
        step = 1 << before.bit_length()
        while step <= after:
            end = int(ends[step - before - 1])
            self._hash.update(plain[done:end].data)
            self._seen.prefixes[step] = self._told()
            done = end
            step *= 2
        self._hash.update(plain[done:].data)
        # The last step of all blocks so far, until there are more.
        if self._last & (self._last - 1):
            del self._seen.prefixes[self._last]
        self._last = after
        self._seen.prefixes[after] = self._told()

    def _told(self) -> str:
        return self._hash.hexdigest()[:24]


class Witnesses:
    """Which rank got which sample, for a part of the samples: those of the lowest mixed ids, all if they are few.

    Rows are (id, attempt, epoch, rank, worker, step, place); a digest is stood for by its first word. `place`: how many
    samples its reader (the worker, or the process that loads by itself) gave before it in the epoch.
    """

    def __init__(self) -> None:
        self.bits = FULL_RANGE  # mixed ids below 2^bits are kept
        self._rows: list[npt.NDArray[np.int64]] = []
        self._mixed: list[npt.NDArray[np.uint64]] = []
        self._kept = 0
        self._by_epoch: dict[EpochKey, npt.NDArray[np.int64]] | None = None

    def add(self, mixed: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64]) -> None:
        """Deliveries, and the mixed ids by which they are kept or not."""
        self._rows.append(rows)
        self._mixed.append(mixed)
        self._kept += len(rows)
        self._by_epoch = None
        if self._kept > _MOST_WITNESSES:
            self._thin()

    @property
    def keeps_all(self) -> bool:
        """Whether it has all deliveries."""
        return self.bits == FULL_RANGE

    def below(self, mixed: npt.NDArray[np.uint64]) -> npt.NDArray[np.intp]:
        """Which of a block's deliveries are to be kept."""
        if self.bits == FULL_RANGE:
            return np.arange(len(mixed))
        return np.flatnonzero(mixed < np.uint64(1 << self.bits))

    def merge(self, other: "Witnesses") -> None:
        """Take in what another one kept."""
        self.bits = min(self.bits, other.bits)
        for mixed, rows in zip(other._mixed, other._rows, strict=True):
            self.add(mixed, rows)
        self._thin()

    def rows(self) -> npt.NDArray[np.int64]:
        """All rows, in an order that depends on nothing but them."""
        self._thin()
        rows = self._rows[0]
        return rows[np.lexsort(rows.T[::-1])]

    def of_epoch(self, key: EpochKey) -> npt.NDArray[np.int64]:
        """The rows of one epoch, in the order of `rows`."""
        if self._by_epoch is None:
            rows = self.rows()
            rows = rows[np.lexsort((rows[:, 2], rows[:, 1]))]
            new = np.flatnonzero((rows[1:, 1:3] != rows[:-1, 1:3]).any(axis=1)) + 1
            parts = np.split(rows, new) if len(rows) else []
            self._by_epoch = {(int(part[0, 1]), int(part[0, 2])): part for part in parts}
        return self._by_epoch.get(key, np.zeros((0, WITNESS), np.int64))

    def of(self, key: EpochKey, index: int) -> list[tuple[int, ...]]:
        """Where one sample went in an epoch: (rank, worker, step) of each delivery, as far as it is kept."""
        rows = self.of_epoch(key)
        return [tuple(row[3:6]) for row in rows[rows[:, 0] == index].tolist()]

    def stored(self) -> dict[str, Any]:
        """The one form of these rows for a partial result."""
        rows = self.rows()
        # As they were delivered, steps and places are packed into next to nothing.
        rows = rows[np.lexsort((rows[:, 0], *rows[:, :0:-1].T))]
        return {"bits": self.bits, "rows": rows.astype("<i8").tobytes()}

    @classmethod
    def restored(cls, stored: dict[str, Any], is_digest: bool) -> "Witnesses":
        """What `stored` gave."""
        made = cls()
        made.bits = stored["bits"]
        rows = np.frombuffer(stored["rows"], "<i8").reshape(-1, WITNESS)
        words = rows[:, 0].view(np.uint64) if rows.size else np.zeros(0, np.uint64)
        made.add(words if is_digest else mixed(rows[:, 0]), rows)
        return made

    def _thin(self) -> None:
        all_mixed = np.concatenate([np.zeros(0, np.uint64), *self._mixed])
        all_rows = np.concatenate([np.zeros((0, WITNESS), np.int64), *self._rows])
        kept = self.below(all_mixed)
        while len(kept) > _MOST_WITNESSES and self.bits > 1:
            self.bits -= 1
            kept = self.below(all_mixed)
        self._mixed, self._rows, self._kept = [all_mixed[kept]], [all_rows[kept]], len(kept)


def mixed(ids: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Numbers that are spread evenly over 64 bits, one for each id."""
    spread = ids.astype(np.int64).view(np.uint64)
    spread *= np.uint64(0x9E3779B97F4A7C15)
    spread ^= spread >> np.uint64(32)
    spread *= np.uint64(0xD6E8FEB86659FD93)
    return spread
