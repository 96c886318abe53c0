"""The loader in its asynchronous modes: what it delivers is what it delivers synchronously, and what it refuses."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
import torch
from torch.utils.data import BatchSampler, IterableDataset, SequentialSampler, get_worker_info

import reference as poptorch
from reference import DataLoader, DataLoaderMode, SharingStrategy
from tests.reference.ahead.async_probes import numbers
from tests.reference.reference_probes import Dice, Numbers, Stream, options

pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore:The last step of each epoch"),
    pytest.mark.filterwarnings("ignore:Each of the"),
]
SYNC, ASYNC, REBATCHED = DataLoaderMode.Sync, DataLoaderMode.Async, DataLoaderMode.AsyncRebatched


def loader(mode: DataLoaderMode, dataset: Any, size: int | None = 2, **how: Any) -> DataLoader:
    """Return a loader; asynchronous ones fork. `seed`, `rank`, `ranks`, g, r and d go to its options."""
    of_options = {name: how.pop(name) for name in ("seed", "rank", "ranks", "g", "r", "d") if name in how}
    if mode is not SYNC:
        how["async_options"] = {"sharing_strategy": SharingStrategy.Fork, **how.pop("ahead", {})}
    else:
        how.pop("ahead", None)
    return DataLoader(options(**of_options), dataset, mode=mode, **{"batch_size": size, **how})


def epochs(made: DataLoader, sort: bool = False) -> list[Any]:
    """Return the steps of three epochs, one of which is left early and one of which is set; end the loader."""
    found = []
    for number in range(3):
        if number == 2:
            made.set_epoch(7)
        passing = iter(made)
        # One by one, because the next step may overwrite this one.
        steps = [repr(step) for step, _ in zip(passing, range(1 if number == 1 else 100), strict=False)]
        found.append(sorted(steps) if sort and number != 1 else steps)
    made.terminate()
    return found


def doubled(samples: list[int]) -> Any:
    """Collate in a way of its own."""
    return {"two": [torch.tensor(samples) * 2], "sum": torch.tensor([float(sum(samples))])}


MAPS: list[dict[str, Any]] = [
    {},
    {"drop_last": False},
    {"shuffle": True, "seed": 5},
    {"shuffle": True, "seed": 5, "rank": 1, "ranks": 2, "drop_last": False},
    {"r": 2, "d": 2, "drop_last": False, "shuffle": True, "seed": 1},
    {"g": 2, "rank": 0, "ranks": 3},
    {"batch_size": 20},
    {"batch_size": 20, "drop_last": False},
    {"rank": 4, "ranks": 5, "batch_size": 3, "drop_last": False},
    {"batch_sampler": [[0, 3], [5, 1], [2, 4]], "batch_size": 1},
    {
        "batch_sampler": BatchSampler(SequentialSampler(range(11)), 2, False),
        "batch_size": 1,
        "d": 2,
        "drop_last": False,
    },
    {"sampler": [5, 3, 1, 8, 7], "drop_last": False},
    {"collate_fn": doubled, "drop_last": False},
    {"batch_size": None, "collate_fn": torch.tensor},
    {"ahead": {"buffer_size": 1}, "drop_last": False},
    {"ahead": {"buffer_size": 5, "load_indefinitely": False, "early_preload": True}},
    {"persistent_workers": False},
]


@pytest.mark.parametrize(("how", "workers"), [*product(MAPS, (0, 2)), *product(MAPS[2:6], (1, 3))])
def test_a_map_style_dataset_is_delivered_as_in_sync(how: dict[str, Any], workers: int) -> None:
    """Step by step, epoch by epoch, in both modes (ASYNC-1)."""
    if not workers and "persistent_workers" in how:
        how = {}
    asked = {"num_workers": workers, **how}
    expected = epochs(loader(SYNC, Numbers(11), **asked))
    for mode in (ASYNC, REBATCHED):
        if mode is ASYNC or how.get("batch_size", 2) is not None:
            assert epochs(loader(mode, Numbers(11), **asked)) == expected


class Unequal(IterableDataset[int]):
    """Worker w yields w + 1 elements, or, the other way round, one fewer than the one before it."""

    def __init__(self, falls: bool) -> None:
        self.falls = falls

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        worker, workers = (0, 1) if info is None else (info.id, info.num_workers)
        count = workers - worker if self.falls else worker + 1
        return iter(range(10 * worker, 10 * worker + count))


STREAMS: list[Any] = [
    poptorch.split(Stream(11)),
    poptorch.split(Stream(0)),
    poptorch.split(Stream(11), 1, 2),
    poptorch.split(Stream(11), layout="contiguous", length=11),
    Unequal(True),
    Unequal(False),
    Stream(11),
]


@pytest.mark.parametrize(
    ("at", "workers", "drop", "size"), list(product(range(7), (0, 1, 3), (True, False), (3, None)))
)
def test_an_iterable_style_dataset_is_delivered_as_in_sync(at: int, workers: int, drop: bool, size: int | None) -> None:
    """The same steps; with several workers, whose turn it is after one has ended may differ (ASYNC-1)."""
    how = {"num_workers": workers, "drop_last": drop, "auto_distributed_partitioning": False}
    if size is None:
        how["collate_fn"] = torch.tensor
    # What one worker gives is in its order anyway.
    found = [epochs(loader(mode, STREAMS[at], size, **how), sort=workers > 1) for mode in (SYNC, ASYNC)]
    assert found[0] == found[1]


@pytest.mark.parametrize(("strategy", "workers"), [(SharingStrategy.Fork, 7), (SharingStrategy.ForkServer, 2)])
def test_rebatched_workers_lose_less_than_a_step(strategy: SharingStrategy, workers: int) -> None:
    """100 elements in steps of 4 are 25 steps, however many workers share them (ASYNC-9)."""
    how: dict[str, Any] = {"num_workers": workers, "ahead": {"sharing_strategy": strategy}}
    made = loader(REBATCHED, poptorch.split(Stream(100), length=100), 4, rebatched_worker_size=3, **how)
    steps = [step.tolist() for step in made]
    made.terminate()
    assert [len(step) for step in steps] == [4] * 25 == [4] * len(made)
    assert sorted(sample for step in steps for sample in step) == list(range(100))


class Rounded(IterableDataset[int]):
    """100 elements, in blocks that are rounded up: 15 for each of six workers, and 10 for the last."""

    def __iter__(self) -> Iterator[int]:
        info = get_worker_info()
        assert info is not None
        return iter(range(15 * info.id, min(15 * info.id + 15, 100)))


@pytest.mark.parametrize(("mode", "expected"), [(SYNC, 80), (ASYNC, 80), (REBATCHED, 100)])
def test_the_example_of_the_tutorial(mode: DataLoaderMode, expected: int) -> None:
    """4 x (3 x 6 + 2) = 80 elements are used, and floor(100 / 4) x 4 = 100 when cut anew."""
    made = loader(mode, Rounded(), 4, num_workers=7)
    assert sum(len(step) for step in made) == expected
    made.terminate()


@pytest.mark.parametrize(("drop", "samples", "size"), list(product((True, False), (0, 7, 12, 13), (None, 1, 3))))
def test_a_rest_is_dropped_or_kept_once(drop: bool, samples: int, size: int | None) -> None:
    """floor(n / N) x N elements, or n; and len() knows (ASYNC-9, ASYNC-10)."""
    dataset = poptorch.split(Stream(samples), length=samples)
    made = loader(REBATCHED, dataset, 3, num_workers=2, drop_last=drop, rebatched_worker_size=size)
    lengths = [len(step) for step in made]
    made.terminate()
    rest = [] if drop or not samples % 3 else [samples % 3]
    assert (lengths, len(made)) == ([3] * (samples // 3) + rest, len(lengths))


@pytest.mark.parametrize(("how", "workers"), list(product(MAPS, (0, 2))))
def test_the_length_is_that_of_sync(how: dict[str, Any], workers: int) -> None:
    """At any time (ASYNC-10)."""
    if not workers and "persistent_workers" in how:
        how = {}
    made = loader(ASYNC, Numbers(11), **{"num_workers": workers, **how})
    expected = len(loader(SYNC, Numbers(11), **{"num_workers": workers, **how}))
    found = [len(made)] + [len(made) for _ in made] + [len(made)]
    made.terminate()
    assert found == [expected] * (expected + 2)


class Told(Numbers):
    """Each sample tells who reads it, and with which random numbers."""

    def __getitem__(self, index: int) -> Any:
        info = get_worker_info()
        drawn = torch.randint(2**40, ())
        if info is None:
            return (index, -1, -1, 0, False, drawn)
        return (index, info.id, info.num_workers, info.seed, info.dataset.samples == 11, drawn)


class ToldStream(IterableDataset[Any]):
    """The same as a stream."""

    samples = 11

    def __iter__(self) -> Iterator[Any]:
        return iter([Told(11)[number] for number in range(4)])


@pytest.mark.parametrize("how", [{"seed": 3}, {"seed": 3, "rank": 1, "ranks": 2}, {"seed": 3, "shuffle": True}])
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_are_told_and_seeded_as_in_sync(how: dict[str, Any], workers: int) -> None:
    """Worker information and random numbers, in every epoch (WORK-7 to WORK-11)."""
    assert epochs(loader(ASYNC, Told(11), num_workers=workers, **how)) == epochs(
        loader(SYNC, Told(11), num_workers=workers, **how)
    )


@pytest.mark.parametrize("mode", [ASYNC, REBATCHED])
def test_workers_of_a_stream_are_told_and_seeded_as_in_sync(mode: DataLoaderMode) -> None:
    """Where each worker's batches are whole steps."""
    found, expected = (epochs(loader(each, ToldStream(), num_workers=1, seed=3)) for each in (mode, SYNC))
    assert found == expected


def test_reading_ahead_draws_from_no_global_generator() -> None:
    """The consumer's random state is as it was (ORDER-10)."""
    before = torch.get_rng_state()
    for made in (loader(ASYNC, Dice(6), num_workers=2, seed=3), loader(ASYNC, Dice(6), seed=3)):
        torch.set_rng_state(before)
        numbers(made)
        made.terminate()
        assert torch.equal(before, torch.get_rng_state())
