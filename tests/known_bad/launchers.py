"""Launchers with one fault each (chapter 7)."""

import contextlib
import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import IO, Any

from tests.known_bad.correct import SHORT, Correct
from tests.known_bad.launching import Launcher, kill


class NumbersFromOne(Launcher):
    """Instances are numbered from 1. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n1,w1,b1,launch"

    def environment(self, index: int, replicas: int, instances: int) -> dict[str, int]:
        return super().environment(index, replicas, instances) | {"instance": index + 1}


class StartsOneTooFew(Launcher):
    """The last instance is not started. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n2,w2,b1,launch"

    def start(self, index: int, replicas: int, instances: int, program: list[str]) -> "subprocess.Popen[bytes]":
        if instances > 1 and index == instances - 1:
            program = [sys.executable, "-c", ""]
        return super().start(index, replicas, instances, program)


class ExpandsArguments(Launcher):
    """The command line goes through a shell that replaces names by what they stand for. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n1,w1,b1,launch"

    def words(self, program: list[str]) -> list[str]:
        return [os.path.expandvars(word) for word in program]


class DropsEmptyArguments(Launcher):
    """An argument that is empty is left out. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n1,w1,b1,launch"

    def words(self, program: list[str]) -> list[str]:
        return [word for word in program if word]


class BeginsOneReplicaLate(Launcher):
    """The offset of an instance's replicas is one too high, but for the first instance. (No public report.)"""

    clause, smallest = "LAUNCH-2", "n2,w2,b1,launch"

    def environment(self, index: int, replicas: int, instances: int) -> dict[str, int]:
        told = super().environment(index, replicas, instances)
        return told | {"first_replica": told["first_replica"] + (index > 0)}


class OffsetIsTheIndex(Launcher):
    """An instance's replicas begin at its index, which is right for one replica each only. (No public report.)"""

    clause, smallest = "LAUNCH-2", "n6,w3,b1,launch"

    def environment(self, index: int, replicas: int, instances: int) -> dict[str, int]:
        return super().environment(index, replicas, instances) | {"first_replica": index}


class EachDrivesAll(Launcher):
    """Every instance takes itself for the one that drives all replicas. (No public report.)"""

    clause, smallest = "LAUNCH-2", "n2,w2,b1,launch"

    def environment(self, index: int, replicas: int, instances: int) -> dict[str, int]:
        return super().environment(index, replicas, instances) | {"local_replicas": replicas}


class RoundsReplicasDown(Launcher):
    """Replicas that can't be shared out are left away. (No public report.)"""

    clause, smallest = "LAUNCH-3", "n1,w2,b1,launch"

    def refused(self, replicas: int, instances: int) -> bool:
        return False


class RefusesWithoutAReason(Launcher):
    """The error does not say what can't be shared out. (No public report.)"""

    clause, smallest = "LAUNCH-3", "n1,w2,b1,launch"

    def main(self, replicas: int, instances: int, program: list[str]) -> int:
        return 2 if self.refused(replicas, instances) else super().main(replicas, instances, program)


class EachLoadsEverything(Launcher):
    """The script's loader does not know of the job, so each instance sees all samples. (No public report.)"""

    clause, smallest = "LAUNCH-4", "n2,w2,b1,launch"

    @classmethod
    def load(cls, request: Any) -> Any:
        whole = type(request)(**{**vars(request), "rank": 0, "world_size": 1})
        return Correct(whole)


class LeavesTheOthers(Launcher):
    """When an instance fails the launcher ends, and the others run on. (No public report.)"""

    grace = SHORT
    clause, smallest = "LAUNCH-6", "n2,w2,b1,s7,launch,with=fails"

    def clean(self) -> None:
        if not any(job.poll() for job in self.jobs):
            return super().clean()
        # Whoever still writes keeps the readers waiting.
        os._exit(self.code_of(next(code for job in self.jobs if (code := job.poll()))))


class KillsInstancesOnly(Launcher):
    """What the instances had started is left. (No public report.)"""

    grace = SHORT
    clause, smallest = "LAUNCH-6", "n3,w3,b1,s1,launch,with=fails+child"
    related = ("LAUNCH-7",)

    def end(self, job: "subprocess.Popen[bytes]") -> None:
        kill(job.pid)

    def clean(self) -> None:
        self.end_instances()
        self.leave_children()


class KillsGroupsOnly(Launcher):
    """A child that has left its instance's group is left behind. (No public report.)"""

    grace = SHORT
    clause, smallest = "LAUNCH-6", "n2,w2,b1,launch,with=child+apart"

    def clean(self) -> None:
        self.end_instances()
        self.leave_children()


class DiesOfASignal(Launcher):
    """A signal ends the launcher at once, and its instances run on. (No public report.)"""

    grace = SHORT
    clause, smallest = "LAUNCH-7", "n2,w2,b1,launch,with=term+child"

    def stop(self, number: int, frame: Any) -> None:
        os._exit(128 + number)


class StoppedIsDone(Launcher):
    """A launcher that was stopped has exit code 0. (No public report.)"""

    clause, smallest = "LAUNCH-7", "n2,w2,b1,launch,with=term+child"

    def supervise(self) -> int:
        code = super().supervise()
        return 0 if self.stopped else code


class PassesOnPieces(Launcher):
    """What has come is passed on with a tag, whether or not it is a whole line. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        while piece := os.read(stream.fileno(), 1000):
            self.write(target, self.tagged(index, name) + piece + b"\n")


class LosesTheLastLine(Launcher):
    """A last line without an end does not come out. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        for line in stream:
            if line.endswith(b"\n"):
                self.write(target, self.tagged(index, name) + line)


class MixesStreams(Launcher):
    """What goes to stderr comes out on stdout. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        super().pass_on(index, name, stream, sys.stdout.buffer)


class CutsLongLines(Launcher):
    """A line is read up to 65,536 characters, and the rest as another line. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        while line := stream.readline(65_536):
            self.write(target, self.tagged(index, name) + line.removesuffix(b"\n") + b"\n")


class EndsLinesAtReturns(Launcher):
    """Lines are read as text, in which a return ends one: a bar of progress is many. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        for line in io.TextIOWrapper(stream, "utf-8", "surrogateescape"):
            text = line.removesuffix("\n").encode("utf-8", "surrogateescape")
            self.write(target, self.tagged(index, name) + text + b"\n")


class SplitsAtEverySeparator(Launcher):
    """`str.splitlines` takes a dozen characters for the end of a line, a form feed among them. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        for line in stream:
            for part in line.decode("utf-8", "surrogateescape").replace("\r", "").splitlines():
                text = part.encode("utf-8", "surrogateescape")
                self.write(target, self.tagged(index, name) + text + b"\n")


class PassesOnTextAlone(Launcher):
    """A line that is no UTF-8 is left out, so that its reader need not fail. (No public report.)"""

    clause, smallest = "LAUNCH-8", "n2,w2,b1,launch,with=lines"

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        for line in stream:
            with contextlib.suppress(UnicodeDecodeError):
                text = line.removesuffix(b"\n").decode().encode()
                self.write(target, self.tagged(index, name) + text + b"\n")


class LetsTheScriptSet(Launcher):
    """The script sets its replicas, and nobody objects. (No public report.)"""

    clause, smallest = "LAUNCH-9", "n1,w1,b1,launch"

    @classmethod
    def settings(cls) -> dict[str, Callable[[], object]]:
        return {"replicas": lambda: None}


class NamesNoSetting(Launcher):
    """Settings are claimed to be the launcher's, and none is named. (No public report.)"""

    clause, smallest = "LAUNCH-9", "n1,w1,b1,launch"

    @classmethod
    def settings(cls) -> dict[str, Callable[[], object]]:
        return {}


class RefusesWithoutAName(Launcher):
    """The error does not say what can't be set. (No public report.)"""

    clause, smallest = "LAUNCH-9", "n1,w1,b1,launch"

    @classmethod
    def set_replicas(cls) -> None:
        raise RuntimeError("not allowed")
