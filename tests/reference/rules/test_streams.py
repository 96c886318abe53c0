"""Shuffled streams, which the loader tells the epoch, in this process and in workers that live on."""

from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterableDataset

import reference as poptorch
from reference.rules.splitting import splitter
from reference.rules.streams import EpochSplit, shuffled


class Told(IterableDataset[int]):
    """A stream that yields the epoch that it was told, once for each of so many workers."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self.epoch = -1

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[int]:
        return iter([self.epoch] * self.workers)


def _loader(dataset: Any, **asked: Any) -> poptorch.DataLoader:
    options = poptorch.Options().randomSeed(1)
    return poptorch.DataLoader(options, dataset, drop_last=False, auto_distributed_partitioning=False, **asked)


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_a_dataset_hears_of_every_epoch(workers: int, persistent: bool) -> None:
    """Counted or set, in workers that are new and in those that live on."""
    dataset = EpochSplit(Told(max(1, workers)), splitter(0, 1))
    loader = _loader(dataset, num_workers=workers, persistent_workers=persistent)
    came = [{int(each) for each in loader} for _ in range(2)]
    loader.set_epoch(7)
    came.append({int(each) for each in loader})
    loader.terminate()
    assert [{0}, {1}, {7}] == came


def test_a_shuffled_stream_has_each_element_once_over_ranks() -> None:
    """Whatever the epoch, and in another order in each."""
    ranks = [shuffled(range(50), seed=3, rank=rank, ranks=2, buffer_size=8) for rank in range(2)]
    orders = []
    for epoch in range(2):
        for stream in ranks:
            stream.set_epoch(epoch)
        orders.append([list(stream) for stream in ranks])
        assert [*range(50)] == sorted(index for order in orders[-1] for index in order)
    assert orders[0] != orders[1]


def test_a_buffer_moves_no_element_far_ahead() -> None:
    """What is delivered first is among the first so many."""
    assert max(next(iter(shuffled(range(50), seed=seed, buffer_size=4))) for seed in range(30)) < 5
