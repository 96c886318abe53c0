"""Blocks of deliveries: decides how the ids of many batches lie in one frame.

A block holds batches of one epoch of one loader (or of one worker, for what it made), in the order in which they came:

    loader u32 | epoch u32 | first step u64 | batches u32 | rows u32 | code u8 | sizes u8 | workers u8 | 5 bytes of zero

then the ids (rows x width), then the sizes, then the workers. The width follows from the code: 4 (uint32), 8 (int64),
16 (digests) or 0 (only the workers' order; the ids are in the files of the workers). `sizes` 0: two uint32, the size of
all batches but the last, and of the last; 1: a uint32 a batch. `workers` 0: none; 1: an int16 a batch, -1 for the
process itself. All is little-endian. A frame MADE has the key of its iterator in front: its length (u16) and its bytes.
"""

import struct
import sys
from array import array
from collections.abc import Iterable
from typing import Any

HEADER = struct.Struct("<IIQIIBBB5x")
UINT32, INT64, DIGEST, ELSEWHERE = 4, 8, 16, 0
DIGEST_SIZE = 16
KEY = struct.Struct("<H")
NO_WORKER = -1

Id = int | bytes
# A sequence of ids, or an array or tensor of integers.
Ids = Any


class Unfit(TypeError):
    """Ids that are neither integers of 64 bits nor digests of 16 bytes."""


class Block:
    """The batches of one epoch that are not yet written. `rows` counts their samples, as far as they are known."""

    def __init__(self, loader: int, epoch: int, step: int = 0) -> None:
        self.loader = loader
        self.epoch = epoch
        self.step = step  # of the first batch in here
        self.rows = 0
        self._ids: list[Id] = []
        self._sizes: list[int] = []
        self._workers: list[int] = []
        self._elsewhere = False

    def add(self, ids: Ids | None, worker: int | None) -> None:
        """Append a batch. `ids` is copied: the caller may go on using it. None: a worker's file has them."""
        size = 0
        if ids is None:
            self._elsewhere = True
        else:
            self._ids.extend(ids.tolist() if hasattr(ids, "tolist") else ids)
            size = len(ids)
        self.rows += size
        self._sizes.append(size)
        self._workers.append(NO_WORKER if worker is None else worker)

    @property
    def batches(self) -> int:
        """How many batches are in here."""
        return len(self._sizes)

    def take(self) -> bytes:
        """The payload of what is in here, which is empty afterwards. Unfit if the ids are of no kind that is stored."""
        ids, sizes, workers, step = self._ids, self._sizes, self._workers, self.step
        self._ids, self._sizes, self._workers = [], [], []
        self.step += len(sizes)
        self.rows = 0
        code, stored = _stored(ids, self._elsewhere)
        uniform = len(set(sizes[:-1])) < 2
        told = (sizes[0], sizes[-1]) if uniform else sizes
        has_workers = any(worker != NO_WORKER for worker in workers)
        head = HEADER.pack(self.loader, self.epoch, step, len(sizes), len(ids), code, not uniform, has_workers)
        return b"".join((head, stored, _packed("I", told), _packed("h", workers) if has_workers else b""))


def with_key(key: str, payload: bytes) -> bytes:
    """The payload of a MADE frame."""
    return KEY.pack(len(key.encode())) + key.encode() + payload


def _stored(ids: list[Id], elsewhere: bool) -> tuple[int, bytes]:
    if not ids:
        return (ELSEWHERE if elsewhere else UINT32), b""
    if isinstance(ids[0], bytes):
        joined = b"".join(each for each in ids if isinstance(each, bytes) and len(each) == DIGEST_SIZE)
        if len(joined) != len(ids) * DIGEST_SIZE:
            raise Unfit(f"a digest has {DIGEST_SIZE} bytes, and ids of one loader are all digests or all integers")
        return DIGEST, joined
    try:
        return UINT32, _packed("I", ids)  # type: ignore[arg-type]
    except OverflowError:
        pass
    except TypeError as error:
        if None in ids:
            raise Unfit("it can't be told who they are") from error
        raise Unfit(f"an id is an integer or a digest of {DIGEST_SIZE} bytes ({error})") from error
    try:
        return INT64, _packed("q", ids)  # type: ignore[arg-type]
    except (OverflowError, TypeError) as error:
        raise Unfit(f"an id is an integer of 64 bits or a digest of {DIGEST_SIZE} bytes ({error})") from error


def _packed(kind: str, numbers: Iterable[int]) -> bytes:
    packed = array(kind, numbers)
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
