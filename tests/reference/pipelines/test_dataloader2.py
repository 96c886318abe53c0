"""DataLoader2 without ranks: what an epoch holds, in which order, and one valid iterator."""

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data.datapipes.map import SequenceWrapper

from reference.dataloader2 import DataLoader2, Shuffle
from reference.reading_service import InProcessReadingService, MultiProcessingReadingService, SequentialReadingService
from tests.reference.pipelines.pipe_probes import (
    SHARDINGS,
    Noted,
    dispatched,
    dispatched_ahead,
    filtered,
    filtered_only,
    heavy,
    is_even,
    is_large,
    numbers,
    over_workers,
    where,
)


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("workers", [0, 1, 2, 3])
def test_the_merged_order_is_that_of_one_process(sharded: Any, workers: int) -> None:
    """PIPE-9: unshuffled, workers take turns, whatever the last turn is like."""
    with over_workers(sharded(numbers(11)), workers) as loader:
        assert list(range(11)) == list(loader)
        assert list(range(11)) == list(loader)


@pytest.mark.parametrize("make", [filtered, dispatched])
def test_a_shuffle_does_not_depend_on_workers(make: Any) -> None:
    """PIPE-7: seeds are drawn for the pipeline, not for the processes that run it."""
    found = []
    for service in [None, InProcessReadingService(), *(MultiProcessingReadingService(n) for n in range(4))]:
        with DataLoader2(make(numbers(20)), reading_service=service) as loader:
            loader.seed(3)
            found.append([list(loader), list(loader)])
    assert [found[0]] * 6 == found
    assert found[0][0] != found[0][1]
    assert list(range(20)) == sorted(found[0][0])


def test_two_shuffles_before_sharding_each_have_an_order() -> None:
    """PIPE-3: two branches of a zip are not shuffled alike, and all workers agree on both."""
    found = []
    for workers in (0, 2, 3):
        first, second = numbers(20).shuffle(), numbers(20).shuffle()
        with over_workers(first.zip(second).sharding_filter(), workers) as loader:
            loader.seed(0)
            found.append(list(loader))
    assert [found[0]] * 3 == found
    assert [first for first, _ in found[0]] != [second for _, second in found[0]]


def test_a_shuffle_after_sharding_differs_in_each_worker() -> None:
    """PIPE-4: two workers with as many elements put them in different orders."""
    with over_workers(numbers(40).sharding_filter().shuffle().map(where), 2) as loader:
        loader.seed(0)
        elements = list(loader)
    order = [[number // 2 for number, worker in elements if worker == wanted] for wanted in (0, 1)]
    assert order[0] != order[1]
    assert [list(range(20))] * 2 == [sorted(each) for each in order]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_seed_fixes_all_epochs_that_follow(workers: int) -> None:
    """PIPE-5: each has another order, and saying the seed again begins again."""
    with over_workers(filtered(numbers(20)), workers) as loader:
        loader.seed(7)
        first = [list(loader) for _ in range(3)]
        loader.seed(7)
        assert first == [list(loader) for _ in range(3)]
        loader.seed(8)
        assert list(loader) not in first
    assert 3 == len({tuple(epoch) for epoch in first})


@pytest.mark.parametrize("workers", [0, 2])
def test_without_a_seed_epochs_differ(workers: int) -> None:
    """PIPE-6: and torch's seed still makes them reproducible."""
    torch.manual_seed(5)
    with over_workers(filtered(numbers(20)), workers) as loader:
        epochs = [list(loader) for _ in range(3)]
    assert 3 == len({tuple(epoch) for epoch in epochs})
    torch.manual_seed(5)
    with over_workers(filtered(numbers(20)), 0) as again:
        assert epochs == [list(again) for _ in range(3)]


@pytest.mark.parametrize("workers", [0, 2])
def test_torchs_seed_before_an_epoch_fixes_its_order(workers: int) -> None:
    """Whatever came before: a job that is begun again at epoch 5 has the order that epoch 5 had."""
    with over_workers(filtered(numbers(20)), workers) as loader:
        epochs = []
        for seed in (4, 5, 4):
            torch.manual_seed(seed)
            epochs.append(list(loader))
    with DataLoader2(filtered(numbers(20))) as again:
        torch.manual_seed(5)
        epochs.append(list(again))
    assert [epochs[0], epochs[1]] == [epochs[2], epochs[3]]
    assert epochs[0] != epochs[1]


def generators() -> list[Any]:
    """The states of the global generators."""
    return [random.getstate(), torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()]  # type: ignore[index]


def test_the_callers_generators_stay_as_they_are() -> None:
    """With a seed an epoch draws nothing from whoever iterates; without one, a single number of torch's."""
    before = generators()
    with over_workers(filtered(numbers(20)), 0) as loader:
        loader.seed(1)
        assert 40 == len(list(loader) + list(loader))
        assert before == generators()
        assert 20 == len(list(DataLoader2(numbers(20).shuffle())))
    after = generators()
    torch.random.set_rng_state(torch.tensor(before[1], dtype=torch.uint8))
    torch.empty((), dtype=torch.int64).random_()
    assert after == generators()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_a_seed_out_of_bounds_is_refused(seed: int) -> None:
    """PIPE-8."""
    with pytest.raises(ValueError, match=f"seed is {seed}"):
        DataLoader2(numbers(3)).seed(seed)


def test_seeds_at_the_bounds_are_taken() -> None:
    """0 and 2**64 - 1 are seeds, and 1.5 is none."""
    with DataLoader2(filtered(numbers(20))) as loader:
        loader.seed(2**64 - 1)
        largest = list(loader)
        loader.seed(0)
        assert largest != list(loader)
        with pytest.raises(TypeError, match=r"seed is 1\.5"):
            loader.seed(1.5)  # type: ignore[arg-type]


def test_what_stands_before_a_dispatch_runs_once(tmp_path: Path) -> None:
    """PIPE-10: one process reads each element once, and elements go round robin."""
    noted = Noted(12, tmp_path / "reads")
    with over_workers(noted.sharding_round_robin_dispatch().map(where), 3) as loader:
        assert [(number, number % 3) for number in range(12)] == list(loader)
    assert list(range(12)) == [number for number, _ in noted.reads()]
    assert 1 == len({process for _, process in noted.reads()})


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("workers", [2, 3])
def test_a_worker_that_ends_early_takes_nothing_along(sharded: Any, workers: int) -> None:
    """PIPE-13: filters after sharding leave workers with nothing, or with much less than others."""
    with over_workers(sharded(numbers(30)).filter(is_even), workers) as loader:
        assert list(range(0, 30, 2)) == sorted(loader)
    with over_workers(sharded(numbers(130)).filter(is_large), workers) as loader:
        assert list(range(100, 130)) == sorted(loader)
    with over_workers(sharded(numbers(1)), workers) as loader:
        assert [[0], [0]] == [list(loader), list(loader)]
    with over_workers(sharded(numbers(0)), workers) as loader:
        assert [[], []] == [list(loader), list(loader)]


@pytest.mark.parametrize("sharded", [*SHARDINGS, dispatched_ahead])
@pytest.mark.parametrize("workers", [0, 2])
def test_an_epoch_that_was_left_does_not_spoil_the_next(sharded: Any, workers: int) -> None:
    """PIPE-14: after any number of elements, and also many times."""
    with over_workers(sharded(numbers(300)), workers) as loader:
        for count in (0, 1, 2, 50, 0, 3, 7, 1):
            elements = iter(loader)
            assert list(range(count)) == [next(elements) for _ in range(count)]
        assert list(range(300)) == list(loader)


@pytest.mark.parametrize("sharded", SHARDINGS)
def test_elements_larger_than_a_pipe_do_not_lock(sharded: Any) -> None:
    """Every process that waits goes on reading: nobody stands before a full line."""
    with over_workers(sharded(numbers(40)).map(heavy), 3) as loader:
        next(iter(loader))
        assert list(range(40)) == [int.from_bytes(element[:4], "big") for element in loader]


@pytest.mark.parametrize("counts", [(0, 0), (1, 0), (3, 50)])
def test_what_is_ahead_changes_no_order(counts: tuple[int, int]) -> None:
    """Chunks of one element, of three, or of one at a time: the same epoch."""
    worker, main = counts
    with over_workers(filtered(numbers(50)), 2, worker_prefetch_cnt=worker, main_prefetch_cnt=main) as loader:
        loader.seed(1)
        found = list(loader)
    with over_workers(filtered(numbers(50)), 0) as alone:
        alone.seed(1)
        assert list(alone) == found


@pytest.mark.parametrize("workers", [0, 2])
def test_an_older_iterator_is_not_valid(workers: int) -> None:
    """PIPE-16: it raises once a newer one was made; the newer one is whole."""
    with over_workers(filtered_only(numbers(10)), workers) as loader:
        older = iter(loader)
        next(older)
        newer = iter(loader)
        with pytest.raises(RuntimeError, match="newer one was made"):
            next(older)
        assert list(range(10)) == list(newer)
        assert [] == list(newer)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_limit_pauses_and_loses_nothing(workers: int) -> None:
    """PIPE-19: the limit holds again after each resume, until it is taken away."""
    with over_workers(filtered_only(numbers(20)), workers) as loader:
        elements = iter(loader)
        elements.limit(3)
        assert [0, 1, 2] == list(elements)
        assert [] == list(elements)
        elements.resume()
        assert [3, 4, 5] == list(elements)
        elements.limit(None)
        elements.resume()
        assert 6 == next(elements)
        elements.pause()
        assert [] == list(elements)
        elements.resume()
        assert list(range(7, 20)) == list(elements)
        elements.pause()
        assert list(range(20)) == list(loader)


def test_the_users_pipeline_is_left_alone() -> None:
    """A loader works on a copy: the pipeline can be read beside it, and belongs to any number of loaders."""
    pipe = numbers(6).sharding_filter()
    with over_workers(pipe, 2) as loader, DataLoader2(pipe) as other:
        elements = iter(loader)
        assert 0 == next(elements)
        assert list(range(6)) == list(pipe)
        assert list(range(6)) == list(other)
        assert list(range(1, 6)) == list(elements)


def test_what_can_not_be_read_twice_is_refused() -> None:
    """A generator ends with the first epoch."""
    with pytest.raises(TypeError, match="read more than once"):
        DataLoader2(numbers(0).__class__(number for number in range(3)))


def test_what_is_no_pipeline_is_refused() -> None:
    """A list is not a DataPipe, and the mend is named."""
    with pytest.raises(TypeError, match="IterableWrapper"):
        DataLoader2([1, 2])
    with pytest.raises(TypeError, match="from_state"):
        DataLoader2(None)


@pytest.mark.parametrize("service", [5, MultiProcessingReadingService])
def test_what_is_no_service_is_refused(service: Any) -> None:
    """When the loader is made; a class that was not called is none."""
    with pytest.raises(TypeError, match=r"reading_service is .* instance of ReadingServiceInterface"):
        DataLoader2(numbers(3), reading_service=service)
    with pytest.raises(TypeError, match=r"reading_service is .* instance of ReadingServiceInterface"):
        SequentialReadingService(InProcessReadingService(), service)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda loader: pickle.loads(pickle.dumps(loader))])
def test_a_loader_can_be_copied(copied: Any) -> None:
    """It may be an argument of another process; the copy has the same epochs, and a life of its own."""
    with DataLoader2(filtered(numbers(20)), reading_service=InProcessReadingService(2)) as loader:
        loader.seed(3)
        twin = copied(loader)
        epochs = [list(loader), list(loader)]
    assert epochs == [list(twin), list(twin)]
    with pytest.raises(TypeError, match="has begun can't be copied"):
        copied(twin)
    twin.shutdown()


def test_an_adapter_turns_shuffling_off() -> None:
    """Adapters change the copy of the loader, once."""
    pipe = numbers(10).shuffle()
    with DataLoader2(pipe, Shuffle(False)) as loader:
        assert [list(range(10))] * 2 == [list(loader), list(loader)]
    with DataLoader2(pipe, [Shuffle(False), Shuffle(True)]) as loader:
        assert list(range(10)) != list(loader)


def test_a_map_style_pipe_is_read_in_order() -> None:
    """Its elements are 0 to its length."""
    with DataLoader2(SequenceWrapper([5, 6, 7])) as loader:
        assert [5, 6, 7] == list(loader)


@pytest.mark.parametrize("workers", [0, 2])
def test_sharding_twice_on_a_path_is_refused_here(workers: int) -> None:
    """PIPE-18: in the main process, before anything runs; before a dispatch one filter is fine."""
    with pytest.raises(RuntimeError, match="Sharding twice"):
        over_workers(numbers(4).sharding_filter().map(where).sharding_filter(), workers)
    with pytest.raises(RuntimeError, match="Sharding twice"):
        over_workers(numbers(4).sharding_round_robin_dispatch().sharding_filter(), workers)
    with over_workers(numbers(4).sharding_filter().sharding_round_robin_dispatch(), workers) as loader:
        assert [0, 1, 2, 3] == list(loader)
    first, second = numbers(4).sharding_filter(), numbers(4).sharding_filter()
    with over_workers(first.zip(second), workers) as loader:
        assert [(number, number) for number in range(4)] == list(loader)
