"""Runs python as a reader of the documents does, with the project on its path: decides what a test waits for."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INSTANCES = 4
# What starts a program as so many instances, with two replicas each.
POPRUN = ("-m", "reference.poprun", "--num-replicas", "8", "--num-instances", str(INSTANCES), sys.executable)
# A launch takes seconds on a quiet machine; this is for one that is not.
_PATIENCE = 400


def printed(*words: str, path: tuple[Path, ...] = ()) -> str:
    """What python prints that is started with these words, and with more folders to import from."""
    done = subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=_PATIENCE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (ROOT, *path))), "OMP_NUM_THREADS": "1"},
    )
    assert 0 == done.returncode, done.stdout + done.stderr
    return done.stdout
