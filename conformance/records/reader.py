"""Reading a record: decides what of each file is taken, and in which shape deliveries come.

A file is read once, from its first frame to the last good one, a frame at a time: a record need not fit into memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.records.blocks import DIGEST, ELSEWHERE, HEADER, INT64, KEY, UINT32
from conformance.records.frames import CLOSING, DELIVERIES, FACT, MADE, SUFFIX, End, Frame, frames

# Each id's type, and how many of them make one.
_TYPES: dict[int, tuple[Any, int]] = {UINT32: ("<u4", 1), INT64: ("<i8", 1), DIGEST: ("<u8", 2)}


@dataclass(frozen=True)
class Deliveries:
    """Batches of one epoch that came one after the other.

    `ids` is uint32, int64, or, for digests, uint64 of shape [rows, 2]; None where a worker's file has them. `sizes` and
    `workers` have an entry for each batch; a worker is -1 where the process itself loaded. `iterator` is the key of
    what a worker made, whose number is `loader`, and empty for what was delivered.
    """

    loader: int
    epoch: int
    step: int
    ids: npt.NDArray[Any] | None
    sizes: npt.NDArray[np.uint32]
    workers: npt.NDArray[np.int16]
    iterator: str = ""


def files(folder: Path) -> list[Path]:
    """The files of a record, also of records that were put side by side into one folder, in a fixed order."""
    return sorted(folder.rglob(f"*{SUFFIX}"), key=lambda path: path.relative_to(folder).parts)


def read_file(path: Path) -> Iterator[dict[str, Any] | Deliveries | End]:
    """The facts and deliveries of a file in the order in which they were written, and then its End."""
    with path.open("rb") as file:
        for read in frames(file):
            yield read if isinstance(read, End) else decoded(read)


def decoded(read: Frame) -> dict[str, Any] | Deliveries:
    """What a frame holds. One of an unknown kind holds no facts."""
    if read.kind == DELIVERIES:
        return _deliveries(read.payload, "")
    if read.kind == MADE:
        key = key_of(read)
        return _deliveries(read.payload[KEY.size + len(key.encode()) :], key)
    return read.fact() if read.kind in (FACT, CLOSING) else {}


def key_of(read: Frame) -> str:
    """The key of the iterator for which a MADE frame was written."""
    (length,) = KEY.unpack_from(read.payload)
    return read.payload[KEY.size : KEY.size + length].decode()


def worker_of(read: Frame) -> int:
    """The worker who made what is in a MADE frame."""
    return int(HEADER.unpack_from(read.payload, KEY.size + len(key_of(read).encode()))[0])


def _deliveries(payload: bytes, key: str) -> Deliveries:
    loader, epoch, step, batches, rows, code, sizes_code, workers_code = HEADER.unpack_from(payload)
    at = HEADER.size
    ids = None
    if code != ELSEWHERE:
        kind, each = _TYPES[code]
        ids = np.frombuffer(payload, kind, rows * each, at)
        ids = ids.reshape(-1, 2) if code == DIGEST else ids
        at += rows * code
    if sizes_code:
        sizes = np.frombuffer(payload, "<u4", batches, at)
        at += batches * 4
    else:
        told = np.frombuffer(payload, "<u4", 2, at)
        sizes = np.full(batches, told[0], np.uint32)
        sizes[-1:] = told[1]
        at += 8
    workers = np.frombuffer(payload, "<i2", batches, at) if workers_code else np.full(batches, -1, np.int16)
    return Deliveries(loader, epoch, step, ids, sizes, workers, key)
