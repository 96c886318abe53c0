"""Functions over graphs that services of users' own are written with, and what users ask an iterator for."""

from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data import IterDataPipe
from torch.utils.data.datapipes.iter import IterableWrapper, Mapper, Shuffler
from torch.utils.data.graph import traverse_dps

from reference.dataloader2 import DataLoader2
from reference.pipelines.adapters import Adapter
from reference.pipelines.graph_functions import (
    find_dps,
    list_dps,
    remove_dp,
    replace_dp,
    set_datapipes_seed,
    set_graph_random_seed,
)
from reference.pipelines.messages import name_process
from reference.pipelines.seeds import SeedGenerator
from reference.reading_service import ReadingServiceInterface
from tests.reference.pipelines.pipe_probes import numbers, over_workers, raising


def same(number: int) -> int:
    """For `map`."""
    return number


def end_of(graph: Any) -> Any:
    """The pipe that a graph ends in."""
    return next(iter(graph.values()))[0]


def test_pipes_are_listed_and_found_once() -> None:
    """Also where two branches share them; what is left out takes along what stands before it."""
    source = numbers(4)
    first, second = source.fork(2)
    shuffled = first.shuffle()
    graph = traverse_dps(shuffled.zip(second))
    assert len(list_dps(graph)) == len({id(pipe) for pipe in list_dps(graph)})
    assert [shuffled] == find_dps(graph, Shuffler)
    assert [source] == find_dps(graph, IterableWrapper)
    assert [] == find_dps(graph, IterDataPipe)
    assert [end_of(graph)] == list_dps(graph, exclude_dps=[shuffled, second])
    assert source not in list_dps(graph, exclude_dps=shuffled)


def test_a_pipe_is_exchanged() -> None:
    """In the middle, at the end, and by one that is built on it."""
    pipe = numbers(3).map(same)
    end = pipe.map(str)
    graph = replace_dp(traverse_dps(end), pipe, numbers(2))
    assert ["0", "1"] == list(end_of(graph))
    assert [5] == list(end_of(replace_dp(graph, end, IterableWrapper([5]))))
    source = numbers(3)
    end = source.map(str)
    assert ["1", "2"] == list(end_of(replace_dp(traverse_dps(end), source, source.map(same).filter(bool))))


def test_a_pipe_is_taken_out() -> None:
    """If one pipe stands before it."""
    source = numbers(3)
    shuffled = source.shuffle()
    end = shuffled.map(same)
    graph = remove_dp(traverse_dps(end), shuffled)
    assert [0, 1, 2] == list(end_of(graph))
    assert [0, 1, 2] == list(end_of(remove_dp(graph, end)))
    with pytest.raises(RuntimeError, match="is a source"):
        remove_dp(traverse_dps(source), source)
    both = source.zip(numbers(3))
    with pytest.raises(RuntimeError, match="joins 2 pipes"):
        remove_dp(traverse_dps(both), both)


def test_a_graph_can_be_seeded_by_hand() -> None:
    """As the loader does it: what stands before a filter is seeded alike, whichever worker asks."""
    found = []
    for worker in range(2):
        pipe = set_graph_random_seed(numbers(20).shuffle().sharding_filter(), SeedGenerator(3, worker=worker))
        found.append(list(pipe))
    assert found[0] == found[1] != list(range(20))
    apart = [list(set_graph_random_seed(numbers(20).shuffle(), SeedGenerator(3, worker=at))) for at in range(2)]
    assert apart[0] != apart[1]
    with pytest.raises(TypeError, match="SeedGenerator"):
        set_graph_random_seed(numbers(1), 3)  # type: ignore[arg-type]
    pipes = [numbers(20).shuffle(), numbers(20).map(same)]
    set_datapipes_seed(pipes, SeedGenerator(1), distributed_shared=True)
    again = numbers(20).shuffle().set_seed(SeedGenerator(1).generate_shared_seed())
    assert list(again) == list(pipes[0])


class Started(IterDataPipe[Any]):
    """A pipe that a service tells that an epoch has begun."""

    def __init__(self, source: Any) -> None:
        self.source, self.is_started = source, False

    def __iter__(self) -> Iterator[Any]:
        assert self.is_started
        yield from self.source


class Starting(ReadingServiceInterface):
    """A service of a user's own, that finds pipes and wraps them."""

    def initialize(self, datapipe: Any) -> Any:
        graph = traverse_dps(datapipe)
        self.own = [Started(pipe) for pipe in find_dps(graph, Mapper)]
        for pipe in self.own:
            graph = replace_dp(graph, pipe.source, pipe)
        return end_of(graph)

    def initialize_iteration(self, seed_generator: Any, iter_reset_fn: Any = None) -> None:
        for pipe in self.own:
            pipe.is_started = True

    def finalize_iteration(self) -> None:
        for pipe in self.own:
            pipe.is_started = False


def test_a_service_wraps_what_it_finds() -> None:
    """What it has put into the graph is what is iterated."""
    with DataLoader2(numbers(3).map(same).map(str), reading_service=Starting()) as loader:
        assert [["0", "1", "2"]] * 2 == [list(loader), list(loader)]


class Named(IterDataPipe[int]):
    """A pipe with an attribute."""

    name = "numbers"

    def __iter__(self) -> Iterator[int]:
        yield from range(3)


def test_an_iterator_has_what_the_pipe_has() -> None:
    """And its loader; what neither has is an AttributeError that says so."""
    with DataLoader2(Named()) as loader:
        elements = iter(loader)
        assert 0 == next(elements)
        assert loader is elements.dataloader
        assert "numbers" == elements.name
        with pytest.raises(AttributeError, match="nothing"):
            getattr(elements, "nothing")  # noqa: B009


def test_an_adapter_of_ones_own_says_what_it_changes() -> None:
    """By `__call__`."""

    class Header(Adapter):
        def __call__(self, datapipe: Any) -> Any:
            return datapipe.header(2)

    with DataLoader2(numbers(5), Header()) as loader:
        assert [0, 1] == list(loader)
    with pytest.raises(NotImplementedError, match="__call__"):
        Adapter()(numbers(1))


def test_an_error_names_its_worker() -> None:
    """In its text, where programs look for it; the type stays what it was."""
    loader = over_workers(numbers(20).sharding_filter().map(raising), 2)
    with pytest.raises(ValueError, match=r"boom \(Caught ValueError in worker process 1 of 2\.\)"):
        list(loader)
    loader = over_workers(numbers(20).map(raising).sharding_round_robin_dispatch(), 2)
    with pytest.raises(ValueError, match="Caught ValueError in dispatching process"):
        list(loader)


class Own(Exception):
    """With a text of its own."""

    def __str__(self) -> str:
        return "always the same"


@pytest.mark.parametrize("error", [Own("a"), FileNotFoundError(2, "no"), ValueError(), ValueError(1)])
def test_an_error_that_is_no_mere_text_stays_as_it_is(error: Exception) -> None:
    """A note says where it was raised."""
    before = (error.args, str(error))
    name_process(error, "worker process 0 of 1")
    assert before == (error.args, str(error))
