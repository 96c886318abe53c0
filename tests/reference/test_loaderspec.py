"""The adapter of the reference."""

from types import SimpleNamespace
from typing import Any

import pytest
import torch

from reference import loaderspec, loaderspec_drawing
from tests.reference.reference_probes import Numbers, Stream, epoch, flat

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
]

PLAIN = dict(
    batch_size=2,
    shuffle=False,
    seed=0,
    drop_last=False,
    num_workers=0,
    rank=0,
    world_size=1,
    replication_factor=1,
    device_iterations=1,
    gradient_accumulation=1,
)


def load(dataset: Any, **how: Any) -> Any:
    """Return the loader for a request."""
    return loaderspec.load(SimpleNamespace(dataset=dataset, **{**PLAIN, **how}))


def test_a_request_needs_no_hooks() -> None:
    """What a request does not have is not asked for."""
    assert epoch(load(Numbers(5), rank=1, world_size=2)) == [[3, 4]]


def test_hooks_reach_the_loader() -> None:
    """Whatever is asked for is passed on."""
    made = load(Numbers(4), num_workers=1, collate_fn=sum, worker_init_fn=print, timeout=9, persistent_workers=True)
    assert (made.collate_fn, made.worker_init_fn, made.timeout, made.persistent_workers) == (sum, print, 9, True)


def test_hooks_may_be_left_empty() -> None:
    """None, 0 and False ask for nothing, and without workers there are none that persist."""
    made = load(Numbers(4), collate_fn=None, worker_init_fn=None, timeout=0, persistent_workers=True)
    assert (made.persistent_workers, epoch(made)) == (False, [[0, 1], [2, 3]])


@pytest.mark.parametrize("workers", [0, 2])
def test_streams_are_split(workers: int) -> None:
    """Two ranks deliver each element of an iterable-style dataset once, without a warning (WORK-3)."""
    made = [load(Stream(7), rank=rank, world_size=2, num_workers=workers, shuffle=True) for rank in range(2)]
    assert sorted(flat(flat([epoch(each) for each in made]))) == list(range(7))


def test_loading_does_not_touch_torchs_generator() -> None:
    """Options.randomSeed seeds torch; the adapter puts it back (ORDER-10)."""
    before = torch.get_rng_state().tolist()
    load(Numbers(4), seed=3)
    assert before == torch.get_rng_state().tolist()


def test_a_shuffled_request_is_drawn_by_weight() -> None:
    """The second adapter draws where a shuffle is asked for, and only then (DRAW-1)."""
    asked = dict(dataset=Numbers(5), **{**PLAIN, "world_size": 2}, weights=(0, 1, 0, 0, 0))
    drawn = [loaderspec_drawing.load(SimpleNamespace(**{**asked, "shuffle": True, "rank": rank})) for rank in (0, 1)]
    assert [[[1, 1], [1]], [[1, 1]]] == [epoch(each) for each in drawn]
    assert [[0, 1], [2]] == epoch(loaderspec_drawing.load(SimpleNamespace(**asked)))
