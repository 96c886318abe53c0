"""What a script does with its ranks: decides how they are started, what is shown of them, and the exit code."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

ASKED = EXPECTED = ""
RANKS: list[Any] = []
RUNS: dict[str, dict[str, Any]] = {}
CASE = SimpleNamespace()
ATTEMPTS = 1


def check(case: SimpleNamespace, runs: dict[str, list[SimpleNamespace]]) -> str:
    """Stands for the check of the clause."""
    raise NotImplementedError


def main() -> None:
    """Run all ranks, show what they deliver, and say whether the fault lives."""
    for _ in range(ATTEMPTS):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
            runs = run_ranks(root, [name for name in RUNS if name != "again"], 0)  # only: together
            runs = {}  # only: saved
            for shift, name in enumerate(RUNS):  # only: saved
                runs |= run_ranks(root, [name], shift)  # only: saved
            runs |= run_ranks(root, ["again"], 1)  # only: again
        print(f"asked for {ASKED}; expected: {EXPECTED}; delivered:", *delivered(runs), sep="\n  ", flush=True)
        failures = [rank.failure for ranks in runs.values() for rank in ranks if rank.failure]  # only: complete
        if failures:  # only: complete
            give_up(f"a rank {failures[0].kind} ({failures[0].message})")  # only: complete
        if not any(getattr(rank, "broken", True) for rank in runs["main"]):  # only: fault
            give_up("the fault that the case asks for did not happen")  # only: fault
        fault = check(CASE, runs)
        if fault:
            print(f"still violated: {fault}")
            sys.exit(1)
    print("fixed")
    sys.exit(0)


def run_ranks(root: str, names: list[str], shift: int) -> dict[str, list[SimpleNamespace]]:
    """Start every rank at the same time, in a process of its own, and gather what came, by run and rank."""
    started = []
    for position in range(len(RANKS)):
        folder = f"{root}/rank-{position}-{shift}"
        os.mkdir(folder)
        # Ranks differ in their hash seed, as the processes of a real job do.
        environment = {**os.environ, "PYTHONHASHSEED": str(1 + (position + shift) % 2), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, __file__, str(position), folder, *names]
        nothing = subprocess.DEVNULL
        started.append((folder, subprocess.Popen(command, env=environment, stdin=nothing, start_new_session=True)))
    noted = [gather(folder, process, len(names)) for folder, process in started]
    for runs in noted:
        if hasattr(runs[0], "impossible"):
            give_up(runs[0].impossible)
    return {name: [runs[at] for runs in noted] for at, name in enumerate(names)}


def gather(folder: str, process: subprocess.Popen[bytes], expected: int) -> list[SimpleNamespace]:
    """What a rank's process noted of each run. One that did not come to its end died, or was stopped by its timer."""
    code = process.wait()
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # the workers that a loader leaves behind
    lines = Path(folder, "result").read_text().splitlines()
    noted = [json.loads(line, object_hook=lambda fields: SimpleNamespace(**fields)) for line in lines]
    failure = SimpleNamespace(kind="died or hung", message=f"its process ended with code {code}")
    return noted + [SimpleNamespace(epochs=[], failure=failure)] * (expected - len(noted))


def delivered(runs: dict[str, list[SimpleNamespace]]) -> list[str]:
    """What came, a line for each rank and epoch of each run."""
    lines = []
    for name, ranks in runs.items():
        for position, rank in enumerate(ranks):
            for epoch in rank.epochs:
                steps = " | ".join(" ".join(map(str, step)) for step in epoch.steps) or "(no steps)"
                lines.append(f"{name}, epoch {epoch.number}, rank {position}: {steps}"[:100])
                if epoch.failure:  # only: consumer
                    lines.append(f"    then {epoch.failure.kind} ({epoch.failure.message})")  # only: consumer
            if rank.failure:
                lines.append(f"{name}, rank {position}: {rank.failure.kind} ({rank.failure.message})")
    return lines[:20] + [f"... and {len(lines) - 20} more lines"] * (len(lines) > 20)


def give_up(sentence: str) -> None:
    """End without an answer."""
    print(f"this script can't judge: {sentence}", file=sys.stderr)
    sys.exit(2)
