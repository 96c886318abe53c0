"""Crashes: decides whether a process ends because of an exception, which, and which epochs were left by it.

An exception that leaves a loop lets go of its iterator, as `break` does, and nothing shows the one from the other then.
So it is noted on which line the loop stood; if the process ends, and its exception has passed that line, it was that.
"""

import sys
from types import CodeType, FrameType
from typing import Any

_MOST = 1500
# A line of the user's at which an iterator was let go.
Place = tuple[CodeType, int]


def place_in(frame: FrameType | None) -> Place | None:
    """The line that a frame is at."""
    return (frame.f_code, frame.f_lineno) if frame is not None else None


def place_of(error: BaseException | None) -> Place | None:
    """The outermost line that an exception has passed."""
    trace = error.__traceback__ if error is not None else None
    return (trace.tb_frame.f_code, trace.tb_lineno) if trace is not None else None


def ending() -> BaseException | None:
    """What ends this process, asked while it leaves; None if it ends by itself."""
    # Of the main program the interpreter keeps it; a process of multiprocessing leaves while it is raised.
    error: Any = sys.exc_info()[1] or getattr(sys, "last_value", None)
    while isinstance(error, SystemExit):
        # torch's mp.spawn reports what was raised and exits with 1.
        error = error.__context__ if error.code not in (None, 0) else None
    return error if isinstance(error, BaseException) else None


def passed(error: BaseException, place: Place) -> bool:
    """Whether an exception has gone through a line."""
    trace = error.__traceback__
    while trace is not None:
        if (trace.tb_frame.f_code, trace.tb_lineno) == place:
            return True
        trace = trace.tb_next
    return False


def told(error: BaseException) -> str:
    """``ValueError: no such file``; of long words the beginning and the end, where the reason stands."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if len(text) <= _MOST else f"{text[: _MOST // 3]}\n...\n{text[-2 * _MOST // 3 :]}"
