"""A job's processes: decides which of them are ended when the job does not end by itself.

The job is in this program's group, so that the terminal reaches both; hence no group is signalled, but each descendant.
"""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

_LOOK = 0.05
# A process that waits for a disk is killed only when that answers.
_DEATH = 10.0


class Family:
    """A process and all that it started, as they are now. A process id that is used again is told by its start."""

    def __init__(self, root: int) -> None:
        alive = dict(everyone())
        self._members = {root: alive.get(root, (0, ""))[1]}
        grown = True
        while grown:
            born = {pid: start for pid, (parent, start) in alive.items() if parent in self._members}
            grown = not born.keys() <= self._members.keys()
            self._members |= born

    def signal(self, number: int) -> None:
        """Send a signal to all that are still there."""
        for pid in self._there():
            with contextlib.suppress(OSError):
                os.kill(pid, number)

    def end(self, patience: float) -> None:
        """Those that SIGTERM has not ended after so many seconds are killed."""
        if not self._gone_within(patience):
            self.signal(signal.SIGKILL)
            self._gone_within(_DEATH)

    def _gone_within(self, patience: float) -> bool:
        until = time.monotonic() + patience
        while self._there():
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK)
        return True

    def _there(self) -> list[int]:
        now = dict(everyone())
        return [pid for pid, start in self._members.items() if pid in now and now[pid][1] == start]


def everyone() -> list[tuple[int, tuple[int, str]]]:
    """Of each process that lives: its id, its parent's, and when it was started, in whichever unit."""
    if Path("/proc/self/stat").exists():
        found = [_from_proc(path) for path in Path("/proc").glob("[0-9]*/stat")]
        return [each for each in found if each is not None]
    done = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,lstart="], capture_output=True, text=True, check=False)
    lines = [line.split(None, 2) for line in done.stdout.splitlines()]
    return [(int(pid), (int(parent), start)) for pid, parent, start in lines]


def _from_proc(path: Path) -> tuple[int, tuple[int, str]] | None:
    try:
        # The name stands in brackets, and may hold anything.
        fields = path.read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    state, parent, start = fields[0], int(fields[1]), fields[19]
    return None if state in "ZX" else (int(path.parent.name), (parent, start))
