"""Decides how the worker processes of an epoch are watched, and how they end.

torch starts them and hands out the work. It notices at once when a worker is killed, but one that exits with code 0
only when it looks, every 5 seconds without a time-out, and with one when that has passed; here it looks more often.
And it ends the workers in peace, through queues and locks that they share. A worker that died may have taken a lock
with it, so after a death, or when one hangs, the others are killed without a word.

One thing is torch's: it raises the violent death of a worker wherever the main thread happens to be, in the user's
own code too. It is an error all the same, and the next epoch starts new workers.
"""

import sys
from contextlib import suppress
from multiprocessing.connection import wait
from time import monotonic
from typing import Any

from torch.utils.data._utils import signal_handling
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

LOOK_AGAIN = 0.2  # seconds of silence after which it is asked whether the workers are alive
LAST_WORDS = 5.0  # seconds that a process may take to end once its connections are gone


class Workers(_MultiProcessingDataLoaderIter):
    """torch's iterator over its workers, watched and ended as told above."""

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
        # LEAK-1, LEAK-3: torch joins its workers, and kills what has not ended after a few seconds; its segments of
        # shared memory have no names that could stay.
        # WORK-15: a death that torch notices while it does so is no news to anybody.
        with suppress(RuntimeError):
            super()._shutdown_workers()

    def kill(self) -> None:
        """End the workers without their help."""
        if self._shutdown:
            return
        self._shutdown = True
        if self._worker_pids_set:
            # torch raises an error when a worker that it watches is killed; these deaths are meant.
            signal_handling._remove_worker_pids(id(self))  # type: ignore[attr-defined]
            self._worker_pids_set = False
        for worker in self._workers:
            worker.kill()
        # LEAK-1, LEAK-2, LEAK-4: joined, so no zombie stays; closed, so the queues' threads end.
        for worker in self._workers:
            worker.join()
        for queue in self._index_queues:
            queue.cancel_join_thread()
            queue.close()

    def is_usable(self) -> bool:
        """Return whether persistent workers can begin another epoch."""
        return not self._shutdown and all(worker.is_alive() for worker in self._workers)

    def death(self, error: Exception) -> RuntimeError | None:
        """Return what to say if the error came of the death of a worker, or None if it did not."""
        if isinstance(error, OSError | EOFError):
            # Part of a step went down with its worker. That is noticed before the process has quite ended.
            wait([worker.sentinel for worker in self._workers], timeout=LAST_WORDS)
        # Workers whose share of a stream is used up end in peace, with exit code 0; torch knows which have not.
        states = zip(self._workers, self._workers_status, strict=True)
        dead = [worker for worker, is_busy in states if not worker.is_alive() and (worker.exitcode or is_busy)]
        # torch counts a dead worker as one that is not busy, once it has said so.
        was_seen = isinstance(error, RuntimeError) and "exited unexpectedly" in str(error)
        if not dead and not was_seen:
            return None
        codes = ", ".join(str(worker.exitcode) for worker in dead) or "0"
        # ERROR-4: one type and one sentence, however the death was noticed.
        return RuntimeError(
            f"A worker process ended within the epoch (exit code {codes}; a negative one is the signal that killed "
            f"it): see what it printed, and whether memory ran out; num_workers=0 runs the dataset where it can be "
            f"debugged."
        )
