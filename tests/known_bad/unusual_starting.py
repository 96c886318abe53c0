"""Correct loaders whose workers are new interpreters: torch's own, started by spawn and by a fork server."""

import os
import threading
from collections.abc import Callable, Iterator
from multiprocessing import parent_process
from typing import Any, ClassVar

import torch
from torch.utils.data import DataLoader, Dataset

from tests.known_bad.correct import FULL, Correct, claim

STARTING = claim(
    FULL,
    device_options=None,
    workers=True,
    # Not persistent_workers: with them torch has one iterator, and waits forever for a worker that has ended.
    hooks=("collate_fn", "worker_init_fn", "timeout"),
)


class Guarded(Dataset[Any]):
    """The dataset, whose StopIteration is an error like any other (ERROR-3), and whose samples are its reader's own."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __len__(self) -> int:
        return len(self.inner)

    def __getitem__(self, index: int) -> Any:
        try:
            return Correct.own(None, self.inner[index])  # type: ignore[arg-type]
        except StopIteration as error:
            raise RuntimeError(f"sample {index} can't be read: {error}") from error


class Steps:
    """The steps of the epoch to come, as torch's batch sampler."""

    def __init__(self, loader: "BySpawn") -> None:
        self.loader = loader

    def __iter__(self) -> Iterator[list[int]]:
        return iter(self.loader.steps())

    def __len__(self) -> int:
        return len(self.loader.steps())


def as_they_are(samples: list[Any]) -> list[Any]:
    """A step as a list."""
    return samples


def end_with_reader() -> None:
    """End this process when the one that asked for it does, whoever has started it (LEAK-6): a fork server lives on."""
    reader = parent_process()
    assert reader is not None

    def watch() -> None:
        reader.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


class EndingWithReader:
    """The user's worker initialiser, in a worker that ends with its reader."""

    def __init__(self, initialiser: Callable[[int], Any] | None) -> None:
        self.initialiser = initialiser

    def __call__(self, worker: int) -> None:
        end_with_reader()
        if self.initialiser is not None:
            self.initialiser(worker)


class BySpawn(Correct):
    """torch's DataLoader, whose workers are spawned: each imports torch again."""

    claims: ClassVar[dict[str, Any]] = STARTING
    families: ClassVar[tuple[str, ...]] = ("workers", "life", "samples", "killed")
    method = "spawn"

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        # WORK-9: else workers are seeded from the caller's generator.
        self.generator = torch.Generator()
        self.inner: DataLoader[Any] = DataLoader(
            Guarded(request.dataset),
            batch_sampler=Steps(self),  # type: ignore[arg-type]
            num_workers=request.num_workers,
            collate_fn=request.collate_fn or as_they_are,
            worker_init_fn=EndingWithReader(request.worker_init_fn),
            generator=self.generator,
            timeout=request.timeout if request.num_workers else 0,
            persistent_workers=request.persistent_workers and request.num_workers > 0,
            multiprocessing_context=self.method if request.num_workers else None,
        )

    def __iter__(self) -> Iterator[Any]:
        self.generator.manual_seed(self.mixed_seed() + self.request.rank)
        return iter(self.inner)


class ByAForkServer(BySpawn):
    """The same, whose workers are forks of a server that has not imported torch."""

    method = "forkserver"


UNUSUAL_STARTING: tuple[type[Any], ...] = (BySpawn, ByAForkServer)
