"""Decides when an interrupt waits: while a process is started or ended, which must be done whole or not at all."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[list[int]]:
    """Note an interrupt in the list that is given, and raise it only at the end.

    A handler does this, and no mask: what is masked in this thread alone, another thread of the process is given.
    Other threads than the main one are never interrupted, so nothing is done in them.
    """
    came: list[int] = []
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield came
        return
    signal.signal(signal.SIGINT, lambda number, _: came.append(number))
    try:
        yield came
    finally:
        signal.signal(signal.SIGINT, handler)
        if came:
            signal.raise_signal(signal.SIGINT)
