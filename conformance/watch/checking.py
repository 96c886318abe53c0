"""Checking a target: decides how set-ups are run, one after the other, in ranks of one warm program (`ranks.py`)."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from conformance.watch.options import Options, environment
from conformance.watch.targets import SetUp, Unfit

_STOPS = 20.0


class Ranks:
    """The program that reads a target in set-ups. Use `ranks`. What can be chosen is known when the first was read."""

    def __init__(self, program: "subprocess.Popen[str]", patience: float) -> None:
        self._program = program
        self._patience = patience
        self.parameters: frozenset[str] = frozenset()
        self.length: int | None = None

    def record(self, setup: SetUp, folder: Path) -> None:
        """Read the target in a set-up, into a folder that is emptied first. Unfit if a rank could not."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        asked = {
            "folder": str(folder),
            "port": _free_port(),
            "deadline": time.time() + self._patience,
            **asdict(setup),
        }
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        try:
            self._program.stdin.write(json.dumps(asked) + "\n")
            self._program.stdin.flush()
            answer = self._program.stdout.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            raise Unfit("the program that reads the target has died: what it said last stands above")
        told = json.loads(answer)
        if told["failed"]:
            raise Unfit(told["failed"][0])
        self.parameters, self.length = frozenset(told["parameters"]), told["length"]


@contextmanager
def ranks(target: str, options: Options, patience: float) -> Iterator[Ranks]:
    """The warm program for a target; it has ended when this is left. `patience` is in seconds, for one set-up."""
    with tempfile.TemporaryDirectory() as folder:
        program = subprocess.Popen(
            [sys.executable, "-m", "conformance.watch.ranks", target],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(Path(folder), options, dict(os.environ)),
        )
        try:
            yield Ranks(program, patience)
        finally:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.close()
            try:
                program.wait(_STOPS)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            program.stdout.close()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
