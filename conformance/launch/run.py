"""One launch: decides how the launcher is started, watched, signalled and ended, and what is written down of it.

Nothing that differs from run to run (a process id, a time, a path) goes into the trace.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from conformance.contract import Implementation
from conformance.launch import lines as launch_lines
from conformance.launch import probe as launch_probe
from conformance.loader import patience
from conformance.processes import calls
from conformance.processes.calls import Remarks, Stopped
from conformance.processes.task import Task
from conformance.trace import Failure, RankRun

# What must arrive as it was given, though shells, launchers and their parsers have a use for it.
_OPTIONS = ("--replicas", "1", "--instances=1", "-n", "1", "-h", "-m", "--")
WORDS = ("a b", "$HOME", "${rank}", "", "--num-replicas", "*", *_OPTIONS)
SAMPLES = 50  # of the epoch that instances load
LONGEST = 120.0  # seconds that a launch may take
_SIGNALS = {"term": signal.SIGTERM, "int": signal.SIGINT}
_ASKS = ("fails", "killed", "lines")
# What torch.distributed's launchers tell an instance, here the second of four.
_WITHIN = {"RANK": "1", "LOCAL_RANK": "1", "WORLD_SIZE": "4", "LOCAL_WORLD_SIZE": "4"}


@dataclass
class _Output:
    """What came out of one stream of the launcher, taken as it came so that the launcher never waits for us."""

    stream: IO[bytes]
    parts: list[bytes] = field(default_factory=list)

    def start(self) -> threading.Thread:
        thread = threading.Thread(target=self._read, daemon=True)
        thread.start()
        return thread

    def _read(self) -> None:
        with suppress(OSError, ValueError):
            while part := os.read(self.stream.fileno(), 1 << 16):
                self.parts.append(part)

    @property
    def text(self) -> str:
        return b"".join(self.parts).decode("utf-8", "replace")


def perform(implementation: Implementation, task: Task, workdir: str) -> RankRun:
    """Launch the probe as the task says, wait for the end, and write down what was found."""
    folder = Path(workdir).resolve() / "launch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    remarks: Remarks = []
    failure: Failure | None = None
    try:
        _launch(implementation, task, folder, remarks)
    except Stopped as stopped:
        failure = stopped.failure
    finally:
        remarks += _what_started(folder)
    return RankRun(0, (), failure, remarks=tuple(remarks))


def _launch(implementation: Implementation, task: Task, folder: Path, remarks: Remarks) -> None:
    instances, replicas = task.scenario.instances, task.scenario.replicas
    orders = folder / "orders.json"
    orders.write_text(json.dumps(_orders(implementation, task, folder)), "utf-8")
    program = [sys.executable, str(Path(launch_probe.__file__)), str(orders), *WORDS]
    command = calls.called("launch", None, lambda: implementation.offers["launch"](program, replicas, instances))
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=folder,
            env={**os.environ, **_WITHIN} if "within" in task.scenario.happens else None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, TypeError) as error:
        raise Stopped("unusable", "launch", f"its command can't be started: {error}") from error
    assert process.stdout is not None
    assert process.stderr is not None
    outputs = [_Output(process.stdout), _Output(process.stderr)]
    readers = [output.start() for output in outputs]
    try:
        _signalled(process, task, folder)
        code = process.wait(LONGEST)
    except subprocess.TimeoutExpired as error:
        raise Stopped("hung", "launch", f"the launcher still ran after {LONGEST:g} s") from error
    finally:
        left = _ended(process, folder)
        # All that wrote is gone, so both streams end.
        for reader in readers:
            reader.join(patience.JOB_ENDS)
        process.stdout.close()
        process.stderr.close()
    remarks += [("exit", str(code)), *(("left", what) for what in left)]
    said = "\n".join(output.text for output in outputs)
    remarks.append(("named", " ".join(str(each) for each in (replicas, instances) if _names(said, each))))
    if "lines" in task.scenario.happens:
        tag = implementation.offers.get("tag", launch_lines.usual_tag)
        remarks += [("lines", each) for each in launch_lines.faults(outputs[0].text, outputs[1].text, instances, tag)]


def _orders(implementation: Implementation, task: Task, folder: Path) -> dict[str, Any]:
    plain = not set(task.scenario.happens) & {*_ASKS, "child", *_SIGNALS}
    asks = plain or bool(set(task.scenario.happens) & set(_ASKS))
    return {
        "does": sorted(task.scenario.happens),
        "implementation": implementation.name if asks else "",
        "path": sys.path,
        "folder": os.getcwd(),
        "meets": str(folder / "meets"),
        "samples": SAMPLES if plain else 0,
        "instances": task.scenario.instances,
        "code": task.scenario.exit_code,
    }


def _signalled(process: "subprocess.Popen[bytes]", task: Task, folder: Path) -> None:
    """Send the launcher the task's signal, once all instances have said that they run."""
    number = next((_SIGNALS[word] for word in _SIGNALS if word in task.scenario.happens), None)
    if number is None:
        return
    instances = task.scenario.instances
    launch_probe.wait_for(lambda: len(list(folder.glob("told-*.json"))) >= instances or process.poll() is not None)
    (folder / launch_probe.EVENT).touch()
    process.send_signal(number)


def _ended(process: "subprocess.Popen[bytes]", folder: Path) -> list[str]:
    """End all that was started. What the launcher had left, in the order of its kinds: ``instance``, ``child``."""
    if process.poll() is None:
        _kill(process.pid, group=True)
        process.wait()
    started = [(name, *which) for told in _read(folder, "started") for name, which in told.items()]
    running = [(name, pid) for name, pid, born in started if _runs(pid, born)]
    launch_probe.wait_for(
        lambda: not any(_runs(pid, born) for _, pid, born in started), patience.JOB_ENDS if running else 0
    )
    left = [(name, pid) for name, pid, born in started if _runs(pid, born)]
    for _, pid in left:
        _kill(pid)
    # Whatever else is in the launcher's own group.
    _kill(process.pid, group=True)
    return sorted({name for name, _ in left}, reverse=True)


def _runs(pid: int, born: str) -> bool:
    return bool(born) and launch_probe.birth(pid) == born


def _kill(pid: int, group: bool = False) -> None:
    with suppress(ProcessLookupError, PermissionError):
        (os.killpg if group else os.kill)(pid, signal.SIGKILL)


def _what_started(folder: Path) -> Remarks:
    """What the instances wrote down, in an order that does not depend on who was first."""
    told = sorted(json.dumps(each, sort_keys=True) for each in _read(folder, "told"))
    vain = [("vain", str(len(list(folder.glob("vain-*")))))] if list(folder.glob("vain-*")) else []
    return [("started", str(len(_read(folder, "started")))), *(("instance", each) for each in told), *vain]


def _read(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [json.loads(path.read_text("utf-8")) for path in folder.glob(f"{kind}-*.json")]


def _names(text: str, number: int) -> bool:
    return re.search(rf"(?<![\w.]){number}(?![\w.]*\d)", text) is not None
