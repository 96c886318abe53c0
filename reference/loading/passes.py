"""Decides when an epoch is over.

An iterator ends once: at the end of its epoch, at an error, or when its loader is terminated. After the end of the
epoch, and after an error as in a generator, it stays at its end; after terminate() it says so, because an epoch cut
short must not look whole. An error takes the workers with it (`processes.py`), so that the next epoch starts new ones.
"""

from collections.abc import Iterator
from typing import Any

from .faults import Failure
from .processes import Workers


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
            death = self._give_up(error)
            if death is None:
                # ERROR-7: a worker that hangs was given up by torch once the time-out had passed.
                raise
            try:
                raise death from error
            finally:
                # LEAK-5: an exception refers to the frames that it passed; they must not refer back to it.
                del death
        if isinstance(step, Failure):
            self._end()
            try:
                # ERROR-2: here, after all steps before it, and before any other one.
                raise step.error
            finally:
                del step
        return step

    def terminate(self) -> None:
        """End an epoch that is under way, with its workers; harmless after its end."""
        if self.source is not None:
            self.is_terminated = True
            self._end()

    def _end(self) -> None:
        source, self.source = self.source, None
        if isinstance(source, Workers):
            source._shutdown_workers()

    def _give_up(self, error: Exception) -> RuntimeError | None:
        """End the epoch by force; return what to say if a worker has died."""
        source, self.source = self.source, None
        if not isinstance(source, Workers):
            return None
        death = source.death(error)
        # WORK-14: whatever it was, none of the workers is used again.
        source.kill()
        return death
