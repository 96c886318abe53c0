"""Decides when an epoch is over, and what is left of its workers then: nothing.

An iterator ends once: at the end of its epoch, at an error, or when its loader is terminated. After the end of the
epoch, and after an error as in a generator, it stays at its end; after terminate() it says so, because an epoch cut
short must not look whole. An error takes the workers with it, so that the next epoch starts new ones; the rest is
torch's doing, which stops workers when their iterator is no longer referred to.

One error comes from elsewhere: torch raises the violent death of a worker wherever the main thread happens to be, in
the user's own code too. It is an error all the same, and the next epoch starts new workers.
"""

from collections.abc import Iterator
from contextlib import suppress
from multiprocessing.connection import wait
from time import monotonic
from typing import Any

from torch.utils.data._utils import signal_handling
from torch.utils.data.dataloader import _MultiProcessingDataLoaderIter

from .faults import Failure

LOOK_AGAIN = 0.2  # seconds of silence after which it is asked whether the workers are alive


class Workers(_MultiProcessingDataLoaderIter):
    """torch's iterator over its workers, a little more watchful.

    A worker that is killed interrupts torch at once. One that exits with code 0 is noticed only when torch looks,
    every 5 seconds without a time-out, and with one when it has passed.
    """

    def _try_get_data(self, timeout: float = LOOK_AGAIN) -> tuple[bool, Any]:
        deadline = monotonic() + timeout
        while True:
            # ERROR-4: torch asks after its workers whenever nothing has come for this long.
            rest = max(0.0, deadline - monotonic())
            has_come, data = super()._try_get_data(min(rest, LOOK_AGAIN))  # type: ignore[no-untyped-call]
            if has_come or rest <= LOOK_AGAIN:
                return has_come, data


class Pass:
    """One epoch under way; `source` is None once it has ended."""

    def __init__(self, source: Any) -> None:
        self.source: Any = source
        self.is_terminated = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self.source is None:
            if self.is_terminated:
                raise RuntimeError("The loader was terminated within this epoch: begin a new one, iter(loader).")
            # WORK-15: the end stays the end.
            raise StopIteration
        try:
            step = next(self.source)
        except StopIteration:
            # Persistent workers are free again; others have ended.
            self.source = None
            raise
        except Exception as error:
            # WORK-14: whatever it is, none of the workers is used again.
            source, self.source = self.source, None
            death = _death(source, error)
            kill(source)
            if death is None:
                # ERROR-7: a worker that hangs was given up by torch once the time-out had passed.
                raise
            try:
                raise death from error
            finally:
                # LEAK-5: an exception refers to the frames that it passed; they must not refer back to it.
                del death, source
        if isinstance(step, Failure):
            stop(self.source)
            self.source = None
            try:
                # ERROR-2: here, after all steps before it, and before any other one.
                raise step.error
            finally:
                del step
        return step

    def terminate(self) -> None:
        """End an epoch that is under way, with its workers; harmless after its end."""
        source, self.source = self.source, None
        if source is not None:
            self.is_terminated = True
            stop(source)


def _death(iterator: Any, error: Exception) -> RuntimeError | None:
    """Return what to say if a worker has died, or None if none has."""
    workers = getattr(iterator, "_workers", [])
    if isinstance(error, OSError | EOFError):
        # Part of a step went down with its worker. That is noticed before the process has quite ended.
        wait([worker.sentinel for worker in workers], timeout=5)
    # Workers whose share of a stream is used up end in peace, with exit code 0; torch says which have not.
    expected = getattr(iterator, "_workers_status", [])
    dead = [w for w, is_busy in zip(workers, expected, strict=True) if not w.is_alive() and (w.exitcode or is_busy)]
    torch_saw_one = isinstance(error, RuntimeError) and "exited unexpectedly" in str(error)
    if not dead and not torch_saw_one:
        return None
    # ERROR-4: one type and one sentence, however the death was noticed.
    codes = ", ".join(str(worker.exitcode) for worker in dead) or "0"
    return RuntimeError(
        f"A worker process ended within the epoch (exit code {codes}; a negative one is the signal that killed it): "
        f"see what it printed, and whether memory ran out; num_workers=0 runs the dataset where it can be debugged."
    )


def stop(iterator: Any) -> None:
    """Let the workers of one of torch's iterators end, if it has any and they have not ended."""
    if any(worker.exitcode for worker in getattr(iterator, "_workers", [])):
        # torch would talk to the dead, and raise their death as an error of whoever closes the loader.
        kill(iterator)
        return
    # LEAK-1, LEAK-3: torch joins its workers, and kills what has not ended after a few seconds; its segments of
    # shared memory have no names that could stay.
    shutdown = getattr(iterator, "_shutdown_workers", None)
    if shutdown is not None:
        # WORK-15: torch raises the death of a worker wherever its consumer is; here nobody needs it any more.
        with suppress(RuntimeError):
            shutdown()


def kill(iterator: Any) -> None:
    """End the workers of one of torch's iterators when one of them is dead or hangs.

    The dead may have taken locks with them, so nothing is shared with the others any more, not even a farewell.
    """
    if getattr(iterator, "_shutdown", True):
        return
    iterator._shutdown = True
    if iterator._worker_pids_set:
        # torch raises an error when a worker that it watches is killed; these deaths are meant.
        signal_handling._remove_worker_pids(id(iterator))  # type: ignore[attr-defined]
        iterator._worker_pids_set = False
    for worker in iterator._workers:
        worker.kill()
    # LEAK-1, LEAK-2, LEAK-4: joined, so no zombie stays; closed, so the queues' threads end.
    for worker in iterator._workers:
        worker.join()
    for queue in iterator._index_queues:
        queue.cancel_join_thread()
        queue.close()


def is_usable(iterator: Any) -> bool:
    """Return whether the persistent workers of one of torch's iterators can begin another epoch."""
    return not iterator._shutdown and all(worker.is_alive() for worker in iterator._workers)
