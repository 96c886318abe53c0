"""Ranks in processes of their own, joined by gloo: started once for each number, reused by all tests."""

import datetime
import multiprocessing
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from typing import Any

import torch.distributed as dist

PATIENCE = 60.0  # seconds after which a rank that says nothing counts as one that hangs
# Our ends of all lines. A fork copies them, and a copy that stays open hides that we have hung up.
_open: list[Connection] = []


class Ranks:
    """A real gloo group. `run` calls a function of (rank, ...) on every rank, and returns what came of it."""

    def __init__(self, world_size: int) -> None:
        self.world_size = world_size
        self.folder = tempfile.mkdtemp()
        context = multiprocessing.get_context("fork")
        self.lines, self.processes = [], []
        for rank in range(world_size):
            ours, theirs = context.Pipe()
            _open.append(ours)
            # No daemons: they start workers.
            process = context.Process(target=_be, args=(theirs, rank, world_size, self.folder))
            process.start()
            theirs.close()
            self.lines.append(ours)
            self.processes.append(process)

    def run(self, function: Callable[..., Any], *arguments: Any, silent: tuple[int, ...] = ()) -> list[Any]:
        """What each rank returned, or the exception that it raised. A `silent` rank is not waited for: None."""
        for line in self.lines:
            line.send((function, arguments))
        return [None if rank in silent else self._answer(rank) for rank in range(self.world_size)]

    def _answer(self, rank: int) -> Any:
        if not wait([self.lines[rank]], PATIENCE):
            self.end()
            raise AssertionError(f"rank {rank} hangs")
        return pickle.loads(self.lines[rank].recv_bytes())

    def end(self) -> None:
        """End all ranks."""
        for line in self.lines:
            _open.remove(line)
            line.close()
        for process in self.processes:
            process.join(5)
            process.kill()
            process.join()
        shutil.rmtree(self.folder, ignore_errors=True)


def _be(line: Connection, rank: int, world_size: int, folder: str) -> None:
    for other in _open:
        other.close()
    dist.init_process_group(
        "gloo",
        init_method=f"file://{folder}/store",
        rank=rank,
        world_size=world_size,
        timeout=datetime.timedelta(seconds=PATIENCE),
    )
    while True:
        try:
            function, arguments = line.recv()
        except EOFError:
            # Without the exit handlers of the process that was forked.
            os._exit(0)
        try:
            result: Any = function(rank, *arguments)
        except Exception as error:
            result = error
        line.send_bytes(pickle.dumps(result))
