"""The state of a DataLoader2: what was delivered before and what comes after are the epoch that nobody stopped."""

import pickle
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from reference.dataloader2 import DataLoader2
from reference.pipelines.states import Position, position_in
from reference.reading_service import MultiProcessingReadingService
from tests.reference.pipelines.pipe_probes import (
    dispatched,
    filtered,
    numbers,
    over_ranks,
    over_workers,
)
from tests.reference.pipelines.pipe_ranks import Ranks

COUNT = 20


def carried(state: Any) -> Any:
    """A state as another process gets it."""
    return pickle.loads(pickle.dumps(state))


def some(loader: DataLoader2, count: int) -> list[Any]:
    """The first elements of an epoch."""
    elements = iter(loader)
    return [next(elements) for _ in range(count)]


@pytest.mark.parametrize("make", [filtered, dispatched])
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("count", [0, 1, 7, COUNT])
def test_a_restart_goes_on_where_it_was_stopped(make: Any, workers: int, count: int) -> None:
    """RESUME-1, RESUME-2: the rest of the second epoch, then the third; what was read ahead does not count."""
    with over_workers(make(numbers(COUNT)), workers) as loader:
        loader.seed(3)
        whole = [list(loader) for _ in range(3)]
    with over_workers(make(numbers(COUNT)), workers) as loader:
        loader.seed(3)
        list(loader)
        before = some(loader, count) if count else []
        state = carried(loader.state_dict())
    with over_workers(make(numbers(COUNT)), workers) as loader:
        loader.load_state_dict(state)
        found = [before + list(loader), list(loader)]
    assert whole[1:] == found


def test_a_state_at_the_end_means_the_next_epoch() -> None:
    """RESUME-4."""
    with over_workers(filtered(numbers(COUNT)), 0) as loader, over_workers(filtered(numbers(COUNT)), 0) as again:
        loader.seed(3)
        list(loader)
        again.load_state_dict(carried(loader.state_dict()))
        assert list(loader) == list(again)


def test_a_second_restart_is_as_good_as_the_first() -> None:
    """RESUME-5: also where the second state is taken before anything was read."""
    with over_workers(filtered(numbers(COUNT)), 0) as loader:
        loader.seed(1)
        whole = list(loader)
        loader.seed(1)
        some(loader, 4)
        state = loader.state_dict()
    for count in (0, 3):
        with DataLoader2(filtered(numbers(COUNT))) as second, DataLoader2(filtered(numbers(COUNT))) as third:
            second.load_state_dict(carried(state))
            delivered = some(second, count) if count else []
            third.load_state_dict(carried(second.state_dict()))
            assert whole[4:] == delivered + list(third)


def test_an_epoch_without_a_seed_goes_on() -> None:
    """The seed that was drawn is in the state, so nothing is drawn for the rest of that epoch."""
    with DataLoader2(filtered(numbers(COUNT))) as loader, DataLoader2(filtered(numbers(COUNT))) as again:
        elements = iter(loader)
        next(elements)
        again.load_state_dict(carried(loader.state_dict()))
        before = torch.get_rng_state()
        assert list(elements) == list(again)
        assert torch.equal(before, torch.get_rng_state())
        assert list(again) != list(elements)


@pytest.mark.parametrize(("seed", "goes_on"), [(3, True), (4, False)])
def test_saying_the_seed_of_the_epoch_again_does_not_undo_it(seed: int, goes_on: bool) -> None:
    """A loop says `seed(epoch)` in every epoch, also in the one that was stopped; another seed begins again."""
    with DataLoader2(filtered(numbers(COUNT))) as loader, DataLoader2(filtered(numbers(COUNT))) as again:
        loader.seed(3)
        before = some(loader, 5)
        again.load_state_dict(carried(loader.state_dict()))
        again.seed(seed)
        loader.seed(seed)
        assert list(loader) == (before if goes_on else []) + list(again)


def test_a_new_iterator_is_a_new_epoch_also_for_a_state() -> None:
    """RESUME-3: what was read of the epoch before is left."""
    with DataLoader2(filtered(numbers(COUNT))) as loader, DataLoader2(filtered(numbers(COUNT))) as again:
        loader.seed(3)
        some(loader, 5)
        newer = iter(loader)
        again.load_state_dict(carried(loader.state_dict()))
        assert list(newer) == list(again)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_holds_the_pipeline(workers: int) -> None:
    """As adapters left it, and before a service took it apart."""
    with over_workers(filtered(numbers(COUNT)), workers) as loader:
        loader.seed(2)
        before = some(loader, 3)
        state = carried(loader.state_dict())
        loader.seed(2)
        whole = list(loader)
    with DataLoader2.from_state(state, MultiProcessingReadingService(workers)) as again:
        assert whole == before + list(again)


def test_a_pipeline_that_can_not_be_pickled_has_a_state_still() -> None:
    """For a loader of the same program; `from_state` says so."""
    with DataLoader2(numbers(3).flatmap(lambda number: [number + 1])) as loader:
        some(loader, 1)
        state = loader.state_dict()
    with DataLoader2(numbers(3).flatmap(lambda number: [number + 1])) as again:
        again.load_state_dict(carried(state))
        assert [2, 3] == list(again)
    with pytest.raises(ValueError, match="could not be pickled"):
        DataLoader2.from_state(state)


def test_an_iterator_is_not_valid_once_a_state_was_loaded() -> None:
    """PIPE-16: it belongs to another epoch."""
    with DataLoader2(numbers(3)) as loader:
        state = loader.state_dict()
        elements = iter(loader)
        next(elements)
        loader.load_state_dict(state)
        with pytest.raises(RuntimeError, match="not valid any more"):
            next(elements)


@pytest.mark.parametrize("state", [None, {}, {"version": 0}])
def test_what_is_no_state_is_refused(state: Any) -> None:
    """RESUME-11."""
    with DataLoader2(numbers(3)) as loader, pytest.raises((TypeError, ValueError), match="The state is"):
        loader.load_state_dict(state)


def test_a_state_that_does_not_fit_is_refused() -> None:
    """RESUME-11: of more elements than there are, or of another number of ranks."""
    with DataLoader2(numbers(5)) as loader:
        some(loader, 4)
        state = loader.state_dict()
    with pytest.raises(ValueError, match="this epoch has only 3"):
        list(_resumed(numbers(3), state))
    with pytest.raises(ValueError, match="taken on 2 ranks"):
        list(_resumed(numbers(5), {**state, "world_size": 2}))
    with pytest.raises(ValueError, match="read is -1"):
        position_in({**state, "read": -1})


def _resumed(pipe: Any, state: Any) -> DataLoader2:
    loader = DataLoader2(pipe)
    loader.load_state_dict(state)
    return loader


def test_a_position_is_the_first_epoch_of_one_seed() -> None:
    """Of the seed that was said, and of no later epoch."""
    assert Position(3, 1, 7).is_first_of(3)
    assert not any(each.is_first_of(3) for each in (Position(3, 1), Position(3, 2, 7), Position(4, 1, 7), Position()))


@pytest.fixture(scope="module")
def two_ranks() -> Iterator[Ranks]:
    """A group of two."""
    group = Ranks(2)
    yield group
    group.end()


def stopped(rank: int, workers: int, count: int) -> tuple[list[int], Any]:
    """What a rank was given, and its state."""
    with over_ranks(filtered(numbers(COUNT)), workers) as loader:
        loader.seed(rank)
        return some(loader, count), loader.state_dict()


def gone_on(rank: int, workers: int, states: list[Any]) -> list[list[int]]:
    """The rest of that epoch, and the next."""
    with over_ranks(filtered(numbers(COUNT)), workers) as loader:
        loader.load_state_dict(states[rank])
        return [list(loader), list(loader)]


@pytest.mark.parametrize("workers", [0, 2])
def test_ranks_go_on_together(two_ranks: Ranks, workers: int) -> None:
    """RESUME-1: each from its own state; together each element once."""
    found = two_ranks.run(stopped, workers, 3)
    rest = two_ranks.run(gone_on, workers, [state for _, state in found])
    delivered = [number for (before, _), (after, _) in zip(found, rest, strict=True) for number in before + after]
    assert list(range(COUNT)) == sorted(delivered)
    assert list(range(COUNT)) == sorted(number for _, epoch in rest for number in epoch)
