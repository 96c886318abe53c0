"""Running the job: decides what reaches it of signals, and what its end means."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from conformance.watch.folder import stopped

# What is left of a job when it was stopped politely has so long to end by itself, and so long after SIGTERM.
_PATIENCE = 60.0
_LOOK = 0.2
NOT_FOUND = 127


@dataclass(frozen=True)
class Ended:
    """How the job ended: as a shell tells it, and whether it was stopped because enough was seen."""

    code: int
    stopped: bool


class NoProgram(OSError):
    """The command's first word is no program that can be run."""


def run(words: Sequence[str], environment: Mapping[str, str], folder: Path) -> Ended:
    """Run the job to its end, with this process's own input and output. NoProgram if there is none of that name."""
    try:
        job = subprocess.Popen(words, env=dict(environment))
    except OSError as error:
        raise NoProgram(f"{words[0]} can't be run: {error.strerror}") from error
    with _signals(job):
        code = _waited(job, folder)
    return Ended(128 - code if code < 0 else code, stopped(folder))


def _waited(job: "subprocess.Popen[bytes]", folder: Path) -> int:
    since: float | None = None
    terms = 0
    while True:
        try:
            return job.wait(_LOOK)
        except subprocess.TimeoutExpired:
            if since is None and stopped(folder):
                since = time.monotonic()
        if since is not None and time.monotonic() - since > _PATIENCE * (terms + 1):
            # One rank has stopped, and the others wait for it.
            job.terminate() if terms == 0 else job.kill()
            terms += 1


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


def shell_words() -> dict[str, str]:
    """The environment that a job would have without us."""
    return dict(os.environ)
