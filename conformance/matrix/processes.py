"""The processes of a matrix: decides how long one may take, and that none outlives the command.

Each runs in a session of its own, so that it is ended with all that it has started, from whichever thread.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Ran:
    """How a process ended: its exit code, or None if it was ended because its time was over; and what it printed."""

    code: int | None
    output: str

    def last_words(self, in_time: str) -> str:
        """The last line that it printed; `in_time` if its time was over."""
        if self.code is None:
            return in_time
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1][:300] if lines else f"exit code {self.code}"


class Processes:
    """Those that are running now. `end_all` may be called from another thread."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._over = False

    @property
    def ended(self) -> bool:
        """Whether `end_all` was called."""
        return self._over

    def run(
        self,
        command: Sequence[str],
        seconds: float,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Ran:
        """Run a command to its end, or to that of its time."""
        # A file, and not a pipe: a process that inherits a pipe and lives on keeps its reader waiting.
        with tempfile.TemporaryFile() as output:
            with self._lock:
                if self._over:
                    return Ran(None, "")
                process = subprocess.Popen(
                    command,
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(process)
            try:
                code: int | None = process.wait(seconds)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _end(process)
                with self._lock:
                    self._running.discard(process)
            output.seek(0)
            return Ran(code, output.read().decode(errors="replace"))

    def end_all(self) -> None:
        """End what is running, and start nothing any more."""
        with self._lock:
            self._over = True
            for process in self._running:
                _kill(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    _kill(process)
    process.wait()


def _kill(process: "subprocess.Popen[bytes]") -> None:
    # Its session may go on when it has ended itself.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
