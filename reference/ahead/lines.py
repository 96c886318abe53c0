"""The consumer's end of a line to a producer: nothing is ever waited for when something is sent.

A line has room for some hundred kilobytes. A producer that hangs in a sample reads nothing from it, and one that sends
at the same time reads nothing either: if the consumer waited for room, both would wait for each other for ever, and the
loader's timeout would never fire (ERROR-7). So what there is no room for is kept, and written when there is some.
"""

import os
import socket
import struct
from collections import deque
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.reduction import ForkingPickler
from select import POLLIN, POLLOUT, poll
from typing import Any

_LONGEST = 0x7FFFFFFF  # bytes, of a message whose length is written in four bytes


class Line:
    """One line. Messages and descriptors come out at the other end in the order in which they were sent."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        # Bytes that are still to be written; a descriptor goes with one byte of its own.
        self._unsent: deque[tuple[bytes, int | None]] = deque()

    @property
    def is_behind(self) -> bool:
        """Whether something waits for room."""
        return bool(self._unsent)

    def send(self, message: Any) -> None:
        """Send a message, which `Connection.recv` reads."""
        data = bytes(ForkingPickler.dumps(message))
        head = struct.pack("!i", len(data)) if len(data) <= _LONGEST else struct.pack("!iQ", -1, len(data))
        self._unsent.append((head + data, None))
        self.write()

    def send_descriptor(self, descriptor: int) -> None:
        """Send a copy of a descriptor, which `multiprocessing.reduction.recv_handle` reads."""
        self._unsent.append((b"\x01", os.dup(descriptor)))
        self.write()

    def write(self) -> None:
        """Write what there is room for. To whom has hung up, nothing is sent any more."""
        end = socket.socket(fileno=self.connection.fileno())
        try:
            while self._unsent:
                data, descriptor = self._unsent[0]
                sent = _send(end, data, descriptor)
                if descriptor is not None:
                    os.close(descriptor)
                self._unsent[0] = (data[sent:], None)
                if sent == len(data):
                    self._unsent.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self._forget()
        finally:
            end.detach()

    def close(self) -> None:
        """Hang up. What is unsent is lost."""
        self._forget()
        self.connection.close()

    def _forget(self) -> None:
        for _, descriptor in self._unsent:
            if descriptor is not None:
                with suppress(OSError):
                    os.close(descriptor)
        self._unsent.clear()


def _send(end: socket.socket, data: bytes, descriptor: int | None) -> int:
    if descriptor is None:
        return end.send(data, socket.MSG_DONTWAIT)
    rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("i", descriptor))]
    return end.sendmsg([data], rights, socket.MSG_DONTWAIT)


def wait_for(lines: list[Line], seconds: float) -> list[int]:
    """Wait until something has come on a line, writing meanwhile what is unsent. The numbers of those lines.

    May come back early with none: then nothing has come yet.
    """
    waiting = poll()
    for line in lines:
        waiting.register(line.connection.fileno(), POLLIN | (POLLOUT if line.is_behind else 0))
    events = dict(waiting.poll(max(0.0, seconds) * 1000))
    for line in lines:
        if events.get(line.connection.fileno(), 0) & POLLOUT:
            line.write()
    return [number for number, line in enumerate(lines) if events.get(line.connection.fileno(), 0) & ~POLLOUT]
