"""Checking targets: decides how set-ups are run, one after the other, each rank in a warm program (`ranks.py`)."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.watch.options import Options, environment
from conformance.watch.targets import SetUp, Unfit

_STOPS = 20.0


class Ranks:
    """The programs that read targets, one a rank, begun when a set-up needs them. Use `ranks`.

    `parameters` and `length` are of the target that was read last.
    """

    def __init__(self, options: Options, patience: float, folder: Path) -> None:
        self._environment = environment(folder, options, dict(os.environ))
        self._patience = patience
        self._folder = folder
        self._programs: list[subprocess.Popen[str]] = []
        self.parameters: frozenset[str] = frozenset()
        self.length: int | None = None

    def record(self, target: str, setup: SetUp, folder: Path) -> None:
        """Read a target in a set-up, into a folder that is emptied first. Unfit if a rank could not."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        self._start(setup.world_size)
        with tempfile.TemporaryDirectory(dir=self._folder) as meeting:
            where: dict[str, Any] = {"folder": str(folder), "port": _free_port(), "meeting": meeting}
            where |= {"patience": self._patience, "deadline": time.time() + self._patience}
            asked = {"target": target, **where, **asdict(setup)}
            for rank, program in enumerate(self._programs[: setup.world_size]):
                _say(program, json.dumps({**asked, "rank": rank}))
            answers = [_heard(program) for program in self._programs[: setup.world_size]]
        if not all(answers):
            raise Unfit("the program that reads targets has died: what it said last stands above")
        ends = sorted((json.loads(answer) for answer in answers), key=lambda end: float(end["when"]))
        # The first reason is not that another rank has gone.
        failed = [end["reason"] for end in ends if end["reason"]]
        if failed:
            raise Unfit(failed[0])
        nothing: dict[str, Any] = {"parameters": (), "length": None}
        about: dict[str, Any] = next((end["about"] for end in ends if end["about"]), nothing)
        self.parameters, self.length = frozenset(about["parameters"]), about["length"]

    def _start(self, ranks: int) -> None:
        """Have a program for each rank. They import torch side by side, and none waits for another in a set-up."""
        new = [self._program(rank) for rank in range(len(self._programs), ranks)]
        self._programs += new
        for program in new:
            _heard(program)

    def _program(self, rank: int) -> "subprocess.Popen[str]":
        # In each interpreter that a launcher starts hash() of a text is another number. Here it is that in every run.
        told = {"PYTHONHASHSEED": str(rank + 1), **self._environment}
        words = [sys.executable, "-m", "conformance.watch.ranks"]
        return subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=told)

    def close(self) -> None:
        """End the programs."""
        for program in self._programs:
            assert program.stdin is not None
            with suppress(BrokenPipeError):
                program.stdin.close()
        for program in self._programs:
            assert program.stdout is not None
            try:
                program.wait(_STOPS)
            except subprocess.TimeoutExpired:
                program.kill()
                program.wait()
            program.stdout.close()


def _say(program: "subprocess.Popen[str]", line: str) -> None:
    assert program.stdin is not None
    with suppress(BrokenPipeError):  # then it gives no answer
        program.stdin.write(line + "\n")
        program.stdin.flush()


def _heard(program: "subprocess.Popen[str]") -> str:
    assert program.stdout is not None
    return program.stdout.readline()


@contextmanager
def ranks(options: Options, patience: float) -> Iterator[Ranks]:
    """The warm programs; they have ended when this is left. `patience` is in seconds, for one set-up."""
    with tempfile.TemporaryDirectory() as folder:
        running = Ranks(options, patience, Path(folder))
        try:
            yield running
        finally:
            running.close()


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port
