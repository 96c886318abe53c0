"""Frames: decides how a piece of a record lies in its file, and how far a file can be read.

    magic 4 | kind 1 | version 1 | header check 2 | length 4 | crc32 4 | payload

All numbers are little-endian. The header check is the low half of crc32 over kind, version, length and crc32, so that
a damaged length is not taken for a file that ends early. The crc32 is that of the payload.
"""

import json
import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

MAGIC = b"\x89LSR"
VERSION = 1
SUFFIX = ".lsr"
# Kinds of frames. A fact is one JSON object, which says what it is about under "what"; deliveries are what a loader
# gave to the loop; made is what a worker made for an iterator; closing is the last frame of a clean end.
FACT, DELIVERIES, MADE, CLOSING = b"J", b"D", b"M", b"C"

_HEADER = struct.Struct("<4scBHII")
_CHECKED = struct.Struct("<cBII")
# No frame is longer: a length beyond it was not written by a recorder.
LONGEST = 1 << 30

# clean end: the closing frame is there, and nothing after it. cut: the file stops early, whatever the reason, and all
# of it is good. corrupt: bytes that are not what was written.
State = Literal["clean end", "cut", "corrupt"]
NOT_CLOSED = "it has no closing frame"


@dataclass(frozen=True)
class Frame:
    """One frame that was read whole, and where it began in its file."""

    kind: bytes
    payload: bytes
    start: int

    def fact(self) -> dict[str, Any]:
        """The object of a FACT or CLOSING frame. ValueError if it holds none."""
        told = json.loads(self.payload)
        if not isinstance(told, dict):
            raise ValueError(f"a fact is a JSON object, and this is {told!r}")
        return told


@dataclass(frozen=True)
class End:
    """How a file ends: in which state, after how many good bytes, and in words why it is not a clean end."""

    state: State
    good: int
    why: str = ""


def frame(kind: bytes, payload: bytes) -> bytes:
    """The bytes of one frame."""
    crc = zlib.crc32(payload)
    return _HEADER.pack(MAGIC, kind, VERSION, _check(kind, VERSION, len(payload), crc), len(payload), crc) + payload


def fact(told: dict[str, Any], kind: bytes = FACT) -> bytes:
    """The frame of one JSON object. What JSON has no word for is written as its text."""
    return frame(kind, json.dumps(told, separators=(",", ":"), default=str).encode())


def frames(file: BinaryIO, before: int = 0, skim: bool = False) -> Iterator[Frame | End]:
    """The good frames of a file from where it stands, `before` of which lie before it, and then its End.

    `skim`: of deliveries nothing is read, and of what was made only its key; they may be damaged.
    """
    good = file.tell()
    closed = False
    size = file.seek(0, os.SEEK_END)
    file.seek(good)
    while True:
        head = file.read(_HEADER.size)
        if not head:
            yield End("clean end", good) if closed else End("cut", good, NOT_CLOSED)
            return
        bad = "bytes follow its closing frame" if closed else _bad_header(head)
        if bad:
            yield End("corrupt", good, f"at byte {good}: {bad}")
            return
        if len(head) < _HEADER.size:
            yield End("cut", good, f"its last frame, at byte {good}, is not whole")
            return
        _, kind, _, _, length, crc = _HEADER.unpack(head)
        if good + len(head) + length > size:
            yield End("cut", good, f"its last frame, at byte {good}, is not whole")
            return
        read = Frame(kind, _begun(file, length) if skim and kind in (DELIVERIES, MADE) else file.read(length), good)
        bad = "" if len(read.payload) < length else _bad_payload(read, crc, before)
        if bad:
            yield End("corrupt", good, f"at byte {good}: {bad}")
            return
        closed = kind == CLOSING
        before += 1
        good += len(head) + length
        yield read


_SKIMMED = 512


def _begun(file: BinaryIO, length: int) -> bytes:
    begun = file.read(min(length, _SKIMMED))
    file.seek(length - len(begun), os.SEEK_CUR)
    return begun


def _check(kind: bytes, version: int, length: int, crc: int) -> int:
    return zlib.crc32(_CHECKED.pack(kind, version, length, crc)) & 0xFFFF


def _bad_header(head: bytes) -> str:
    """What is wrong with a header, of which the end may be missing, or ""."""
    if head[: len(MAGIC)] != MAGIC[: len(head)]:
        return "no frame begins here"
    if len(head) < _HEADER.size:
        return ""
    _, kind, version, check, length, crc = _HEADER.unpack(head)
    if check != _check(kind, version, length, crc):
        return "the header of a frame is damaged"
    if version != VERSION:
        return f"a frame of version {version}, and this reader knows version {VERSION}"
    if length > LONGEST:
        return f"a frame of {length} bytes, and none is longer than {LONGEST}"
    return ""


def _bad_payload(read: Frame, crc: int, before: int) -> str:
    if zlib.crc32(read.payload) != crc:
        return "a frame is damaged"
    if read.kind in (FACT, CLOSING):
        try:
            told = read.fact()
        except ValueError:
            return "a fact that is not JSON"
        if read.kind == CLOSING and told.get("frames", before) != before:
            return f"its closing frame counts {told['frames']} frames, and {before} are there"
    return ""
