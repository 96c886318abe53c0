"""Decides how the output of many programs comes out of one: line by line, each whole and with a tag.

    [1,2]<stdout>:* batch size: 64

Each program writes into a pipe for each of its streams. One thread reads all pipes, and writes a line when its end has
come. A last line without an end gets one. When all programs have ended `close` reads what is still in the pipes, so
nothing is lost, and nobody waits for an orphan that holds a pipe open.

Where the launcher's own stream is gone (`poprun ... | head -1`), what follows is thrown away and the programs run on.
"""

import os
import selectors
import threading
from dataclasses import dataclass, field

_CHUNK = 1 << 16


@dataclass
class _Stream:
    """One stream of one program: `reader` is our end of its pipe, `sink` where its lines go."""

    tag: bytes
    reader: int
    writer: int
    sink: int
    rest: list[bytes] = field(default_factory=list)


class TaggedOutput:
    """The pipes of some programs, and the thread that reads them. `close` must be called."""

    def __init__(self, indices: list[int], sinks: tuple[int, int] = (1, 2)) -> None:
        """Make two pipes for each program; `sinks` are the descriptors for stdout and stderr."""
        self._streams = {
            (index, name): _Stream(f"[1,{index}]<{name}>:".encode(), *_pipe(), sink)
            for index in indices
            for name, sink in zip(("stdout", "stderr"), sinks, strict=True)
        }
        self._gone: set[int] = set()
        self._wake, self._bell = _pipe()
        self._thread = threading.Thread(target=self._pump, name="tagged output", daemon=True)
        self._thread.start()

    def path(self, index: int, name: str) -> str:
        """Return what to open for writing, as the program's stream of this name."""
        stream = self._streams.get((index, name))
        return os.devnull if stream is None else f"/dev/fd/{stream.writer}"

    def close(self, patience: float | None = None) -> None:
        """Write what is left, and end the thread; after this many seconds, without it."""
        os.write(self._bell, b".")
        self._thread.join(patience)
        if not self._thread.is_alive():
            for stream in self._streams.values():
                os.close(stream.reader)
                os.close(stream.writer)
            os.close(self._wake)
            os.close(self._bell)

    def _pump(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._wake, selectors.EVENT_READ)
            for stream in self._streams.values():
                selector.register(stream.reader, selectors.EVENT_READ, stream)
            closing = False
            while not closing:
                ready = [key.data for key, _ in selector.select()]
                closing = None in ready
                for stream in ready:
                    if stream is not None:
                        self._read(stream)
        for stream in self._streams.values():
            while self._read(stream):
                pass
            if stream.rest:
                self._write(stream, b"\n")

    def _read(self, stream: _Stream) -> bool:
        """Write the lines that have ended; return whether there was anything."""
        try:
            chunk = os.read(stream.reader, _CHUNK)
        except BlockingIOError:
            return False
        # LAUNCH-8
        complete, end, rest = chunk.rpartition(b"\n")
        if end:
            self._write(stream, complete + end)
        if rest:
            stream.rest.append(rest)
        return bool(chunk)

    def _write(self, stream: _Stream, text: bytes) -> None:
        """Write what is whole now, with the tag before each line."""
        lines = b"".join([*stream.rest, text]).removesuffix(b"\n").split(b"\n")
        stream.rest.clear()
        if stream.sink in self._gone:
            return
        try:
            _write_all(stream.sink, b"".join(stream.tag + line + b"\n" for line in lines))
        except OSError:
            self._gone.add(stream.sink)


def _pipe() -> tuple[int, int]:
    """Return the ends of a pipe, of which the first never blocks."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    return reader, writer


def _write_all(sink: int, text: bytes) -> None:
    """Write all of it, also to a descriptor that does not block."""
    left = memoryview(text)
    while left:
        try:
            left = left[os.write(sink, left) :]
        except BlockingIOError:
            with selectors.DefaultSelector() as selector:
                selector.register(sink, selectors.EVENT_WRITE)
                selector.select()
