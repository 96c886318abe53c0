"""An interrupt while the consumer waits: decides how a read, in any process, knows that it is waited for.

The two sides meet by files in the folder of the log. Each wait has an end: a loader that never asks is not interrupted,
and one that does not notice gets its sample.
"""

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

# Seconds that the read waits until the consumer asks for its step, until it sleeps in its wait (one that spins never
# does), and until it has noticed that it was interrupted.
_UNTIL_ASKED, _UNTIL_ASLEEP, _UNTIL_NOTICED = 3.0, 1.0, 3.0
LONGEST_INTERRUPT = _UNTIL_ASKED + _UNTIL_ASLEEP + _UNTIL_NOTICED
_ASLEEP = 12  # looks in a row


def interrupt(folder: str, consumer: int) -> None:
    """Called by the read of a sample: interrupt the consumer once it asks for the step, and wait until it noticed."""
    if within(_UNTIL_ASKED, lambda: said(folder, "asks")):
        # No Python program is safe from an interrupt at any moment: it is a wait that is to be interrupted.
        if threading.get_native_id() != consumer:
            looks = [_ASLEEP]
            within(_UNTIL_ASLEEP, lambda: _sleeps(consumer, looks))
        first(folder, "struck")
        os.kill(consumer, signal.SIGINT)
        within(_UNTIL_NOTICED, lambda: said(folder, "noticed"))


def _sleeps(consumer: int, looks: list[int]) -> bool:
    """Whether the consumer's main thread slept at this many looks in a row."""
    try:
        state = Path(f"/proc/{consumer}/task/{consumer}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True  # it is gone, or there is no such file on this system
    looks[0] = looks[0] - 1 if state == "S" else _ASLEEP
    return looks[0] <= 0


def first(folder: str, name: str) -> bool:
    """Say something once. Whether nobody had said it before, in any process."""
    try:
        os.close(os.open(os.path.join(folder, name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def said(folder: str, name: str) -> bool:
    """Whether that was said."""
    return os.path.exists(os.path.join(folder, name))


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    """Whether something happens in so many seconds."""
    deadline = time.monotonic() + seconds
    while not (there := happened()) and time.monotonic() < deadline:
        select.select([], [], [], 0.005)
    return there
