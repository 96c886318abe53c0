"""Epochs of the reference's loader that are stopped and gone on with."""

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader as TorchLoader
from torch.utils.data import SequentialSampler

import reference
from reference.loading.restarts import Counted, Position, position_of, state_of

SAMPLES = torch.arange(10)
State = dict[str, Any]


class Dataset(torch.utils.data.Dataset[Any]):
    """Notes which samples are read."""

    def __init__(self, length: int = 10) -> None:
        self.length = length
        self.reads: list[int] = []

    def __len__(self) -> int:
        return self.length

    def __getitem__(self, index: int) -> int:
        self.reads.append(index)
        return index


class Stream(torch.utils.data.IterableDataset[int]):
    """0 to 9."""

    def __iter__(self) -> Any:
        return iter(range(10))


def _loader(dataset: Any = None, seed: int | None = 3, **arguments: Any) -> reference.DataLoader:
    options = reference.Options()
    if seed is not None:
        options.randomSeed(seed)
    usual = {"batch_size": 2, "drop_last": True}
    return reference.DataLoader(options, dataset if dataset is not None else Dataset(), **{**usual, **arguments})


def _listed(step: Any) -> Any:
    return step.tolist() if isinstance(step, torch.Tensor) else step


def _steps(loader: reference.DataLoader) -> list[Any]:
    return [_listed(step) for step in loader]


def _read(loader: reference.DataLoader, count: int) -> tuple[list[Any], State]:
    """The first steps of an epoch, and the state behind them."""
    iterator = iter(loader)
    steps = [_listed(next(iterator)) for _ in range(count)]
    return steps, loader.state_dict()


KINDS: dict[str, Callable[[], reference.DataLoader]] = {
    "map": _loader,
    "shuffled": lambda: _loader(shuffle=True),
    "workers": lambda: _loader(shuffle=True, num_workers=2),
    "asynchronous": lambda: _loader(shuffle=True, mode=reference.DataLoaderMode.Async, async_options=_FORKED),
    "stream": lambda: _loader(Stream()),
    "sampler": lambda: _loader(sampler=SequentialSampler(range(10)), auto_distributed_partitioning=False),
    "single samples": lambda: _loader(batch_size=None, shuffle=True),
}
_FORKED = {"sharing_strategy": reference.SharingStrategy.Fork}


@pytest.mark.parametrize("made", KINDS.values(), ids=KINDS)
def test_the_rest_and_the_next_epoch_come(made: Callable[[], reference.DataLoader]) -> None:
    """RESUME-1, RESUME-2: head, rest and next epoch are those of a loader that nobody stopped."""
    whole, stopped, other = made(), made(), made()
    head, state = _read(stopped, 3)
    stopped.terminate()
    other.load_state_dict(pickle.loads(pickle.dumps(state)))
    assert [_steps(whole), _steps(whole)] == [head + _steps(other), _steps(other)]
    for loader in (whole, other):
        loader.terminate()


def test_what_was_given_is_not_read_again() -> None:
    """Our own order is entered where it was left."""
    _, state = _read(_loader(), 3)
    dataset = Dataset()
    other = _loader(dataset)
    other.load_state_dict(state)
    assert [[6, 7], [8, 9]] == _steps(other)
    assert [6, 7, 8, 9] == dataset.reads


def test_a_state_counts_what_was_given_and_not_what_is_ready() -> None:
    """Workers are steps ahead, and the state is not."""
    loader = _loader(num_workers=2, prefetch_factor=2)
    _, state = _read(loader, 1)
    loader.terminate()
    assert (0, 1) == (state["epoch"], state["steps"])


def test_a_state_is_of_its_moment() -> None:
    """RESUME-7: what is read afterwards changes nothing of it."""
    loader = _loader()
    iterator = iter(loader)
    next(iterator)
    state = loader.state_dict()
    kept = copy.deepcopy(state)
    list(iterator)
    assert kept == state


@pytest.mark.parametrize(("steps", "epoch", "given"), [(0, 0, 0), (5, 0, 5)])
def test_a_state_within_an_epoch_is_of_it(steps: int, epoch: int, given: int) -> None:
    """RESUME-3: before the first step, and behind the last one until the end is asked for."""
    _, state = _read(_loader(), steps)
    assert (epoch, given) == (state["epoch"], state["steps"])


def test_a_state_of_an_end_is_one_of_the_next_epoch() -> None:
    """RESUME-4."""
    loader = _loader()
    list(loader)
    assert (1, 0) == (loader.state_dict()["epoch"], loader.state_dict()["steps"])


def test_before_anything_was_read_there_is_a_state() -> None:
    """RESUME-8: that of the epoch which comes next."""
    loader = _loader()
    loader.set_epoch(4)
    assert (4, 0) == (loader.state_dict()["epoch"], loader.state_dict()["steps"])


def test_restarts_add_up() -> None:
    """RESUME-5: the second state counts the steps before the first one too, read or not."""
    _, state = _read(_loader(), 2)
    second = _loader()
    second.load_state_dict(state)
    assert state == second.state_dict()
    assert 3 == _read(second, 1)[1]["steps"]


def test_the_number_of_the_epoch_may_be_said_again() -> None:
    """A trainer's loop calls set_epoch in each epoch; another number begins another epoch."""
    _, state = _read(_loader(shuffle=True), 2)
    same, other = _loader(shuffle=True), _loader(shuffle=True)
    for loader, epoch in ((same, 0), (other, 1)):
        loader.load_state_dict(state)
        loader.set_epoch(epoch)
    assert (3, 5) == (len(_steps(same)), len(_steps(other)))


def test_an_epoch_that_was_gone_on_with_and_left_is_not_gone_on_with_again() -> None:
    """RESUME-2: what was skipped is skipped once."""
    _, state = _read(_loader(), 2)
    other = _loader()
    other.load_state_dict(state)
    _read(other, 1)
    assert [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]] == _steps(other)


def test_a_used_loader_goes_back() -> None:
    """RESUME-9: whatever it has read."""
    loader = _loader()
    _, state = _read(loader, 2)
    list(loader)
    loader.load_state_dict(state)
    assert [[4, 5], [6, 7], [8, 9]] == _steps(loader)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (dict(batch_size=5), "a loader with combined batch 2, and this one has 5"),
        (dict(dataset=Dataset(12)), "a loader with samples 10, and this one has 12"),
        (dict(seed=4), "a loader with seed 3, and this one has 4"),
        (dict(drop_last=False), "a loader with drop_last True, and this one has False"),
    ],
)
def test_a_state_of_another_request_is_refused(arguments: State, sentence: str) -> None:
    """RESUME-11: the sentence says what differs."""
    _, state = _read(_loader(shuffle=True), 1)
    with pytest.raises(ValueError, match=sentence):
        _loader(shuffle=True, **arguments).load_state_dict(state)


def test_an_order_that_nobody_can_repeat_is_refused() -> None:
    """Without a random seed the order belongs to the loader that drew it."""
    _, state = _read(_loader(seed=None, shuffle=True), 1)
    torch.manual_seed(1)
    with pytest.raises(ValueError, match="build the loader as it was, or begin the epoch again"):
        _loader(seed=None, shuffle=True).load_state_dict(state)


def test_other_workers_read_the_same_order() -> None:
    """The number of workers is no part of the order of a map-style dataset."""
    _, state = _read(_loader(), 3)
    other = _loader(num_workers=1)
    other.load_state_dict(state)
    assert [[6, 7], [8, 9]] == _steps(other)


@pytest.mark.parametrize(
    ("state", "error", "sentence"),
    [
        ([1, 2], TypeError, "state"),
        ({"epoch": 1}, ValueError, "which no loader gave: load what state_dict"),
        ({"epoch": 0, "steps": -1, "counted_in": {}}, ValueError, "steps"),
        ({"epoch": -1, "steps": 0, "counted_in": {}}, ValueError, "epoch"),
    ],
)
def test_what_is_no_state_is_refused(state: Any, error: type[Exception], sentence: str) -> None:
    """TypeError or ValueError, with what was given."""
    with pytest.raises(error, match=sentence):
        position_of(state, {})


def test_an_error_is_no_step() -> None:
    """A step that could not be loaded was given to nobody."""
    position = Position(2)

    def broken() -> Any:
        yield 1
        raise KeyError("2")

    counted = Counted(broken(), position)
    next(counted)
    with pytest.raises(KeyError):
        next(counted)
    assert {"epoch": 2, "steps": 1, "counted_in": {}} == state_of(position, {})


def test_the_loader_is_still_torch_s() -> None:
    """Whoever asks for torch's type finds it."""
    assert isinstance(_loader(), TorchLoader)
