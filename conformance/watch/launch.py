"""Running the job: decides what reaches it of signals, and what its end means."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from conformance.watch.family import Family
from conformance.watch.folder import stopped

# What is left of a job when it was stopped politely has so long to end by itself, and so long after SIGTERM.
_PATIENCE, _TERMINATION = 60.0, 20.0
# A job that asks for no batch can't be stopped politely: so long after --seconds it is ended.
_LATE = 20.0
_LOOK = 0.2
NOT_FOUND = 127


@dataclass(frozen=True)
class Ended:
    """How the job ended: as a shell tells it; whether it was stopped because enough was seen; and why it was ended by a
    signal, if it had to be. `pid` is that of the command.
    """

    code: int
    stopped: bool
    forced: str = ""
    pid: int = 0


class NoProgram(OSError):
    """The command's first word is no program that can be run."""


def run(words: Sequence[str], environment: Mapping[str, str], folder: Path, deadline: float | None = None) -> Ended:
    """Run the job to its end, with this process's own input and output. NoProgram if there is none of that name.

    `deadline`, in seconds since 1970, is when it should have stopped politely.
    """
    try:
        job = subprocess.Popen(words, env=dict(environment))
    except OSError as error:
        raise NoProgram(f"{words[0]} can't be run: {error.strerror}") from error
    with _signals(job):
        code, forced = _waited(job, folder, deadline)
    return Ended(128 - code if code < 0 else code, stopped(folder) or bool(forced), forced, job.pid)


def _waited(job: "subprocess.Popen[bytes]", folder: Path, deadline: float | None) -> tuple[int, str]:
    """The job's exit code, and why it was ended by a signal, if it was."""
    polite: float | None = None
    while True:
        try:
            return job.wait(_LOOK), ""
        except subprocess.TimeoutExpired:
            if polite is None and stopped(folder):
                polite = time.time()
        if polite is not None and time.time() > polite + _PATIENCE:
            return _ended(job), f"some of its processes did not end in the {_PATIENCE:g} s after others had stopped"
        if polite is None and deadline is not None and time.time() > deadline + _LATE:
            return _ended(job), f"none of its processes asked for a batch in the {_LATE:g} s after --seconds"


def _ended(job: "subprocess.Popen[bytes]") -> int:
    """End the job and all that it started; its exit code."""
    family = Family(job.pid)
    family.signal(signal.SIGTERM)
    until = time.monotonic() + _TERMINATION
    with suppress(subprocess.TimeoutExpired):
        job.wait(_TERMINATION)
    family.end(until - time.monotonic())
    return job.wait()


@contextmanager
def _signals(job: "subprocess.Popen[bytes]") -> Iterator[None]:
    """Ctrl-C reaches the job from the terminal, and SIGTERM from here; this process goes on to the report."""

    def forward(number: int, frame: FrameType | None) -> None:
        job.send_signal(number)

    before = {
        signal.SIGINT: signal.signal(signal.SIGINT, lambda number, frame: None),
        signal.SIGTERM: signal.signal(signal.SIGTERM, forward),
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.stdout.flush()
