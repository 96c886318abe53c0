"""Decides that no process outlives the one that wants its work: a producer ends with its consumer, its own with it.

A producer that waits for orders sees by itself that its consumer is gone. One that hangs in its dataset does not look,
and neither does a worker of a loader that a producer has; ending a producer does not reach those.
"""

import ctypes
import fcntl
import os
import signal
import sys
import threading

_PR_SET_PDEATHSIG = 1
_LAST_WORDS = 5.0  # seconds for a process that was interrupted, because its parent has ended, to end


class _Forks:
    """The process whose children end with it; and whether the fork under way is to make one of those."""

    parent = 0
    is_registered = False
    makes_child = False


def ends_with_parent(sentinel: int, is_of_main_thread: bool) -> None:
    """Let this process be interrupted when its parent ends, on Linux, whatever it does (LEAK-1).

    `sentinel` is the descriptor that has something to read then: a pipe on which nothing is written before. A dataset
    may have closed it, and another process may keep it open; so the kernel is asked too, unless another thread than
    the main one has made this process: it would be told of the end of that thread.
    """
    if sys.platform == "linux":
        signal.signal(signal.SIGIO, _is_orphan)
        fcntl.fcntl(sentinel, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(sentinel, fcntl.F_SETFL, fcntl.fcntl(sentinel, fcntl.F_GETFL) | os.O_ASYNC)
        if is_of_main_thread:
            _tell_of_parents_end(signal.SIGIO)


def _tell_of_parents_end(number: signal.Signals) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, number)


def _is_orphan(*_: object) -> None:
    # A dataset that catches the interrupt, or hangs again in its own end, is ended by the alarm.
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, _LAST_WORDS)
    raise KeyboardInterrupt


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
    _tell_of_parents_end(signal.SIGKILL)
    if os.getppid() != _Forks.parent:
        # It has ended before that was said.
        os._exit(1)
