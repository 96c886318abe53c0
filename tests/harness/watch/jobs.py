"""Runs jobs under the hook of `watch`, and gives what is found in their records."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from conformance.audit.verdict import Verdict, audit_folder
from conformance.watch.options import FOLDER, Options, environment
from conformance.watch.options import OPTIONS as TOLD

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = ROOT / "specs" / "examples" / "watch"
_FORKED = Path(__file__).parent / "forked.py"


class Jobs:
    """Scripts are started one after the other, by a program that has imported torch already. Use `jobs`."""

    def __init__(self, program: "subprocess.Popen[str]") -> None:
        self._program = program

    def run(
        self, script: Path, folder: Path, ranks: int = 1, words: Sequence[str] = (), options: Options | None = None
    ) -> list[int]:
        """Run a script as a job of so many ranks, recorded into a folder; the exit codes of its ranks."""
        folder.mkdir(parents=True, exist_ok=True)
        variables = {FOLDER: str(folder)}
        if options is not None:
            variables[TOLD] = environment(folder, options, {})[TOLD]
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        self._program.stdin.write(json.dumps([str(script), ranks, free_port(), list(words), variables]) + "\n")
        self._program.stdin.flush()
        return list(json.loads(self._program.stdout.readline()))


@contextmanager
def jobs(folder: Path) -> Iterator[Jobs]:
    """The program that starts jobs; it has ended when this is left."""
    made = {**environment(folder, Options(), dict(os.environ)), "OMP_NUM_THREADS": "1"}
    # The tests may run in a clone that is not the one that is installed.
    made["PYTHONPATH"] += os.pathsep + str(ROOT)
    program = subprocess.Popen(
        [sys.executable, str(_FORKED)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=made
    )
    assert program.stdin is not None
    assert program.stdout is not None
    try:
        yield Jobs(program)
    finally:
        program.stdin.close()
        program.wait(60)
        program.stdout.close()


def found(verdict: Verdict) -> list[tuple[str, str]]:
    """The findings of a verdict: each with where it is, as ``train.py:9``."""
    return [(finding.id, f"{Path(finding.file).name}:{finding.line}") for finding in verdict.findings]


def judged(folder: Path) -> Verdict:
    """What is found in a record."""
    return audit_folder(folder)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
