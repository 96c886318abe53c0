"""Decides how a thread reads elements ahead: in order, a bounded number, and never beyond the life of its reader.

The thread knows the iterator and the buffer, and not who reads from it. So a reader that nobody refers to any more is
collected, and with it the thread ends.
"""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Any

_LAST_ELEMENT = 5.0  # seconds that the thread may take over the element at hand once it is told to end


class _Buffer:
    """What the thread and the reader share. `told` guards the rest."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.told = threading.Condition()
        self.elements: deque[Any] = deque()
        self.is_over = False
        self.is_left = False
        self.is_paused = False
        self.error: BaseException | None = None

    def has_room(self) -> bool:
        """Whether one more is to be read. While it is paused, only for a reader who would wait forever."""
        return len(self.elements) < (1 if self.is_paused else self.size)


class Ahead:
    """An iterator over the elements of another one, which a thread reads ahead."""

    def __init__(self, source: Iterator[Any], size: int) -> None:
        self.buffer = _Buffer(size)
        self.thread = threading.Thread(target=_read, args=(source, self.buffer), name="prefetch", daemon=True)
        self.thread.start()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        buffer = self.buffer
        with buffer.told:
            # Bounded by the source: the thread always says when it is done, however it ends.
            buffer.told.wait_for(lambda: buffer.elements or buffer.is_over)
            if buffer.elements:
                buffer.told.notify_all()
                return buffer.elements.popleft()
        # An error stands after the elements before it.
        if buffer.error is not None:
            error, buffer.error = buffer.error, None
            raise error
        raise StopIteration

    def pause(self, is_paused: bool) -> None:
        """Let the thread read no further ahead than one element, or go on."""
        with self.buffer.told:
            self.buffer.is_paused = is_paused
            self.buffer.told.notify_all()

    def end(self) -> None:
        """Let the thread end, and wait for it."""
        with self.buffer.told:
            self.buffer.is_left = True
            self.buffer.told.notify_all()
        # A garbage collection may run anywhere, in this very thread too.
        if self.thread is not threading.current_thread():
            self.thread.join(_LAST_ELEMENT)


def _read(source: Iterator[Any], buffer: _Buffer) -> None:
    try:
        for element in source:
            with buffer.told:
                buffer.elements.append(element)
                buffer.told.notify_all()
                buffer.told.wait_for(lambda: buffer.has_room() or buffer.is_left)
                if buffer.is_left:
                    return
    except BaseException as error:
        buffer.error = error
    finally:
        with buffer.told:
            buffer.is_over = True
            buffer.told.notify_all()
