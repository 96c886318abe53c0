"""Correct loaders of iterable datasets alone."""

import warnings
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch.utils.data import DataLoader, IterableDataset

from tests.known_bad.correct import Correct, claim
from tests.known_bad.unusual_starting import as_they_are

COPIES = claim(
    {},
    datasets=("iterable",),
    iterable_workers="replicated",
    workers=True,
    hooks=("collate_fn", "worker_init_fn"),
)


class Whole(IterableDataset[Any]):
    """All of a stream, in each worker; its samples are their reader's own (WORK-16)."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __iter__(self) -> Iterator[Any]:
        return (Correct.own(None, element) for element in self.source)  # type: ignore[arg-type]


class CopiesAStream(Correct):
    """torch's loader around a stream that nobody splits: there is no map-style dataset to try its workers on."""

    claims: ClassVar[dict[str, Any]] = COPIES

    def __init__(self, request: Any) -> None:
        super().__init__(request)
        self.epochs = 0

    def __iter__(self) -> Iterator[Any]:
        asked = self.request
        generator = torch.Generator()
        # WORK-8, WORK-9, WORK-10: workers of other ranks and epochs draw other numbers.
        generator.manual_seed((asked.seed * 4099 + asked.rank) * 65_537 + self.epochs)
        self.epochs += 1
        with warnings.catch_warnings():
            # More workers than processors are asked for on purpose.
            warnings.simplefilter("ignore")
            return iter(
                DataLoader(
                    Whole(asked.dataset),
                    batch_size=asked.batch_size,
                    drop_last=asked.drop_last,
                    num_workers=asked.num_workers,
                    collate_fn=asked.collate_fn or as_they_are,
                    worker_init_fn=asked.worker_init_fn,
                    generator=generator,
                )
            )


UNUSUAL_STREAMS: tuple[type[Any], ...] = (CopiesAStream,)
