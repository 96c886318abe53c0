"""Loaders and the caller's random state, and workers and theirs."""

import random
from typing import Any

import numpy as np
import pytest
import torch

import reference as poptorch
from tests.reference.reference_probes import Dice, Numbers, epoch, flat, loader, options

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


def global_state() -> tuple[object, ...]:
    """Return the state of all global generators."""
    return random.getstate(), repr(np.random.get_state()), torch.get_rng_state().tolist()


def dice(seed: int | None = 1, **how: Any) -> poptorch.DataLoader:
    """Return a loader whose two workers roll dice."""
    ranks = {name: how.pop(name) for name in ("rank", "ranks") if name in how}
    return poptorch.DataLoader(options(seed, **ranks), Dice(8), 2, num_workers=2, **how)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize(("seed", "shuffle"), [(3, True), (3, False), (None, False)])
def test_building_and_iterating_draws_nothing(seed: int | None, shuffle: bool, workers: int) -> None:
    """Seeded or unshuffled, the loader neither reseeds nor draws (ORDER-10, ORDER-11)."""
    mine = options(seed)
    before = global_state()
    made = poptorch.DataLoader(mine, Numbers(9), 2, shuffle=shuffle, num_workers=workers)
    epoch(made)
    epoch(made)
    assert before == global_state()


def test_an_unseeded_shuffle_draws_once_at_construction() -> None:
    """Its only draw is the loader's seed; iterating draws nothing, and nothing is reseeded (ORDER-10)."""
    torch.manual_seed(5)
    torch.empty((), dtype=torch.int64).random_()
    expected = torch.get_rng_state().tolist()
    torch.manual_seed(5)
    made = loader(9, 2, shuffle=True)
    epoch(made)
    assert expected == torch.get_rng_state().tolist()


def test_the_callers_random_state_does_not_matter() -> None:
    """With a seed the order is the same whatever the caller drew before (ORDER-9)."""
    orders = []
    for caller in (1, 2):
        made = loader(20, 5, seed=7, shuffle=True)
        torch.manual_seed(caller)
        random.seed(caller)
        orders.append(epoch(made))
    assert orders[0] == orders[1]


def test_workers_repeat_for_the_same_seed_epoch_and_rank() -> None:
    """The random numbers of workers repeat in another loader that is asked for the same epoch."""
    made = dice(persistent_workers=False)
    epochs = [epoch(made), epoch(made)]
    again = dice(persistent_workers=False)
    again.set_epoch(1)
    assert epochs[1] == epoch(again)


def test_workers_differ_between_epochs_and_ranks() -> None:
    """No two epochs and no two ranks share a worker's random numbers, persistent or not (WORK-9, WORK-10)."""
    seen = []
    for rank in range(2):
        for persistent in (True, False):
            made = dice(rank=rank, ranks=2, persistent_workers=persistent)
            seen += [flat(epoch(made)), flat(epoch(made))]
            made.terminate()
    # Persistent and fresh workers roll alike: they are seeded anew in every epoch (WORK-11).
    assert seen[:2] == seen[2:4]
    assert len({tuple(rolled) for rolled in seen}) == 4


def test_unseeded_workers_follow_torchs_seed() -> None:
    """Without a random seed workers repeat under torch.manual_seed, as with torch's loader."""
    rolled = []
    for _ in range(2):
        torch.manual_seed(9)
        rolled.append(epoch(dice(None, persistent_workers=False)))
    assert rolled[0] == rolled[1]
