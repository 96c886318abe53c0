"""Decides what stands in the main process's graph in the place of what the workers run."""

from collections.abc import Iterator
from typing import Any

from torch.utils.data import IterDataPipe

from .crew import Crew
from .graph import Pipe, set_shared_out, walk
from .seeds import numbers, set_number


class Merged(IterDataPipe[Any]):
    """Stands in the main process's graph for what the workers run."""

    def __init__(self, crew: Crew, part: Pipe) -> None:
        super().__init__()
        self._crew = crew
        set_shared_out(self, part)
        set_number(self, max(numbers(part), default=-1))

    def is_replicable(self) -> bool:
        """It reads from processes that exist once."""
        return False

    @classmethod
    def stand_in(cls, pipe: Pipe) -> bool:
        """Whether a graph has what workers run in it."""
        return any(isinstance(each, cls) for each in walk(pipe))

    def __iter__(self) -> Iterator[Any]:
        yield from self._crew.elements()
