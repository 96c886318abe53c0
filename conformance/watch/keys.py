"""Keys: decides how a worker learns for which epoch it makes batches, however it was started.

A worker may be forked, spawned or forked by a server that knows nothing of the loader. Its process id is known to both
sides, so the loader's process leaves the key in a file of that name, and the worker takes it away with its first batch.
"""

import contextlib
import os
import socket
from pathlib import Path


def leave_keys(folder: Path, pids: list[int], generation: int, key: str) -> None:
    """For each worker, and the so-manieth epoch of its life: the key of the epoch that begins."""
    (folder / "workers").mkdir(parents=True, exist_ok=True)
    for pid in pids:
        path = _path(folder, pid, generation)
        draft = path.with_suffix(".draft")
        draft.write_text(key)
        draft.rename(path)


def take_key(folder: Path, generation: int) -> str | None:
    """In a worker: the key of its epoch; None if there is none."""
    path = _path(folder, os.getpid(), generation)
    try:
        key = path.read_text()
    except OSError:
        return None
    with contextlib.suppress(OSError):
        path.unlink()
    return key


def _path(folder: Path, pid: int, generation: int) -> Path:
    return folder / "workers" / f"{socket.gethostname()}-{pid}-{generation}"
