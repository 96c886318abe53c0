"""Correct loaders of iterable datasets alone."""

import warnings
from collections.abc import Iterator
from itertools import chain, islice
from random import Random
from typing import Any, ClassVar

import torch
from torch.utils.data import DataLoader, IterableDataset

from tests.known_bad.correct import Correct, claim
from tests.known_bad.unusual_starting import EndingWithReader, as_they_are

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
                    worker_init_fn=EndingWithReader(asked.worker_init_fn),
                    generator=generator,
                )
            )


class HoldsRoundsBack(Correct):
    """Reads a stream in rounds of all ranks, and gives nothing of a round before all of it was read.

    Of a round that is not full each rank has something, or none has: so ranks have equal steps, and elements are lost.
    """

    claims: ClassVar[dict[str, Any]] = claim(
        {},
        datasets=("iterable",),
        iterable_workers="split",
        equal_steps=True,
        stream_shuffle="shards",
        epochs="set_epoch",
        hooks=("set_epoch",),
    )

    def elements(self) -> Iterator[Any]:
        """The stream, its shards in an order of the epoch's where it is shuffled."""
        dataset = self.request.dataset
        if hasattr(dataset, "set_epoch"):
            dataset.set_epoch(self.epoch)
        if not self.request.shuffle:
            return iter(dataset)
        shards = list(dataset.shards)
        Random(self.mixed_seed()).shuffle(shards)
        return chain.from_iterable(shards)

    def __iter__(self) -> Iterator[Any]:
        asked, elements = self.request, self.elements()
        full = asked.combined_batch * asked.world_size
        while held := [self.own(element) for element in islice(elements, full)]:
            if len(held) >= (full if asked.drop_last else asked.world_size):
                yield held[asked.rank :: asked.world_size]


UNUSUAL_STREAMS: tuple[type[Any], ...] = (CopiesAStream, HoldsRoundsBack)
