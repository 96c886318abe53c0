"""Partial results: decides how the summary of some ranks' files is stored, and how several of them become one.

A partial result is a file of frames (`records/frames.py`): one fact that holds all that is plain, then the counts, the
digests and the witnesses, each as it has one form only. A rank, with all its starts, is in one partial result.
"""

import io
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from conformance.audit.counts import Counts
from conformance.audit.digests import Digests
from conformance.audit.summary import (
    WITNESS,
    Epoch,
    Group,
    Process,
    RankSeen,
    Summary,
    Witnesses,
    WorkerSeen,
)
from conformance.audit.worlds import fitted
from conformance.records.frames import CLOSING, FACT, End, fact, frame, frames
from conformance.records.texts import thinned

BLOB = b"P"
_VERSION = 3
_MOST = 1 << 28  # bytes of one frame
_WITNESS = WITNESS * 8  # bytes of a row of `Witnesses`


class NoPartial(ValueError):
    """A file is no whole partial result, or two of them can't be joined. The message says which, and what to do."""


def write_partial(summary: Summary, file: Path) -> None:
    """Store a summary. OSError if the file can't be written."""
    with file.open("wb") as out:
        out.writelines(_frames(summary))


def to_bytes(summary: Summary) -> bytes:
    """A summary as `write_partial` stores it."""
    return b"".join(_frames(summary))


def _frames(summary: Summary) -> Iterator[bytes]:
    blobs: list[bytes] = []
    yield fact({"what": "partial", "version": _VERSION, **_plain(summary, blobs)})
    for blob in blobs:
        yield frame(BLOB, blob)
    yield fact({"frames": 1 + len(blobs)}, CLOSING)


def read_partial(file: Path) -> Summary:
    """The summary that was stored. NoPartial if the file is none, or not whole; OSError if it can't be opened."""
    if file.is_dir():
        write = f"`loaderspec audit {file} --partial FILE` writes one"
        raise NoPartial(f"{file} is a folder, not a summary that --partial wrote; {write}")
    with file.open("rb") as stored:
        return _read(stored, str(file))


def from_bytes(data: bytes) -> Summary:
    """The summary that `to_bytes` stored."""
    return _read(io.BytesIO(data), "this")


def _read(stored: BinaryIO, name: str) -> Summary:
    plain: dict[str, Any] = {}
    blobs: list[bytes] = []
    for read in frames(stored):
        if isinstance(read, End):
            if read.state != "clean end":
                raise NoPartial(f"{name} is no whole partial result ({read.state}: {read.why}); write it again")
        elif read.kind == FACT:
            plain = read.fact()
        elif read.kind == BLOB:
            blobs.append(read.payload)
    if plain.get("what") == "partial" and plain.get("version") != _VERSION:
        raise NoPartial(f"{name} was written by another version of loaderspec; write it again")
    if plain.get("what") != "partial":
        raise NoPartial(f"{name} is no partial result; `loaderspec audit FOLDER --partial FILE` writes one")
    return _summary(plain, iter(blobs))


def merged(summaries: Iterable[Summary]) -> Summary:
    """One summary of all; it is the same in whatever order and grouping they come.

    NoPartial if a rank is in two of them: which of its starts came first could not be told.
    """
    whole = Summary()
    for each in summaries:  # one at a time: all of them may be too much
        whole, part = fitted(whole, each)
        twice = {each.rank for each in whole.processes if each.has_epochs}
        twice &= {each.rank for each in part.processes if each.has_epochs}
        if twice:
            rank = min(twice)
            named = f"rank {rank} is" if rank >= 0 else "processes without a rank are"
            raise NoPartial(f"{named} in two partial results; give all files of a rank to one --partial")
        _merge(whole, part)
    return ordered(whole)


def ordered(summary: Summary) -> Summary:
    """The same summary, with everything in an order that depends on nothing else."""
    summary.processes.sort(key=lambda process: process.token)
    summary.same_data.sort()
    summary.limits.sort(key=_as_text)
    summary.groups = {key: summary.groups[key] for key in sorted(summary.groups)}
    for group in summary.groups.values():
        group.loaders = dict(sorted(group.loaders.items()))
        group.epochs = dict(sorted(group.epochs.items()))
        group.contents = {index: dict(sorted(told.items())) for index, told in sorted(group.contents.items())}
        group.died.sort(key=_as_text)
        for epoch in group.epochs.values():
            epoch.ranks = dict(sorted(epoch.ranks.items()))
            for seen in epoch.ranks.values():
                seen.workers = dict(sorted(seen.workers.items()))
                seen.sizes = dict(sorted(seen.sizes.items()))
    return summary


def _as_text(told: dict[str, Any]) -> str:
    return json.dumps(told, sort_keys=True)


def _merge(whole: Summary, part: Summary) -> None:
    whole.processes += part.processes
    whole.texts = thinned((whole.texts, part.texts))
    whole.same_data += [group for group in part.same_data if group not in whole.same_data]
    whole.limits += [limit for limit in part.limits if limit not in whole.limits]
    for key, theirs in part.groups.items():
        mine = whole.groups.setdefault(key, Group())
        mine.loaders.update(theirs.loaders)
        mine.died += theirs.died
        mine.witnesses.merge(theirs.witnesses)
        for index, told in theirs.contents.items():
            for at, content in told.items():
                known = mine.contents.setdefault(index, {})
                known[at] = min(content, known.get(at, content))
        for at, epoch in theirs.epochs.items():
            here = mine.epochs.setdefault(at, Epoch())
            here.ranks.update(epoch.ranks)
            here.counts.merge(epoch.counts)
            here.digests.merge(epoch.digests)


def _plain(summary: Summary, blobs: list[bytes]) -> dict[str, Any]:
    ordered(summary)
    return {
        "processes": [asdict(process) for process in summary.processes],
        "same_data": summary.same_data,
        "limits": summary.limits,
        "texts": summary.texts,
        "groups": [[key, _plain_group(group, blobs)] for key, group in summary.groups.items()],
    }


def _plain_group(group: Group, blobs: list[bytes]) -> dict[str, Any]:
    witnesses = group.witnesses.stored()
    blobs.append(_packed(witnesses.pop("rows")))
    return {
        "loaders": list(group.loaders.items()),
        "contents": [[index, list(told.items())] for index, told in group.contents.items()],
        "died": group.died,
        "witnesses": witnesses,
        "epochs": [[key, _plain_epoch(epoch, blobs)] for key, epoch in group.epochs.items()],
    }


def _plain_epoch(epoch: Epoch, blobs: list[bytes]) -> dict[str, Any]:
    counts, digests = epoch.counts.stored(), epoch.digests.stored()
    counts["above"] = list(counts["above"].items())
    blobs += _cut(counts.pop("data"), counts)
    blobs += _cut(digests.pop("data"), digests)
    ranks = []
    for rank, seen in epoch.ranks.items():
        told = asdict(seen)
        for name in ("sizes", "prefixes", "workers"):
            told[name] = list(told[name].items())
        ranks.append([rank, told])
    return {"ranks": ranks, "counts": counts, "digests": digests}


def _packed(rows: bytes) -> bytes:
    """Rows of eight-byte numbers in a twentieth of the room: the first bytes of all, the second bytes of all, ..."""
    table = np.frombuffer(rows, np.uint8).reshape(-1, _WITNESS)
    return zlib.compress(table.T.tobytes(), 1)


def _unpacked(packed: bytes) -> bytes:
    """What `_packed` was given."""
    return np.frombuffer(zlib.decompress(packed), np.uint8).reshape(_WITNESS, -1).T.tobytes()


def _cut(blob: bytes, told: dict[str, Any]) -> list[bytes]:
    pieces = [blob[at : at + _MOST] for at in range(0, max(1, len(blob)), _MOST)]
    told["pieces"] = len(pieces)
    return pieces


def _summary(plain: dict[str, Any], blobs: Any) -> Summary:
    return Summary(
        [Process(**process) for process in plain["processes"]],
        {(key[0], key[1], key[2]): _group(told, blobs) for key, told in plain["groups"]},
        plain["same_data"],
        plain["limits"],
        plain["texts"],
    )


def _group(told: dict[str, Any], blobs: Any) -> Group:
    rows = _unpacked(next(blobs))
    by_digest = any(epoch["digests"]["total"] for _, epoch in told["epochs"])
    return Group(
        {int(rank): facts for rank, facts in told["loaders"]},
        {(key[0], key[1]): _epoch(epoch, blobs) for key, epoch in told["epochs"]},
        {index: {(key[0], key[1]): content for key, content in seen} for index, seen in told["contents"]},
        told["died"],
        Witnesses.restored({**told["witnesses"], "rows": rows}, by_digest),
    )


def _epoch(told: dict[str, Any], blobs: Any) -> Epoch:
    counts, digests = told["counts"], told["digests"]
    data = {"data": b"".join(next(blobs) for _ in range(counts["pieces"])), "above": dict(counts["above"])}
    words = b"".join(next(blobs) for _ in range(digests["pieces"]))
    return Epoch(
        {rank: _seen(seen) for rank, seen in told["ranks"]},
        Counts.restored({**counts, **data}),
        Digests.restored({"data": words}),
    )


def _seen(told: dict[str, Any]) -> RankSeen:
    workers = {worker: WorkerSeen(**one) for worker, one in told.pop("workers")}
    return RankSeen(**{**told, "sizes": dict(told["sizes"]), "prefixes": dict(told["prefixes"])}, workers=workers)
