"""Decides how the worker processes of an epoch are watched, and how they end.

torch starts them and hands out the work. When a worker is killed it raises an error at once, wherever the main thread
happens to be: in the user's own code, or in the middle of cleaning up, which then stays undone. Here that happens only
while a message is read, which else might wait forever for its second half. Otherwise torch notices a death when it
looks, every 5 seconds without a time-out, and with one when that has passed; here it looks more often.

torch ends the workers in peace, through queues and locks that they share. A worker that died may have taken a lock
with it, so after a death, or when one hangs, the others are killed without a word.

When the process that reads is killed, its workers must end by themselves. torch's look for it between two steps, and
wait forever for room in a pipe that nobody empties; here they are told.
"""

import multiprocessing
import os
import sys
import threading
import weakref
from collections.abc import Callable
from multiprocessing.connection import wait
from time import monotonic
from typing import Any

from torch.utils.data._utils import signal_handling
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from ..ahead.orphans import ends_with_parent
from .faults import death

LOOK_AGAIN = 0.2  # seconds of silence after which it is asked whether the workers are alive
LAST_WORDS = 5.0  # seconds that a process may take to end once its connections are gone


class Workers(_MultiProcessingDataLoaderIter):
    """torch's iterator over its workers, watched and ended as told above."""

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if not self._pin_memory:
            queue: Any = self._worker_result_queue
            queue._recv_bytes = _Reading(self, queue._recv_bytes)

    def _reset(self, loader: Any, first_iter: bool = False) -> None:
        # torch has just begun to watch. An error while a queue starts its thread would leave the thread forever.
        self._watch(False)
        super()._reset(loader, first_iter)

    def _watch(self, on: bool) -> None:
        """Let torch raise an error when a worker is killed, or not."""
        if on and not self._worker_pids_set:
            pids = tuple(worker.pid or 0 for worker in self._workers)
            signal_handling._set_worker_pids(id(self), pids)  # type: ignore[attr-defined]
        if not on and self._worker_pids_set:
            signal_handling._remove_worker_pids(id(self))  # type: ignore[attr-defined]
        self._worker_pids_set = on

    def _try_get_data(self, timeout: float = LOOK_AGAIN) -> tuple[bool, Any]:
        deadline = monotonic() + timeout
        while True:
            # ERROR-4: torch asks after its workers whenever nothing has come for this long.
            rest = max(0.0, deadline - monotonic())
            has_come, data = super()._try_get_data(min(rest, LOOK_AGAIN))  # type: ignore[no-untyped-call]
            if has_come or rest <= LOOK_AGAIN:
                return has_come, data

    def _shutdown_workers(self) -> None:
        # Called by torch, too, when the iterator is no longer referred to.
        if sys.is_finalizing() or getattr(self, "_shutdown", True):
            return
        if any(worker.exitcode for worker in self._workers):
            self.kill()
            return
        self._watch(True)
        try:
            # A worker that is killed while it looks at this takes the lock with it.
            self._workers_done_event.set()
        except RuntimeError:
            # WORK-15: a death is no news to code that closes the loader.
            self.kill()
            return
        self._watch(False)
        # LEAK-1, LEAK-3: torch joins its workers, and kills what has not ended after a few seconds; its segments of
        # shared memory have no names that could stay.
        super()._shutdown_workers()

    def kill(self) -> None:
        """End the workers without their help."""
        if self._shutdown:
            return
        self._shutdown = True
        # These deaths are meant.
        self._watch(False)
        for worker in self._workers:
            worker.kill()
        # LEAK-1, LEAK-2, LEAK-4: joined, so no zombie stays; closed, so the queues' threads end.
        for worker in self._workers:
            worker.join()
        for queue in self._index_queues:
            queue.cancel_join_thread()
            queue.close()

    def is_usable(self) -> bool:
        """Return whether persistent workers can begin another epoch (WORK-18)."""
        return not self._shutdown and all(worker.is_alive() for worker in self._workers)

    def death(self, error: Exception) -> RuntimeError | None:
        """Return what to say if the error came of the death of a worker, or None if it did not."""
        # Workers whose share of a stream is used up end in peace; torch knows which have not.
        busy = [worker for worker, is_busy in zip(self._workers, self._workers_status, strict=True) if is_busy]
        if isinstance(error, OSError | EOFError):
            # Part of a step went down with its worker. That is noticed before the process has quite ended.
            ready = wait([worker.sentinel for worker in busy], timeout=LAST_WORDS)
            for worker in busy:
                worker.join(LAST_WORDS if worker.sentinel in ready else 0)
        dead = [worker for worker in self._workers if not worker.is_alive() and (worker.exitcode or worker in busy)]
        # torch counts a dead worker as one that is not busy, once it has said so.
        was_seen = isinstance(error, RuntimeError) and "exited unexpectedly" in str(error)
        if not dead and not was_seen:
            return None
        return death([worker.exitcode for worker in dead])


class EndingWithReader:
    """What torch calls in a new worker in the place of the user's worker initialiser, before another such."""

    def __init__(self, starting: Callable[[int], None]) -> None:
        self.starting = starting
        self.is_of_main_thread = threading.current_thread() is threading.main_thread()

    def __call__(self, worker: int) -> None:
        reader = multiprocessing.parent_process()
        assert reader is not None
        # LEAK-6
        ends_with_parent(reader.sentinel, self.is_of_main_thread)
        if not reader.is_alive():
            # It was killed before anybody could tell.
            os._exit(1)
        self.starting(worker)


class _Reading:
    """Reads one message of the workers; the death of one ends it with an error."""

    def __init__(self, workers: Workers, read: Callable[[], bytes]) -> None:
        # Weakly, because the queue belongs to the workers, and they must go when nobody refers to them.
        self.workers = weakref.ref(workers)
        self.read = read

    def __call__(self) -> bytes:
        workers = self.workers()
        assert workers is not None
        workers._watch(True)
        try:
            # ERROR-4: who died before this gives no sign any more, and may have left half of a message.
            if any(worker.exitcode for worker in workers._workers):
                raise EOFError("A worker process has ended.")
            return self.read()
        finally:
            workers._watch(False)
