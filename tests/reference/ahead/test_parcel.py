"""How a supply travels to producers that are started: by a descriptor, so that nobody waits for one that comes up."""

import io
from multiprocessing import popen_forkserver, popen_spawn_posix
from typing import Any

import pytest
import torch
from torch.utils.data import TensorDataset

import reference as poptorch
from reference import DataLoaderMode, SharingStrategy
from reference.ahead import fork_server
from tests.reference.ahead.test_fork_server import read
from tests.reference.loading.test_lifecycle import nothing_left
from tests.reference.reference_probes import options

PIPE = 1 << 16  # bytes that a pipe has room for
STARTED = [SharingStrategy.ForkServer, SharingStrategy.SharedMemory, SharingStrategy.FileSystem]


class Stopped(Exception):
    """Nothing is started."""


def loader(dataset: Any, strategy: SharingStrategy, workers: int = 0) -> Any:
    """Return an asynchronous loader."""
    how = {"sharing_strategy": strategy}
    return poptorch.DataLoader(options(), dataset, 4, num_workers=workers, mode=DataLoaderMode.Async, async_options=how)


@pytest.mark.parametrize("strategy", STARTED)
def test_what_is_told_to_a_new_process_fits_a_pipe(strategy: SharingStrategy, monkeypatch: pytest.MonkeyPatch) -> None:
    """However large the dataset is: who writes more than a pipe has room for waits until the process has come up."""
    sizes = []

    def dump(what: Any, file: io.BytesIO, protocol: int | None = None) -> None:
        really(what, file, protocol)
        sizes.append(file.tell())
        if len(sizes) == 2:
            raise Stopped

    fork_server.ensure_running()
    really = popen_spawn_posix.reduction.dump
    monkeypatch.setattr(popen_forkserver.reduction, "dump", dump)
    with nothing_left(), pytest.raises(Stopped):
        loader([list(range(100_000))] * 8, strategy)
    assert 0 < sizes[1] < PIPE


@pytest.mark.parametrize("strategy", STARTED)
def test_each_producer_finds_the_whole_of_it(strategy: SharingStrategy) -> None:
    """Tensors too, which travel by descriptors of their own."""
    workers = 2 if strategy is SharingStrategy.ForkServer else 1
    made = loader(TensorDataset(torch.arange(80_000).view(8, -1)), strategy, workers)
    assert [int(step[0].sum()) for step in made] == [sum(range(40_000)), sum(range(40_000, 80_000))]
    made.terminate()


def test_nothing_is_left_of_a_parcel() -> None:
    """Neither its memory nor its file, once the process has come up (LEAK-2, LEAK-3)."""
    read(SharingStrategy.ForkServer)
    for strategy in (SharingStrategy.ForkServer, SharingStrategy.FileSystem):
        with nothing_left():
            read(strategy)
