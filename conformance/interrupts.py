"""An interrupt while the consumer waits: decides how a read, in any process, knows that it is waited for.

The two sides meet by files in the folder of the log. Each wait has an end: a loader that never asks is not interrupted,
and one that does not notice gets its sample.
"""

import os
import select
import signal
import time

# Seconds that the read waits until the consumer asks for its step, and until it has noticed that it was interrupted.
_UNTIL_ASKED, _UNTIL_NOTICED = 3.0, 3.0


def interrupt(folder: str, consumer: int) -> None:
    """Called by the read of a sample: interrupt the consumer once it asks for the step, and wait until it noticed."""
    if _within(_UNTIL_ASKED, folder, "asks"):
        first(folder, "struck")
        os.kill(consumer, signal.SIGINT)
        _within(_UNTIL_NOTICED, folder, "noticed")


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


def _within(seconds: float, folder: str, name: str) -> bool:
    deadline = time.monotonic() + seconds
    while not (there := said(folder, name)) and time.monotonic() < deadline:
        select.select([], [], [], 0.005)
    return there
