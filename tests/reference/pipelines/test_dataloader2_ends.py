"""How a DataLoader2 ends: by an error, by shutdown, by being forgotten; and what is left of it."""

import gc
import multiprocessing
import pickle
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterDataPipe

from reference.dataloader2 import DataLoader2
from reference.pipelines.crew import Crew
from reference.pipelines.graph import Place
from reference.pipelines.messages import Begin
from reference.pipelines.seeds import SeedGenerator
from reference.reading_service import WorkerInfo
from tests.reference.pipelines.pipe_probes import (
    AT,
    SHARDINGS,
    dispatched_only,
    dying,
    exiting,
    filtered_only,
    numbers,
    over_workers,
    raising,
    told,
)


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    """After each test no process and no thread is left that was not there before."""
    gc.collect()
    before = set(threading.enumerate())
    yield
    assert [] == multiprocessing.active_children()
    assert set() == set(threading.enumerate()) - before


def until_error(loader: DataLoader2) -> tuple[list[int], BaseException]:
    """What came before the error, and the error."""
    elements: list[int] = []
    try:
        for element in loader:
            elements.append(element)
    except BaseException as error:
        return elements, error
    raise AssertionError("the epoch ended without an error")


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("workers", [0, 2, 3])
def test_an_error_comes_in_its_place(sharded: Any, workers: int) -> None:
    """Every element before it comes, then the error with its type, then the loader is no more."""
    loader = over_workers(sharded(numbers(20)).map(raising), workers)
    elements, error = until_error(loader)
    assert list(range(AT)) == elements
    assert ValueError is type(error)
    assert "boom" in str(error)
    if workers:
        assert f"worker {AT % workers} of {workers}" in told(error)
    with pytest.raises(RuntimeError, match="shut down"):
        iter(loader)


def test_nothing_comes_behind_an_error() -> None:
    """A worker that was asked for more chunks before it failed does not end its epoch once more, in peace."""
    seeds = SeedGenerator(0)
    crew = Crew(numbers(2).map(a_failure), Place(), 1, method=None, chunk=1, chunks=5, init=None, reset=None)
    try:
        crew.begin(seeds)
        (lane,) = crew.workers
        # Handled in order: what was asked for first is answered, or not, before the next epoch begins.
        lane.send(Begin(1, seeds))
        messages = [pickle.loads(lane.line.recv_bytes()) for _ in range(3)]
    finally:
        crew.end()
    assert [(0,), (0, [], True), (1,)] == [message[:3] for message in messages]


def a_failure(number: int) -> int:
    """Fails at once."""
    raise ValueError("boom")


def test_an_error_before_a_dispatch_comes_in_its_place() -> None:
    """It was raised in the dispatching process, and says so."""
    elements, error = until_error(over_workers(dispatched_only(numbers(20).map(raising)), 2))
    assert list(range(AT)) == elements
    assert ValueError is type(error)
    assert "dispatching process" in told(error)


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("ending", [dying, exiting])
def test_a_worker_that_dies_is_an_error(sharded: Any, ending: Any) -> None:
    """PIPE-15: it names the worker, and what was sent before still comes."""
    elements, error = until_error(over_workers(sharded(numbers(2000)).map(ending), 2))
    assert elements == list(range(len(elements)))
    assert AT >= len(elements)
    assert RuntimeError is type(error)
    assert "Worker 1 of 2 ended" in str(error)


def test_a_dispatching_process_that_dies_is_an_error() -> None:
    """PIPE-15: the workers would wait for ever."""
    elements, error = until_error(over_workers(dispatched_only(numbers(2000).map(dying)), 2))
    assert elements == list(range(len(elements)))
    assert "dispatching process has ended" in told(error)


def fails(pipe: IterDataPipe, info: WorkerInfo) -> IterDataPipe:
    """An initialiser that raises in one worker."""
    if info.worker_id == info.num_workers - 1:
        raise KeyError("no such file")
    return pipe


def forgets(pipe: IterDataPipe, info: WorkerInfo) -> None:
    """An initialiser without a return."""


def keeps_odd(pipe: IterDataPipe, info: WorkerInfo) -> IterDataPipe:
    """An initialiser that changes the graph."""
    return pipe.filter(is_odd)


def is_odd(number: int) -> bool:
    """For `filter`."""
    return number % 2 == 1


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("workers", [0, 2])
def test_an_initialiser_that_raises_is_an_error(sharded: Any, workers: int) -> None:
    """PIPE-15: of its own type, in the loop, naming the worker."""
    _, error = until_error(over_workers(sharded(numbers(20)), workers, worker_init_fn=fails))
    assert KeyError is type(error)
    assert not workers or "worker initialiser in worker 1 of 2" in told(error)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_initialiser_must_return_the_graph(workers: int) -> None:
    """None would be iterated later, with an error that nobody understands."""
    _, error = until_error(over_workers(filtered_only(numbers(20)), workers, worker_init_fn=forgets))
    assert "returned None of type" in str(error)


@pytest.mark.parametrize("workers", [0, 2])
def test_an_initialiser_changes_the_graph(workers: int) -> None:
    """What it returns is what the worker runs."""
    with over_workers(filtered_only(numbers(10)), workers, worker_init_fn=keeps_odd) as loader:
        assert [1, 3, 5, 7, 9] == list(loader)


def test_an_element_that_can_not_be_sent_is_an_error() -> None:
    """It comes in its place, and not in a thread where nobody hears of it."""
    _, error = until_error(over_workers(filtered_only(numbers(10)).map(a_function), 2))
    assert "when an element was sent in worker 0" in told(error)


def a_function(number: int) -> object:
    """Something that can't be pickled."""
    return lambda: number


@pytest.mark.parametrize("sharded", SHARDINGS)
@pytest.mark.parametrize("workers", [0, 2])
def test_after_shutdown_nothing_goes(sharded: Any, workers: int) -> None:
    """PIPE-17: not the loader, not an iterator that was valid; shutting down twice is fine."""
    loader = over_workers(sharded(numbers(5000)), workers)
    elements = iter(loader)
    next(elements)
    loader.shutdown()
    loader.shutdown()
    for use in (lambda: next(elements), lambda: iter(loader), lambda: loader.seed(0), elements.resume):
        with pytest.raises(RuntimeError, match="shut down"):
            use()


def test_a_loader_that_was_never_used_can_be_shut_down() -> None:
    """Nothing has been started."""
    over_workers(filtered_only(numbers(5)), 2).shutdown()


@pytest.mark.parametrize("sharded", SHARDINGS)
def test_a_forgotten_loader_leaves_nothing(sharded: Any) -> None:
    """PIPE-17: no cycle keeps it, so its processes end with the last reference."""
    loader = over_workers(sharded(numbers(5000)), 2)
    elements = iter(loader)
    next(elements)
    assert [] != multiprocessing.active_children()
    gone = weakref.ref(loader)
    del loader
    assert 1 == next(elements)
    del elements
    assert None is gone()
    assert [] == multiprocessing.active_children()


def test_a_spawned_worker_runs_the_same() -> None:
    """The graph is pickled then, and torch's shuffle loses whatever was noted on it: the seeds do not get lost."""
    found = []
    for method in ("fork", "spawn"):
        with over_workers(numbers(12).shuffle().sharding_filter(), 1, multiprocessing_context=method) as loader:
            loader.seed(4)
            found.append(list(loader))
    assert found[0] == found[1]


def test_what_can_not_be_sent_to_a_spawned_worker_is_refused() -> None:
    """The mend is named, and no process is left."""
    pipe = IterDataPipe.functions["map"](filtered_only(numbers(3)), a_function(0).__call__)
    _, error = until_error(over_workers(pipe, 2, multiprocessing_context="spawn"))
    assert "can't be sent to a process" in str(error)
