"""Decides how a supply travels to a producer that is not forked: as a pickle in memory, or in a file, without a name.

A process that is spawned is told what to do by a pipe, which has room for 64 KB: whoever starts it waits, until the
child has imported all it needs, to write the rest. Of a parcel only a descriptor goes that way, so that producers come
up together however large their datasets are.
"""

import os
import pickle
import tempfile
from multiprocessing.context import get_spawning_popen
from multiprocessing.reduction import DupFd, ForkingPickler
from typing import Any

from . import shared_memory


class Parcel:
    """What is to be given to processes that are being started; each finds the supply itself in its place."""

    def __init__(self, supply: Any, as_file: bool = False) -> None:
        """A file is written once for all; memory for each, since torch gives each its own descriptors of tensors."""
        self.supply = supply
        self.as_file = as_file
        self.written: tuple[int, int] | None = None
        """The descriptor that is held until it was passed on, and the bytes that lie there."""

    def __reduce__(self) -> Any:
        assert get_spawning_popen() is not None, (
            "A parcel travels to processes that are being started, and nowhere else."
        )
        if self.written is None or not self.as_file:
            self.close()
            self.written = self._write()
        descriptor, size = self.written
        return _opened, (DupFd(descriptor), size)

    def _write(self) -> tuple[int, int]:
        if not self.as_file:
            data = bytes(ForkingPickler.dumps(self.supply))
            return shared_memory.holding(data), len(data)
        with tempfile.TemporaryFile() as file:
            pickle.dump(self.supply, file)
            file.flush()
            return os.dup(file.fileno()), file.tell()

    def close(self) -> None:
        """Release what was written: the process that was started has a descriptor of its own."""
        if self.written is not None:
            os.close(self.written[0])
            self.written = None


def _opened(given: Any, size: int) -> Any:
    return pickle.loads(shared_memory.held(given.detach(), size))
