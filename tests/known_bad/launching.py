"""A correct launcher on the standard library alone: decides what the bad ones of chapter 7 change.

`main` goes through `refused`, `start` for each instance, `pass_on` for each of their streams, `supervise` and `clean`.
"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, ClassVar

from tests.known_bad.correct import Correct, KnownBad

_ROOT = Path(__file__).parents[2]
_BEGIN = (
    "import sys; sys.path.insert(0, sys.argv[1]); from importlib import import_module; "
    "sys.exit(getattr(import_module(sys.argv[2]), sys.argv[3]).run(*map(int, sys.argv[4:6]), sys.argv[6:]))"
)
_one_line = threading.Lock()
_SUBREAPER = 36  # prctl: the children of children that have ended become this process's own


class Launcher(KnownBad):
    """One job, in the process of the launcher; the class is the adapter."""

    claims: ClassVar[dict[str, Any]] = dict(launcher="settings", when_dropping="drop")
    families = ("launch",)

    @classmethod
    def load(cls, request: Any) -> Any:
        """The loader of an instance."""
        return Correct(request)

    @classmethod
    def launch(cls, program: Sequence[str], replicas: int, instances: int) -> list[str]:
        """The command line of this launcher."""
        place = [str(_ROOT), cls.__module__, cls.__name__]
        return [sys.executable, "-c", _BEGIN, *place, str(replicas), str(instances), *program]

    @classmethod
    def whoami(cls) -> dict[str, int]:
        """What an instance knows from its environment."""
        names = ("instance", "instances", "replicas", "local_replicas", "first_replica")
        return {name: int(os.environ[f"JOB_{name.upper()}"]) for name in names}

    @classmethod
    def settings(cls) -> dict[str, Callable[[], object]]:
        """What a script may not set."""
        return {"replicas": cls.set_replicas}

    @classmethod
    def set_replicas(cls) -> None:
        """LAUNCH-9: an error that names the setting."""
        raise RuntimeError("replicas are the launcher's to set; leave them out of the script")

    @classmethod
    def run(cls, replicas: int, instances: int, program: list[str]) -> int:
        """The launcher's process."""
        return cls.__new__(cls).main(replicas, instances, program)

    def main(self, replicas: int, instances: int, program: list[str]) -> int:
        """Run the job. Its exit code."""
        if self.refused(replicas, instances):
            print(f"{replicas} replicas can't be shared out to {instances} instances", file=sys.stderr)
            return 2
        ctypes.CDLL(None).prctl(_SUBREAPER, 1)
        self.stopped = 0
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        self.jobs = [self.start(index, replicas, instances, program) for index in range(instances)]
        readers = [
            threading.Thread(target=self.pass_on, args=(index, name, getattr(job, name), getattr(sys, name).buffer))
            for index, job in enumerate(self.jobs)
            for name in ("stdout", "stderr")
        ]
        for reader in readers:
            reader.start()
        self.code = self.supervise()
        self.clean()
        for reader in readers:
            reader.join()
        return self.code

    def refused(self, replicas: int, instances: int) -> bool:
        """LAUNCH-3."""
        return replicas % instances != 0

    def stop(self, number: int, frame: Any) -> None:
        """LAUNCH-7: it ends with its instances."""
        self.stopped = number

    def environment(self, index: int, replicas: int, instances: int) -> dict[str, int]:
        """LAUNCH-1, LAUNCH-2: what an instance is told."""
        local = replicas // instances
        return dict(
            instance=index, instances=instances, replicas=replicas, local_replicas=local, first_replica=index * local
        )

    def start(self, index: int, replicas: int, instances: int, program: list[str]) -> "subprocess.Popen[bytes]":
        """Start an instance in a group of its own."""
        told = self.environment(index, replicas, instances)
        variables = {f"JOB_{name.upper()}": str(value) for name, value in told.items()}
        return subprocess.Popen(
            self.words(program),
            env={**os.environ, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def words(self, program: list[str]) -> list[str]:
        """The instance's command line."""
        return program

    def pass_on(self, index: int, name: str, stream: IO[bytes], target: IO[bytes]) -> None:
        """LAUNCH-8: each line with its tag."""
        for line in stream:
            end = b"" if line.endswith(b"\n") else b"\n"
            self.write(target, self.tagged(index, name) + line + end)

    def write(self, target: IO[bytes], line: bytes) -> None:
        """Write a line that no other comes between; a pipe takes 65,536 bytes at once."""
        with _one_line:
            target.write(line)
            target.flush()

    def tagged(self, index: int, name: str) -> bytes:
        """What stands before a line."""
        return f"[1,{index}]<{name}>:".encode()

    def supervise(self) -> int:
        """LAUNCH-5, LAUNCH-6: wait until all have ended, or one has failed, or a signal came. The exit code."""
        while not self.stopped:
            codes = [job.poll() for job in self.jobs]
            if failed := [code for code in codes if code]:
                return self.code_of(failed[0])
            if None not in codes:
                return 0
            time.sleep(0.01)
        return 128 + self.stopped

    def code_of(self, code: int) -> int:
        """The launcher's exit code for an instance's that is not 0."""
        return code if code > 0 else 128 - code

    def clean(self) -> None:
        """End what still runs: instances with their groups, then whatever has become a child of this process."""
        self.end_instances()
        while own := self.own_children():
            for pid in own:
                kill(pid)
                with suppress(ChildProcessError):
                    os.waitpid(pid, 0)

    def end_instances(self) -> None:
        """End all instances."""
        for job in self.jobs:
            self.end(job)
            job.wait()

    def end(self, job: "subprocess.Popen[bytes]") -> None:
        """End an instance and its group."""
        kill(job.pid, group=True)

    def leave_children(self) -> None:
        """What a bad one does instead: it ends without waiting for what they still write."""
        if self.own_children():
            os._exit(self.code)

    def own_children(self) -> list[int]:
        """The children of this process."""
        return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def kill(pid: int, group: bool = False) -> None:
    """End a process, or its group, if it is still there."""
    with suppress(ProcessLookupError):
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)


class TakesTheProgramsOptions(Launcher):
    """What the program is given and the launcher has a name for is the launcher's. (No public report.)"""

    clause, smallest = "LAUNCH-1", "n1,w1,b1,launch"

    def start(self, index: int, replicas: int, instances: int, program: list[str]) -> "subprocess.Popen[bytes]":
        mine = ("--replicas", "--instances=1")
        return super().start(index, replicas, instances, [word for word in program if word not in mine])
