"""Decides how the two sides of a ring speak: over a pair of connected sockets, and without waiting in a write.

A side that writes and waits for room can't listen meanwhile: two that do so at once wait for each other forever, and
one that hangs does not empty its line. So `send` never waits; what there is no room for yet is kept, and goes with the
next `flush`. `receive` never waits either: a message that has come in part may never be whole.

A message is a head (its length, and whether it lies in a file) and a pickle. What is long goes as a file without a
name, of which only the descriptor travels: so it has left at once, however long it is, and the other side can go on
although nobody flushes.
"""

import array
import errno
import os
import pickle
import select
import socket
import struct
from collections import deque
from contextlib import nullcontext, suppress
from multiprocessing.reduction import ForkingPickler
from typing import Any

from . import shared_memory
from .interrupts import interrupts_held

_HEAD = struct.Struct("!QB")
_LONG = 1 << 14  # bytes from which a message is a file
_DESCRIPTOR = array.array("i").itemsize
_ASK_AGAIN = 0.01  # seconds after which a descriptor is sent again that was refused
NOTHING = object()
"""What `receive` returns while no message is there."""


class Line:
    """One end of a line. May be given to a process that is started, as an argument of it."""

    def __init__(self, end: socket.socket) -> None:
        self.end = end
        self.unsent: deque[tuple[memoryview, int | None]] = deque()
        """What is still to be written, piece by piece, and the descriptor that goes with a piece."""
        self.is_refused = False
        """Whether a descriptor could not go: no poll tells when it can."""
        self.came = bytearray()
        self.descriptors: deque[int] = deque()

    def __reduce__(self) -> Any:
        return Line, (self.end,)

    def fileno(self) -> int:
        """Return the descriptor to wait on; -1 once it is closed."""
        return self.end.fileno()

    def send(self, message: Any, descriptor: int | None = None) -> None:
        """Write what there is room for, and keep the rest; the descriptor is the line's from now on.

        Does not say whether the other side is there: `receive` does.
        """
        data = bytes(ForkingPickler.dumps(message))
        is_long = len(data) > _LONG and descriptor is None
        with interrupts_held() if is_long else nullcontext():
            # LEAK-2: an interrupt would leave a descriptor that nobody knows.
            if is_long:
                descriptor = shared_memory.holding(data)
            self.unsent.append((memoryview(_HEAD.pack(len(data), is_long)), descriptor))
        if not is_long:
            self.unsent.append((memoryview(data), None))
        self.flush()

    def flush(self) -> None:
        """Write what there is room for now."""
        self.is_refused = False
        try:
            while self.unsent:
                piece, descriptor = self.unsent[0]
                given = [] if descriptor is None else [descriptor]
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", given))] if given else []
                with interrupts_held() if given else nullcontext():
                    written = self.end.sendmsg([piece], rights, socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
                    # Goes with the first byte of its piece.
                    self.unsent[0] = (piece[written:], None)
                    for each in given:
                        os.close(each)
                if written == len(piece):
                    self.unsent.popleft()
        except BlockingIOError:
            return
        except OSError as error:
            # Too many descriptors are under way: there is room again once the other side has read some.
            self.is_refused = error.errno == errno.ETOOMANYREFS
            if not self.is_refused:
                self._forget()

    def receive(self) -> Any:
        """Return the next message if it is whole, or NOTHING. EOFError when the other side has hung up."""
        if not self._read(_HEAD.size):
            return NOTHING
        length, is_long = _HEAD.unpack_from(self.came)
        if is_long:
            data = shared_memory.held(self.descriptors.popleft(), length)
        elif self._read(_HEAD.size + length):
            data = bytes(self.came[_HEAD.size :])
        else:
            return NOTHING
        self.came.clear()
        return pickle.loads(data)

    def _read(self, size: int) -> bool:
        """Read until this many bytes have come, and never more; whether they have."""
        while (missing := size - len(self.came)) > 0:
            space = socket.CMSG_SPACE(_DESCRIPTOR)
            try:
                data, rights, _, _ = self.end.recvmsg(min(missing, 1 << 20), space, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return False
            except OSError as error:
                raise EOFError("The other side has hung up.") from error
            for _, _, given in rights:
                self.descriptors.extend(array.array("i", given[:_DESCRIPTOR]))
            if not data:
                raise EOFError("The other side has hung up.")
            self.came += data
        return True

    def descriptor(self) -> int:
        """Return the descriptor that came with the last message, which is the caller's now."""
        return self.descriptors.popleft()

    def hang_up(self) -> None:
        """End the line for all who have a copy of this end, as a fork has; what was written is heard still.

        Nothing more is written: an interrupt may have come between the writing of a piece and the note of it, and the
        other side would read that piece twice.
        """
        with suppress(OSError):
            self.end.shutdown(socket.SHUT_RDWR)
        self.close()

    def close(self) -> None:
        """Close this end here. May be called any number of times."""
        self._forget()
        while self.descriptors:
            os.close(self.descriptors.popleft())
        self.end.close()

    def _forget(self) -> None:
        for _, descriptor in self.unsent:
            if descriptor is not None:
                os.close(descriptor)
        self.unsent.clear()


def pair() -> tuple[Line, Line]:
    """Return both ends of a new line."""
    ours, theirs = socket.socketpair()
    return Line(ours), Line(theirs)


def ready(lines: list[Line], seconds: float, others: tuple[int, ...] = ()) -> list[int]:
    """Wait, and return the descriptors of lines and others on which something has come, or that have hung up.

    What is unsent is written as soon as there is room, which ends the wait as well.
    """
    poll = select.poll()
    by_descriptor = {line.fileno(): line for line in lines}
    refused = [line for line in lines if line.is_refused]
    for descriptor, line in by_descriptor.items():
        poll.register(descriptor, select.POLLIN | (select.POLLOUT if line.unsent and not line.is_refused else 0))
    for other in others:
        poll.register(other, select.POLLIN)
    found = poll.poll(max(0.0, min(seconds, _ASK_AGAIN) if refused else seconds) * 1000)
    for line in (*refused, *(by_descriptor[descriptor] for descriptor, event in found if event & select.POLLOUT)):
        line.flush()
    return [descriptor for descriptor, event in found if event & ~select.POLLOUT]


def send_whole(line: Line, message: Any, until: int) -> None:
    """Send, and wait until all of it is written: for the side that may wait.

    EOFError when the other side's process is gone, of which the descriptor `until` tells.
    """
    line.send(message)
    while line.unsent:
        poll = select.poll()
        poll.register(until, select.POLLIN)
        if not line.is_refused:
            poll.register(line.fileno(), select.POLLOUT)
        if any(descriptor == until for descriptor, _ in poll.poll(_ASK_AGAIN * 1000 if line.is_refused else None)):
            raise EOFError("The other side has ended.")
        line.flush()
