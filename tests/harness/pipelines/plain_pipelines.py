"""A correct loader of pipelines on torch alone, for one process: decides nothing that the reference could share."""

from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch.utils.data.graph_settings import apply_random_seed, apply_sharding


class PlainPipelines:
    """An adapter: its loader reads a graph of pipes where it is."""

    __name__ = "plain pipelines"
    claims: ClassVar[dict[str, Any]] = dict(pipelines=("pause",))

    @staticmethod
    def pipeline(request: Any) -> "Loader":
        """One rank's loader."""
        return Loader(request.datapipe)


class Loader:
    """One epoch for each iterator, and one valid iterator."""

    def __init__(self, datapipe: Any) -> None:
        # torch refuses to shard twice on one path.
        self.pipe = apply_sharding(datapipe, 1, 0)
        self.generator = torch.Generator()
        self.newest = 0
        self.is_shut = False

    def seed(self, seed: int) -> None:
        """Begin anew with a seed."""
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed is {seed}, but seeds are 0 to 2**64 - 1")
        self.generator.manual_seed(seed)

    def shutdown(self) -> None:
        """Be of no use any more."""
        self.is_shut = True

    def check(self, number: int) -> None:
        """Refuse what is over."""
        if self.is_shut or number != self.newest:
            raise RuntimeError("the loader was shut down, or has a newer iterator")

    def __iter__(self) -> "Pass":
        self.newest += 1
        self.check(self.newest)
        return Pass(self, self.newest)


class Pass:
    """An epoch, which begins with its first element."""

    def __init__(self, loader: Loader, number: int) -> None:
        self.loader, self.number = loader, number
        self.elements: Iterator[Any] | None = None
        self.most: int | None = None
        self.left = -1

    def __next__(self) -> Any:
        self.loader.check(self.number)
        if self.elements is None:
            self.elements = iter(apply_random_seed(self.loader.pipe, self.loader.generator))
        if self.left == 0:
            raise StopIteration
        element = next(self.elements)
        self.left -= 1
        return element

    def limit(self, most: int | None) -> None:
        """Pause after so many."""
        self.most = most
        self.resume()

    def resume(self) -> None:
        """Go on."""
        self.left = -1 if self.most is None else self.most
