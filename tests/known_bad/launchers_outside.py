"""Launchers that are wrong with what they are given: variables that are there, and text in pieces (chapter 7)."""

import os
import subprocess
import time
from typing import IO

from tests.known_bad.launching import Launcher


class KeepsAnOuterRank(Launcher):
    """What the environment has is kept: a job within a job has the rank of the outer one. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n2,w2,b1,launch,with=within"

    @classmethod
    def whoami(cls) -> dict[str, int]:
        index, instances = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        local = int(os.environ["JOB_REPLICAS"]) // instances
        replicas = dict(replicas=local * instances, local_replicas=local, first_replica=index * local)
        return dict(instance=index, instances=instances, **replicas)

    def start(self, index: int, replicas: int, instances: int, program: list[str]) -> "subprocess.Popen[bytes]":
        for name, value in (("RANK", index), ("WORLD_SIZE", instances)):
            program = ["env", f"{name}={os.environ.get(name, value)}", *program]
        return super().start(index, replicas, instances, program)


class DecodesEachPiece(Launcher):
    """What has come is decoded as it comes, and a character that was cut in two is none. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        text = "".join(iter(lambda: os.read(stream.fileno(), 65_536).decode("utf-8", "replace"), ""))
        for line in text.removesuffix("\n").split("\n"):
            self.write(target, self.tagged(index, name) + line.encode() + b"\n")


class ReadsOnceMoreAtTheEnd(Launcher):
    """Pipes are looked at now and then, and once more at the end: 16 KiB of 64 that they hold. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        os.set_blocking(stream.fileno(), False)
        text = b""
        while self.jobs[index].poll() is None:
            time.sleep(0.01)
            text += self.what_is_there(stream)
        text += self.what_is_there(stream)
        for line in text.removesuffix(b"\n").split(b"\n"):
            self.write(target, self.tagged(index, name) + line + b"\n")

    def what_is_there(self, stream: IO[bytes]) -> bytes:
        """What has been written, or a part of it."""
        try:
            return os.read(stream.fileno(), 16_384)
        except BlockingIOError:
            return b""
