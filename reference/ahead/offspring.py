"""Decides what becomes of processes that a producer has started itself, as a loader with workers does: they end too.

Whoever ends a producer knows nothing of them, and one that hangs in its dataset does not look whether its parent lives.
"""

import ctypes
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1


class _Forks:
    """The process whose children end with it; and whether the fork under way is to make one of those."""

    parent = 0
    is_registered = False
    makes_child = False


def offspring_ends_with_this() -> None:
    """Let whatever this process forks be killed when this process ends, on Linux (LEAK-1).

    Its children alone, and none that a thread has made: they would end with the thread.
    """
    _Forks.parent = os.getpid()
    if sys.platform == "linux" and not _Forks.is_registered:
        os.register_at_fork(before=_before, after_in_child=_after_in_child)
        _Forks.is_registered = True


def _before() -> None:
    is_main = threading.current_thread() is threading.main_thread()
    _Forks.makes_child = is_main and os.getpid() == _Forks.parent


def _after_in_child() -> None:
    if not _Forks.makes_child:
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != _Forks.parent:
        # It has ended before that was said.
        os._exit(1)
