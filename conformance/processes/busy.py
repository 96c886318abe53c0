"""Whether a process that does not answer is hung or only waits for a processor, on a machine that has too much to do.

A loader is taken to hang when it does not answer in time. Where many more processes want to run than there are
processors, a right one may not: it is waited for longer as long as it gets on, and never more than a few times as long.
"""

import os
from collections.abc import Iterable

from conformance.processes.descendants import children, text_of

_CROWDED = 2.0  # processes that want to run, for each processor
_TIMES = 2.0  # as long again as the patience, at the most
_WINDOW = 0.5  # of the patience: the time in which something must get on
_TICKS = os.sysconf("SC_CLK_TCK")
_LITTLE = 0.02  # seconds


class Extension:
    """How much longer some processes are waited for, after their time is over."""

    def __init__(self, processes: Iterable[int], patience: float) -> None:
        self._processes = list(processes)
        self._window = _WINDOW * patience
        self._left = _TIMES * patience
        self._used: float | None = None

    def more(self) -> float:
        """The seconds to wait before it is asked again; 0 if they hang."""
        used = sum(map(_seconds, self._processes))
        gets_on = self._used is None or used - self._used > _LITTLE
        if not (gets_on and self._left > 0 and is_crowded()):
            return 0.0
        self._used = used
        self._left -= self._window
        return self._window


def is_crowded() -> bool:
    """Whether far more processes want to run than can."""
    load = text_of("/proc/loadavg").split()[:1]
    return bool(load) and float(load[0]) > _CROWDED * (os.cpu_count() or 1)


def _seconds(process: int) -> float:
    """The processor time of a process and all below it, those that have ended included."""
    total = 0
    for each in (process, *children(process)):
        # The name of a program may hold spaces and brackets.
        fields = text_of(f"/proc/{each}/stat").rpartition(")")[2].split()
        total += sum(map(int, fields[11:15]))
    return total / _TICKS
