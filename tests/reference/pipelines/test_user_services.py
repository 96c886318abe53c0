"""Services, initialisers and adapters of users' own, as torchdata documented them: nothing is lost or comes twice."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.utils.data import IterDataPipe
from torch.utils.data.datapipes.iter.sharding import SHARDING_PRIORITIES
from torch.utils.data.graph_settings import apply_sharding

from reference.dataloader2 import DataLoader2, Shuffle
from reference.pipelines.graph import Place
from reference.pipelines.messages import WorkerInfo
from reference.pipelines.seeds import SeedGenerator
from reference.reading_service import (
    DistributedReadingService,
    InProcessReadingService,
    MultiProcessingReadingService,
    ReadingServiceInterface,
    SequentialReadingService,
)
from tests.reference.pipelines.pipe_probes import filtered, filtered_only, is_even, numbers, over_workers
from tests.reference.pipelines.pipe_ranks import Ranks

WHOLE = list(range(20))


class Hooked(ReadingServiceInterface):
    """A service whose hooks are functions."""

    def __init__(self, each: Callable[..., Any] | None = None, once: Callable[[Any], Any] | None = None) -> None:
        self.each, self.once = each, once

    def initialize(self, datapipe: Any) -> Any:
        return self.once(datapipe) if self.once is not None else datapipe

    def initialize_iteration(self, seed_generator: Any, iter_reset_fn: Any = None) -> Any:
        return self.each(seed_generator) if self.each is not None else None


class Wrapping(ReadingServiceInterface):
    """A service that passes everything on to another one, and knows nothing of it."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def initialize(self, datapipe: Any) -> Any:
        return self.inner.initialize(datapipe)

    def initialize_iteration(self, *given: Any, **named: Any) -> Any:
        return self.inner.initialize_iteration(*given, **named)

    def finalize(self) -> None:
        self.inner.finalize()


def before_workers(service: Any, workers: int) -> Any:
    """The service, joined before workers; alone, where there are none."""
    return SequentialReadingService(service, MultiProcessingReadingService(workers)) if workers else service


def epoch(pipe: Any, service: Any, seed: int = 5) -> list[Any]:
    """One epoch."""
    with DataLoader2(pipe, reading_service=service) as loader:
        loader.seed(seed)
        return list(loader)


def says_nothing(seeds: Any) -> None:
    """What most services return."""


def says_itself(seeds: Any) -> Any:
    """The generator, as a chain of services would."""
    return seeds


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("hook", [says_nothing, says_itself])
def test_a_service_that_says_nothing_keeps_the_seed(hook: Any, workers: int) -> None:
    """PIPE-3: workers that drew seeds of their own had of 20 elements 5 twice and 5 never."""
    assert epoch(filtered(numbers(20)), None) == epoch(filtered(numbers(20)), before_workers(Hooked(hook), workers))


def reseeds(seeds: Any) -> None:
    """Another seed for everything behind this service."""
    seeds.seed(123)


def reseeds_by_a_number(seeds: Any) -> int:
    """The same, returned."""
    return 123


def reseeds_by_another(seeds: Any) -> SeedGenerator:
    """The same, by a generator of one's own."""
    return SeedGenerator(123)


@pytest.mark.parametrize("hook", [reseeds, reseeds_by_a_number, reseeds_by_another])
def test_a_service_may_seed_anew(hook: Any) -> None:
    """Then its seed holds in all workers, whatever the loader's is."""
    found = [
        epoch(filtered(numbers(20)), before_workers(Hooked(hook), workers), seed)
        for workers, seed in ((0, 1), (1, 1), (2, 1), (2, 2))
    ]
    assert [found[0]] * 4 == found
    assert WHOLE == sorted(found[0])


@pytest.mark.parametrize(("said", "kind"), [("5", TypeError), (1.5, TypeError), (True, TypeError), (-1, ValueError)])
def test_what_is_no_answer_of_a_service_is_refused(said: Any, kind: type[Exception]) -> None:
    """Anything else would be a seed that nobody meant."""
    with pytest.raises(kind):
        epoch(filtered(numbers(20)), Hooked(lambda seeds: said))


def test_what_is_no_graph_is_refused() -> None:
    """An initialize, or an adapter, without a return."""
    with pytest.raises(TypeError, match="initialize of Hooked returned None"):
        epoch(numbers(3), Hooked(once=lambda pipe: None))
    with pytest.raises(TypeError, match=r"adapter .* returned None"):
        DataLoader2(numbers(3), lambda pipe: None)


def with_a_filter(pipe: Any) -> Any:
    """A graph that shards."""
    return pipe.sharding_filter()


def with_a_filter_of_its_own(pipe: Any, info: WorkerInfo) -> Any:
    """An initialiser that shards, over workers alone."""
    pipe = pipe.sharding_filter()
    apply_sharding(pipe, info.num_workers, info.worker_id, SHARDING_PRIORITIES.MULTIPROCESSING)
    return pipe


def with_a_plain_filter(pipe: Any, info: WorkerInfo) -> Any:
    """An initialiser that leaves the shares to the loader."""
    return pipe.sharding_filter()


def reset_with_a_filter(pipe: Any, info: WorkerInfo, seeds: Any) -> Any:
    """A function for each epoch that shards."""
    return pipe.sharding_filter()


def says_a_filter(seeds: Any) -> Callable[[Any], Any]:
    """A service that changes the graph of every epoch."""
    return with_a_filter


@pytest.mark.parametrize(
    "service",
    [
        pytest.param(lambda: MultiProcessingReadingService(2, worker_init_fn=with_a_filter_of_its_own), id="by hand"),
        pytest.param(lambda: MultiProcessingReadingService(2, worker_init_fn=with_a_plain_filter), id="init"),
        pytest.param(lambda: MultiProcessingReadingService(2, worker_reset_fn=reset_with_a_filter), id="reset"),
        pytest.param(lambda: before_workers(Hooked(once=with_a_filter), 2), id="service"),
        pytest.param(lambda: before_workers(Hooked(says_a_filter), 2), id="each epoch"),
    ],
)
def test_a_filter_may_be_added_behind_a_shuffle(service: Any) -> None:
    """PIPE-3: workers then shuffle alike; by a scope that was looked up before, of 20 elements 4 came twice."""
    with DataLoader2(numbers(20).shuffle(), reading_service=service()) as loader:
        loader.seed(5)
        epochs = [list(loader), list(loader)]
    assert [WHOLE, WHOLE] == [sorted(each) for each in epochs]
    assert epochs[0] != epochs[1]


@pytest.mark.parametrize("init", [with_a_filter_of_its_own, with_a_plain_filter])
def test_the_order_of_a_filter_added_by_workers_is_that_of_one_process(init: Any) -> None:
    """PIPE-7: with 0, 1, 2 and 3 workers."""
    found = [
        epoch(numbers(20).shuffle(), MultiProcessingReadingService(workers, worker_init_fn=init))
        for workers in range(4)
    ]
    assert [found[0]] * 4 == found


def shuffled_and_filtered(pipe: Any, info: WorkerInfo) -> Any:
    """An initialiser that adds all of it."""
    return pipe.shuffle().sharding_filter()


def test_a_shuffle_that_workers_add_is_one_order() -> None:
    """PIPE-3, PIPE-7: it gets the same number in every worker, and in the process that iterates."""
    found = [
        epoch(numbers(20), MultiProcessingReadingService(workers, worker_init_fn=shuffled_and_filtered))
        for workers in range(3)
    ]
    assert [found[0]] * 3 == found
    assert WHOLE == sorted(found[0]) != found[0]


def twice(pipe: Any, info: WorkerInfo) -> Any:
    """An initialiser that shards what was sharded before."""
    return pipe.sharding_filter()


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("make", [filtered_only, lambda pipe: pipe.sharding_round_robin_dispatch()])
def test_a_second_filter_of_workers_is_refused(make: Any, workers: int) -> None:
    """PIPE-18: an initialiser is heard too late to be refused anywhere else."""
    with pytest.raises(RuntimeError, match="Sharding twice"):
        epoch(make(numbers(20)), MultiProcessingReadingService(workers, worker_init_fn=twice))


@pytest.mark.parametrize("once", [0, 1])
def test_a_second_filter_of_a_service_is_refused(once: int) -> None:
    """PIPE-18: before the workers as behind them; of 20 elements 10 came."""
    services = [Hooked(once=with_a_filter), MultiProcessingReadingService(2)]
    with pytest.raises(RuntimeError, match="Sharding twice"):
        epoch(filtered_only(numbers(20)), SequentialReadingService(*services[:: 1 - 2 * once]))


def test_a_change_that_can_not_be_sent_is_refused() -> None:
    """The error names the fix."""
    with pytest.raises(TypeError, match="defined in a module"):
        epoch(numbers(20), before_workers(Hooked(lambda seeds: lambda pipe: pipe), 2))


def evens(seeds: Any) -> Callable[[Any], Any]:
    """A service that leaves some elements out."""
    return only_even


def only_even(pipe: Any) -> Any:
    """For each epoch."""
    return pipe.filter(is_even)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_service_changes_the_graph_of_each_epoch_once(workers: int) -> None:
    """In the workers, where there are some; and again in the next epoch, not twice."""
    service = SequentialReadingService(Hooked(evens), Hooked(None), MultiProcessingReadingService(workers))
    with DataLoader2(filtered_only(numbers(8)), reading_service=service) as loader:
        assert [[0, 2, 4, 6]] * 2 == [sorted(loader), sorted(loader)]


class Forgetful(MultiProcessingReadingService):
    """Workers of a user's own class, whose hook returns nothing."""

    def initialize_iteration(self, seed_generator: Any, iter_reset_fn: Any = None) -> None:
        super().initialize_iteration(seed_generator, iter_reset_fn)


def pairs(seeds: Any) -> Callable[[Any], Any]:
    """A service that batches."""
    return in_pairs


def in_pairs(pipe: Any) -> Any:
    """For each epoch."""
    return pipe.batch(2)


@pytest.mark.parametrize("workers", [MultiProcessingReadingService(2), Forgetful(2), Wrapping(Forgetful(2))])
def test_what_workers_have_changed_is_not_changed_again(workers: Any) -> None:
    """In the main process, whatever becomes of what the hook of the workers returns."""
    found = epoch(filtered_only(numbers(8)), SequentialReadingService(Hooked(pairs), workers))
    assert [[0, 2], [1, 3], [4, 6], [5, 7]] == list(map(list, found))


def test_shuffle_is_on_by_default() -> None:
    """An adapter that is given no word turns shuffling on; None changes nothing."""
    pipe = numbers(20).shuffle().set_shuffle(False)
    with DataLoader2(pipe, Shuffle()) as loader, DataLoader2(pipe, Shuffle(None)) as other:
        assert list(range(20)) != list(loader)
        assert list(range(20)) == list(other)


def test_a_generator_of_seeds_is_two_streams() -> None:
    """What is shared does not depend on what a worker draws for itself, nor on which worker it is."""
    one, other = SeedGenerator(7, worker=0), SeedGenerator(7, worker=1)
    own = [one.generate_seed(), one.generate_seed(), other.generate_seed()]
    assert 3 == len(set(own))
    assert one.generate_shared_seed() == other.generate_shared_seed() != one.generate_shared_seed()


class Drawing(ReadingServiceInterface):
    """A service that draws both kinds of seeds."""

    def initialize_iteration(self, seed_generator: Any, iter_reset_fn: Any = None) -> None:
        self.drawn = [seed_generator.generate_shared_seed(), seed_generator.generate_seed()]


class Drawn(IterDataPipe[Any]):
    """What a worker has drawn, in the place of each element."""

    def __init__(self, source: Any, drawn: list[int]) -> None:
        self.source, self.drawn = source, drawn

    def __iter__(self) -> Any:
        yield from (tuple(self.drawn) for _ in self.source)


def drawing(pipe: Any, info: WorkerInfo, seeds: Any) -> Any:
    """A function for each epoch that draws both kinds of seeds."""
    return Drawn(pipe, [seeds.generate_shared_seed(), seeds.generate_seed()])


def test_no_seed_is_drawn_twice() -> None:
    """By a service, and then by workers: what is shared goes on in all of them, and worker 0 is itself with any W."""
    found = []
    for workers in (0, 1, 2):
        mp = MultiProcessingReadingService(workers, worker_reset_fn=drawing)
        with DataLoader2(filtered_only(numbers(4)), reading_service=SequentialReadingService(Drawing(), mp)) as loader:
            loader.seed(1)
            elements = list(loader)
            service = loader.reading_service.reading_services[0]
        shared, own = {element[0] for element in elements}, {element[1] for element in elements}
        assert [1, max(1, workers)] == [len(shared), len(own)]
        assert 2 + len(shared | own) == len({*service.drawn, *shared, *own})
        found.append([service.drawn, elements[0]])
    assert [found[0]] * 3 == found


def test_a_spawned_generator_shares_and_differs() -> None:
    """Its own seeds are others; `inplace` makes the generator itself the one that was spawned."""
    one = SeedGenerator(7)
    spawned = [one.spawn(0), one.spawn(1), one.spawn(1).spawn(1)]
    assert 4 == len({each.generate_seed() for each in (one, *spawned)})
    assert 1 == len({each.generate_shared_seed() for each in (copy.copy(one), *spawned)})
    assert one.spawn(3, inplace=True) is one
    assert SeedGenerator(7).spawn(3).generate_seed() == one.generate_seed()
    assert SeedGenerator(7, Place(1, 2)).generate_seed() != SeedGenerator(7).generate_seed()


def test_a_generator_without_a_seed_draws_one() -> None:
    """From torch, whose seed fixes it; what is no seed is refused."""
    torch.manual_seed(1)
    one = SeedGenerator()
    torch.manual_seed(1)
    again = SeedGenerator(3)
    again.seed()
    assert one.generate_shared_seed() == again.generate_shared_seed() != SeedGenerator().generate_shared_seed()
    with pytest.raises(ValueError, match="seed is -1"):
        SeedGenerator(-1)


def branches_that_meet() -> Any:
    """Two branches, and what joins them may not be copied."""
    return Once(numbers(4), numbers(4))


class Once(IterDataPipe[Any]):
    """Stays in the main process."""

    def __init__(self, *sources: Any) -> None:
        self.sources = sources

    def is_replicable(self) -> bool:
        return False

    def __iter__(self) -> Any:
        yield from zip(*self.sources, strict=True)


def test_branches_that_workers_can_not_run_are_fine_without_workers() -> None:
    """As the error says that refuses them with workers."""
    with over_workers(branches_that_meet(), 0) as loader:
        assert [(number, number) for number in range(4)] == list(loader)
    with over_workers(branches_that_meet(), 2) as loader, pytest.raises(ValueError, match="let num_workers be 0"):
        list(loader)


def wrapped(rank: int, workers: int) -> list[int]:
    """An epoch of ranks that know who they are through a wrapper only."""
    services = SequentialReadingService(Wrapping(DistributedReadingService(30)), MultiProcessingReadingService(workers))
    return epoch(filtered(numbers(20)), services, seed=rank)


def own_ranks(rank: int, workers: int) -> list[int]:
    """A service of a user's own that shards over ranks as torchdata's did, and agrees on a seed by itself."""

    def once(pipe: Any) -> Any:
        apply_sharding(pipe, 2, rank, SHARDING_PRIORITIES.DISTRIBUTED)
        return pipe

    def each(seeds: Any) -> None:
        seeds.seed(9)
        seeds.spawn(rank, inplace=True)

    return epoch(filtered(numbers(20)), before_workers(Hooked(each, once), workers), seed=rank)


@pytest.fixture(scope="module")
def two_ranks() -> Any:
    """A group of two."""
    group = Ranks(2)
    yield group
    group.end()


@pytest.mark.parametrize("run", [wrapped, own_ranks])
@pytest.mark.parametrize("workers", [0, 2])
def test_ranks_by_a_service_of_the_users_own_partition(two_ranks: Ranks, run: Any, workers: int) -> None:
    """PIPE-1, PIPE-3: each element once, though no service of ours stands on the outside."""
    found = two_ranks.run(run, workers)
    assert WHOLE == sorted(element for rank in found for element in rank)
    assert found == two_ranks.run(run, 0)


def added_by_workers(rank: int, workers: int) -> list[int]:
    """An epoch of a filter that each worker adds by hand."""
    mp = MultiProcessingReadingService(workers, worker_init_fn=with_a_filter_of_its_own)
    return epoch(numbers(20).shuffle(), SequentialReadingService(DistributedReadingService(30), mp), seed=rank)


def test_a_filter_that_workers_add_shares_over_ranks_too(two_ranks: Ranks) -> None:
    """PIPE-2: as it does without workers."""
    found = [two_ranks.run(added_by_workers, workers) for workers in (0, 1, 2)]
    assert [found[0]] * 3 == found
    assert WHOLE == sorted(element for rank in found[0] for element in rank)


def test_in_process_takes_what_torchdata_took() -> None:
    """A prefetch, an initialiser, and a function for each epoch that is given the seeds."""
    given: list[Any] = []

    def reset(pipe: Any, info: WorkerInfo, seeds: Any) -> Any:
        given.append((info, seeds.generate_shared_seed()))
        return pipe

    service = InProcessReadingService(5, init_fn=lambda pipe, info: pipe.filter(is_even), reset_fn=reset)
    with DataLoader2(filtered(numbers(20)), reading_service=service) as loader:
        assert [list(range(0, 20, 2))] * 2 == [sorted(loader), sorted(loader)]
    assert [WorkerInfo(1, 0)] * 2 == [info for info, _ in given]
    assert given[0][1] != given[1][1]
