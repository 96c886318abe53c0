"""Later: decides when a thread of its own gives to the system what the loop has got, if no next batch does it.

A loop that waits in a collective for ever asks for no batch, and a process that is killed says no last word. So what
came is written soon after it came: a moment after the first batches of an epoch, as jobs that fail mostly fail there,
and a second later on. A thread lives for one wait. A process that forks has none meanwhile: what is forked while
another thread holds a lock may wait for it for ever.

No signal is handled: a handler of Python's runs only once the call that hangs has come back, and SIGTERM would then no
longer end a job that hangs.
"""

import threading
import weakref
from collections.abc import Callable

# The first wait of an epoch, each of the next twice as long, and the longest.
_SHORTEST, _LONGEST = 1 / 32, 1.0
# A write to a disk that hangs is not waited for longer.
_PATIENCE = 1.0


class Later:
    """Calls `act` once, in a thread of its own, after a wait."""

    def __init__(self, act: Callable[[], None]) -> None:
        self._act = weakref.WeakMethod(act)
        self._timer: threading.Timer | None = None
        self.wait = _SHORTEST

    def soon(self) -> None:
        """An epoch begins: its first batches are written soon."""
        self.wait = _SHORTEST

    def ask(self) -> None:
        """There is something to be written: begin to wait, unless a thread does already."""
        if self._timer is not None:
            return
        timer = threading.Timer(self.wait, self._done)
        timer.daemon = True
        self._timer = timer
        try:
            timer.start()
        except RuntimeError:  # no more threads, or the interpreter is about to end: then another batch must do
            self._timer = None

    def stop(self) -> None:
        """Wait no longer. No thread is left when this returns; the caller holds no lock that `act` needs."""
        timer, self._timer = self._timer, None
        if timer is not None and timer is not threading.current_thread():
            timer.cancel()
            timer.join(_PATIENCE)

    def join(self, patience: float) -> None:
        """Until the thread that waits is through."""
        timer = self._timer
        if timer is not None:
            timer.join(patience)

    def _done(self) -> None:
        self._timer = None
        self.wait = min(_LONGEST, 2 * self.wait)
        act = self._act()
        if act is not None:
            act()
