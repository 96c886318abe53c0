"""The process of a command: lines to it, lines from it, and its end. Every wait that this side begins has a bound."""

import os
import select
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO

from conformance.contract import AdapterError

# A line of the loader's may not be longer: a step of a hundred thousand handles fits.
LONGEST = 1 << 20
_END_SECONDS = 2.0


class Gone(Exception):
    """The process has closed its output: it has ended, or is about to."""


class Late(Exception):
    """No whole line came in time."""


class Process:
    """A running command. `words` is where its standard error goes; None: where this process's goes.

    It is in this process's session, so that whoever ends that ends the command as well.
    """

    def __init__(self, command: Sequence[str], words: "IO[bytes] | int | None" = None) -> None:
        try:
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=words)
        except OSError as error:
            name = error.strerror or type(error).__name__
            raise AdapterError(
                f"the command {command[0]!r} can't be started: {name}; is it installed, and on the PATH?"
            ) from error
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        self._rest = b""
        self._ended = False

    @property
    def pid(self) -> int:
        """The process's number."""
        return self._process.pid

    def send(self, line: bytes, deadline: float | None = None) -> None:
        """Write a line. Gone if nobody reads it any more; Late if there is no room for it by the deadline."""
        rest = line + b"\n"
        if self._ended:
            raise Gone  # the numbers of its pipes may be another's by now
        while rest:
            _await((), (self._in,), deadline)
            try:
                # No more than surely fits where select has seen room.
                written = os.write(self._in, rest[: select.PIPE_BUF])
            except BrokenPipeError:
                raise Gone from None
            rest = rest[written:]

    def receive(self, deadline: float | None = None) -> bytes:
        """The next line, or its beginning if it is longer than LONGEST. Gone at the end; Late at the deadline."""
        while (end := self._rest.find(b"\n")) < 0 and len(self._rest) <= LONGEST:
            if deadline is not None:
                _await((self._out,), (), deadline)
            part = os.read(self._out, 1 << 16)
            if not part:
                raise Gone
            self._rest += part
        if end < 0:
            return self._rest
        line, self._rest = self._rest[:end], self._rest[end + 1 :]
        return line

    def end(self, seconds: float = _END_SECONDS) -> int | None:
        """Close its input and wait for its end; its exit code, or None if it had to be killed."""
        self._ended = True
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                assert pipe is not None
                pipe.close()
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            return None


def within(seconds: float) -> float:
    """The deadline this many seconds from now."""
    return time.monotonic() + seconds


def _await(readable: Sequence[int], writable: Sequence[int], deadline: float | None) -> None:
    seconds = None if deadline is None else max(0.0, deadline - time.monotonic())
    if not any(select.select(readable, writable, (), seconds)):
        raise Late
