"""poprun starts instances, tells each who it is, and ends with them: seen from outside, as a shell sees it."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
POPRUN = [sys.executable, "-m", "reference.poprun"]
# Starting takes seconds on a quiet machine; this is for one that is not.
PATIENCE = 200
WORDS = ["a b", "$HOME", "${local_rank}", "$$", ""]
# Writes down who it is and what it was given.
TELL = """
import json, os, sys
sys.path.append(os.environ["ROOT"])
import poptorch, popdist, popdist.poptorch
options = popdist.poptorch.Options()
place = [popdist.getInstanceIndex(), popdist.getNumInstances(), popdist.getNumTotalReplicas(),
         popdist.getNumLocalReplicas(), popdist.getReplicaIndexOffset(), options.replication_factor]
print(json.dumps([place, sys.argv[1:]]))
print("odd" if place[0] else "even", end="", file=sys.stderr)
"""
# Instance 1 does as it is told once all are there; the others wait. Each has a child in a session of its own.
WAIT = """
import os, pathlib, signal, subprocess, sys, time
folder, last, index = pathlib.Path(sys.argv[1]), sys.argv[2], int(os.environ["RANK"])
child = subprocess.Popen(["sleep", "600"], start_new_session=True)
signal.signal(signal.SIGTERM, lambda *_: (print("told to end", flush=True), sys.exit(0)))
name = folder / str(index)
name.with_suffix(".new").write_text(f"{os.getpid()} {child.pid}")
name.with_suffix(".new").rename(name)
end = time.monotonic() + 300
while time.monotonic() < end and not (index == 1 and all((folder / str(each)).exists() for each in range(3))):
    time.sleep(0.05)
exec(last)
"""


def environment() -> dict[str, str]:
    """Without a launcher around, and with the project on the path."""
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "RANK", "WORLD_SIZE")}
    return {**kept, "PYTHONPATH": str(ROOT), "ROOT": str(ROOT)}


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """Run poprun to its end."""
    return subprocess.run(
        [*POPRUN, *words], capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment()
    )


@pytest.fixture(scope="module")
def told() -> subprocess.CompletedProcess[str]:
    """Two instances that say who they are, and what they were given."""
    return run("--num-replicas", "4", "--num-instances", "2", sys.executable, "-c", TELL, *WORDS)


def said(told: subprocess.CompletedProcess[str], index: int) -> list[object]:
    """What an instance has said."""
    (line,) = [line for line in told.stdout.splitlines() if line.startswith(f"[1,{index}]<stdout>:")]
    found: list[object] = json.loads(line.partition(":")[2])
    return found


@pytest.mark.parametrize("index", [0, 1])
def test_each_instance_knows_its_place_and_gets_its_words(told: subprocess.CompletedProcess[str], index: int) -> None:
    """Two instances, two replicas each, arguments as they were given (LAUNCH-1, LAUNCH-2)."""
    assert [[index, 2, 4, 2, 2 * index, 2], WORDS] == said(told, index), told.stderr


def test_streams_are_kept_apart(told: subprocess.CompletedProcess[str]) -> None:
    """The exit code is 0, and nothing else is said (LAUNCH-5, LAUNCH-8)."""
    assert 0 == told.returncode
    assert 2 == len(told.stdout.splitlines())
    assert ["[1,0]<stderr>:even", "[1,1]<stderr>:odd"] == sorted(told.stderr.splitlines())


def is_running(process: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        status = Path(f"/proc/{process}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


def survivors(folder: Path) -> list[int]:
    """Who is left of the instances and their children."""
    processes = [int(word) for index in range(3) for word in (folder / str(index)).read_text().split()]
    assert 6 == len(processes)
    return [process for process in processes if is_running(process)]


@pytest.mark.parametrize(
    ("last", "code", "sentence"),
    [
        ("sys.exit(7)", 7, "Instance 1 of 3 failed with exit code 7, so the others were ended"),
        ("os.kill(os.getpid(), signal.SIGKILL)", 137, "Instance 1 of 3 was ended by SIGKILL"),
    ],
)
def test_when_one_fails_the_others_end(tmp_path: Path, last: str, code: int, sentence: str) -> None:
    """The job has its exit code, and nobody is left (LAUNCH-5, LAUNCH-6)."""
    done = run("--num-instances", "3", sys.executable, "-c", WAIT, str(tmp_path), last)
    assert code == done.returncode, done.stderr
    assert sentence in done.stderr
    assert ["[1,0]<stdout>:told to end", "[1,2]<stdout>:told to end"] == sorted(done.stdout.splitlines())
    assert [] == survivors(tmp_path)


@pytest.mark.deep
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_who_stops_the_launcher_stops_its_instances(tmp_path: Path, number: signal.Signals, code: int) -> None:
    """Instance 1 stops it when all are there (LAUNCH-7)."""
    last = f"os.kill(os.getppid(), {int(number)}); time.sleep(300)"
    done = run("--num-instances", "3", sys.executable, "-c", WAIT, str(tmp_path), last)
    assert code == done.returncode, done.stderr
    assert f"poprun: {number.name} has come" in done.stderr
    assert [] == survivors(tmp_path)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--num-replicas", "3", "--num-instances", "2", "touch"], 2, "3 replicas can't be shared out to 2 instances"),
        (["no-such-program"], 127, "There is no program no-such-program"),
    ],
)
def test_what_is_refused_is_not_started(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    code: int,
    sentence: str,
) -> None:
    """The program would leave a file (LAUNCH-3)."""
    from reference.launch import launching
    from reference.poprun import main

    monkeypatch.setattr(launching, "run", lambda launch: pytest.fail("it was started"))
    assert code == main([*words, str(tmp_path / "started")])
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "started").exists()
