"""What a worker knows about itself, and the random numbers it draws."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import get_worker_info

import reference as poptorch
from tests.reference.reference_probes import Numbers, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Telling(Numbers):
    """Each sample is what the worker that reads it knows about itself, and one draw of each library."""

    def __getitem__(self, index: int) -> Any:
        draws = (random.getrandbits(60), int(np.random.randint(2**60)), int(torch.randint(2**60, ())))
        info = get_worker_info()
        if info is None:
            return None, draws
        return (info.id, info.num_workers, info.seed, info.dataset is self, torch.initial_seed()), draws


class TellingStream(torch.utils.data.IterableDataset[Any]):
    """The same as a stream that draws as soon as it is iterated."""

    def __init__(self, samples: int) -> None:
        self.dataset = Telling(samples)

    def __iter__(self) -> Any:
        _, first = self.dataset[0]
        return iter([(get_worker_info().dataset is self, first)])  # type: ignore[union-attr]


def loader(rank: int = 0, seed: int = 1, kind: type = Telling, **how: Any) -> poptorch.DataLoader:
    """Return a loader of one rank of two; two workers read one sample each."""
    dataset = kind(4) if kind is Telling else poptorch.split(kind(4), rank, 2)
    how = {"num_workers": 2, "auto_distributed_partitioning": kind is Telling, "collate_fn": lambda one: one[0], **how}
    return poptorch.DataLoader(options(seed, rank, 2), dataset, 1, **how)


def test_a_worker_knows_itself() -> None:
    """Id, number of workers, a seed of its own, and its own copy of the user's dataset (WORK-7)."""
    told = [info for info, _ in loader(persistent_workers=False)]
    assert [info[:2] for info in told] == [(0, 2), (1, 2)]
    assert told[0][2] != told[1][2]
    assert all(info[3] and info[2] == info[4] for info in told)


def test_the_main_process_is_no_worker() -> None:
    """Before, within and after an epoch (WORK-7)."""
    made = loader()
    assert [get_worker_info() for _ in made] == [None, None]
    assert [info for info, _ in loader(num_workers=0)] == [None, None]
    made.terminate()


def test_the_initialiser_sees_the_users_dataset() -> None:
    """worker_init_fn may change the worker's copy, and no other one (WORK-7)."""

    def shorten(worker: int) -> None:
        get_worker_info().dataset.samples += worker  # type: ignore[union-attr]

    def tell(_: Any) -> Any:
        return get_worker_info().dataset.samples  # type: ignore[union-attr]

    made = loader(persistent_workers=False, worker_init_fn=shorten, collate_fn=tell)
    assert list(made) == [4, 5]
    assert made.dataset.samples == 4


@pytest.mark.parametrize("kind", [Telling, TellingStream])
def test_draws_differ_and_repeat(kind: type) -> None:
    """Workers, ranks, epochs, seeds and libraries differ; the same four numbers repeat, persistent or not.

    WORK-8, WORK-9, WORK-10, WORK-11; in both kinds of dataset, and if an epoch is reached directly.
    """
    drawn = {}
    for rank, seed, persistent in ((0, 1, False), (0, 1, True), (1, 1, False), (0, 2, False)):
        made = loader(rank, seed, kind, persistent_workers=persistent)
        drawn[rank, seed, persistent] = [[draws for _, draws in made] for _ in range(2)]
        made.set_epoch(1)
        assert drawn[rank, seed, persistent][1] == [draws for _, draws in made]
        made.terminate()
    assert drawn[0, 1, False] == drawn[0, 1, True]
    fresh = [number for key, epochs in drawn.items() if not key[2] for step in epochs for one in step for number in one]
    # Three draws a step, in two epochs of three loaders; of the stream's single element rank 1 has nothing.
    assert len(set(fresh)) == len(fresh) == (3 * 2 * 2 * 3 if kind is Telling else 3 * 2 * 2)


def test_a_persistent_workers_seed_is_told_anew() -> None:
    """get_worker_info().seed is the seed of the epoch (WORK-7)."""
    made = loader(persistent_workers=True)
    told = [[info for info, _ in made] for _ in range(2)]
    assert told[0][0][2] != told[1][0][2]
    assert all(info[2] == info[4] for epoch in told for info in epoch)
    made.terminate()


def test_seeding_does_not_depend_on_the_callers_state() -> None:
    """Workers start alike whatever the caller drew before (WORK-11)."""
    drawn = []
    for caller in (1, 2):
        made = loader(persistent_workers=False)
        torch.manual_seed(caller)
        random.seed(caller)
        np.random.seed(caller)
        drawn.append([draws for _, draws in made])
    assert drawn[0] == drawn[1]
