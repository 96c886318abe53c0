"""Pipelines over real ranks: what each gets, how they end together, and how they fail together."""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from torch.utils.data.datapipes.iter import IterableWrapper

from reference.dataloader2 import DataLoader2
from reference.pipelines.fullsync import STEP, Message, _unpacked
from reference.reading_service import (
    DistributedReadingService,
    MultiProcessingReadingService,
    SequentialReadingService,
)
from tests.reference.pipelines.pipe_probes import (
    AT,
    dispatched,
    dying,
    filtered,
    is_even,
    numbers,
    over_ranks,
    raising,
    told,
)
from tests.reference.pipelines.pipe_ranks import Ranks


@pytest.fixture(scope="module", params=[1, 2, 3])
def ranks(request: pytest.FixtureRequest) -> Iterator[Ranks]:
    """One group for each number of ranks."""
    group = Ranks(request.param)
    yield group
    group.end()


@pytest.fixture
def fragile() -> Iterator[Ranks]:
    """A group of two of which a rank may die."""
    group = Ranks(2)
    yield group
    group.end()


def epochs(rank: int, pipe: Any, workers: int, seeds: list[int] | None = None, count: int = 1) -> list[list[Any]]:
    """So many epochs on one rank, each rank with a seed of its own, or none."""
    with over_ranks(pipe, workers) as loader:
        if seeds is not None:
            loader.seed(seeds[rank])
        return [list(loader) for _ in range(count)]


def until_error(rank: int, pipe: Any, workers: int, timeout: float = 30) -> tuple[list[Any], str, str]:
    """What came before the error, its type, and what it says."""
    elements = []
    try:
        for element in over_ranks(pipe, workers, timeout):
            elements.append(element)
    except Exception as error:
        return elements, type(error).__name__, told(error)
    return elements, "", ""


def test_a_rank_gets_the_same_with_any_number_of_workers(ranks: Ranks) -> None:
    """PIPE-1, PIPE-2: rank i mod R; exclusive, and together all but what fullsync drops."""
    world = ranks.world_size
    for count in (0, 1, 11, 12):
        for workers in (0, 1, 2, 3):
            expected = [[list(range(rank, count - count % world, world))] for rank in range(world)]
            assert expected == ranks.run(epochs, numbers(count).sharding_filter(), workers)


@pytest.mark.parametrize("make", [filtered, dispatched])
def test_a_shuffle_before_sharding_is_one_order(ranks: Ranks, make: Any) -> None:
    """PIPE-3, PIPE-7: whatever seeds the ranks hold, and however many workers they have."""
    world = ranks.world_size
    pipe = make(numbers(12)) if make is filtered else dispatched(numbers(12).shuffle().sharding_filter())
    found = [ranks.run(epochs, pipe, workers, [5, 6, 7], 2) for workers in (0, 1, 2)]
    assert [found[0]] * 3 == found
    for epoch in range(2):
        together = [each[epoch] for each in found[0]]
        assert list(range(12)) == sorted(element for shard in together for element in shard)
        assert {12 // world} == {len(shard) for shard in together}
    if make is filtered:
        # The order of one process, dealt out.
        with DataLoader2(pipe) as loader:
            loader.seed(5)
            alone = list(loader)
        assert [alone[rank::world] for rank in range(world)] == [each[0] for each in found[0]]


def test_a_shuffle_after_sharding_differs_in_each_rank(ranks: Ranks) -> None:
    """PIPE-4: positions in the shard are in another order on each rank."""
    world = ranks.world_size
    found = ranks.run(epochs, numbers(20 * world).sharding_filter().shuffle(), 0, [1, 1, 1])
    assert world == len({tuple(number // world for number in epoch) for (epoch,) in found})


def test_the_wrong_order_overlaps(ranks: Ranks) -> None:
    """Without sharding at all every rank yields everything: that is what fullsync does not mend."""
    assert [[[0, 1, 2, 3]]] * ranks.world_size == ranks.run(epochs, numbers(4), 0)


def test_batches_are_counted_not_samples(ranks: Ranks) -> None:
    """PIPE-11: each rank yields as many as the rank with the fewest."""
    found = ranks.run(epochs, numbers(13).sharding_filter().batch(2), 2)
    assert 1 == len({len(epoch) for (epoch,) in found})


def share_of(rank: int, counts: list[int]) -> list[list[int]]:
    """An epoch over so many elements of one's own."""
    return epochs(rank, numbers(counts[rank]), 0)


@pytest.mark.parametrize("counts", [[0, 5, 5], [5, 0, 9], [300, 299, 400], [1, 64, 65]])
def test_every_rank_yields_the_minimum(ranks: Ranks, counts: list[int]) -> None:
    """PIPE-11: an empty rank means nothing for all."""
    least = min(counts[: ranks.world_size])
    assert [[list(range(least))]] * ranks.world_size == ranks.run(share_of, counts)


@pytest.mark.parametrize("workers", [0, 2])
def test_one_failing_rank_fails_all(ranks: Ranks, workers: int) -> None:
    """PIPE-12: after as many elements on each, and the others name it; its own error is its own."""
    world = ranks.world_size
    found = ranks.run(until_error, numbers(90).sharding_filter().map(raising), workers)
    failing = AT % world
    for rank, (elements, kind, text) in enumerate(found):
        assert list(range(rank, world * (AT // world) + rank, world)) == elements
        assert ("ValueError" if rank == failing else "RuntimeError") == kind
        assert "boom" in text
        assert rank == failing or f"Rank {failing} has failed" in text


def test_a_dead_worker_fails_all_ranks(ranks: Ranks) -> None:
    """PIPE-12, PIPE-15: the others hear which rank, and of which worker."""
    failing = AT % ranks.world_size
    for rank, (_, _, text) in enumerate(ranks.run(until_error, numbers(90).sharding_filter().map(dying), 2)):
        assert "of 2 ended within the epoch" in text
        assert rank == failing or f"Rank {failing} has failed" in text


def leaves(rank: int, last: int) -> str:
    """The last rank shuts its loader down in mid-epoch."""
    loader = over_ranks(numbers(1000).sharding_filter(), 0)
    try:
        for number, _ in enumerate(loader):
            if rank == last and number == 2:
                loader.shutdown()
                return ""
    except RuntimeError as error:
        return str(error)
    return ""


def test_a_rank_that_shuts_down_is_named(ranks: Ranks) -> None:
    """PIPE-12: the others do not wait for it."""
    last = ranks.world_size - 1
    found = ranks.run(leaves, last)
    assert all(f"rank {last}: it was shut down" in text for text in found[:last])
    # And the group of the user is as it was.
    assert [[[rank]] for rank in range(last + 1)] == ranks.run(epochs, numbers(last + 1).sharding_filter(), 0)


def begins_anew(rank: int) -> str:
    """Rank 0 begins an epoch while the others are in mid-epoch, further than any chunk."""
    with over_ranks(numbers(2000).sharding_filter(), 0) as loader:
        elements = iter(loader)
        try:
            for _ in range(1 if rank == 0 else 500):
                next(elements)
            return str(len(list(loader)))
        except RuntimeError as error:
            return str(error)


def test_ranks_that_part_in_an_epoch_are_told(ranks: Ranks) -> None:
    """No rank waits for another that does something else."""
    if ranks.world_size == 1:
        assert ["2000"] == ranks.run(begins_anew)
    else:
        assert all("on all ranks together" in text for text in ranks.run(begins_anew))


def left_early(rank: int) -> list[int]:
    """All ranks leave an epoch at the same place, then read one."""
    with over_ranks(numbers(40).sharding_filter(), 2) as loader:
        next(iter(loader))
        return list(loader)


def test_an_epoch_that_all_ranks_left_does_not_spoil_the_next(ranks: Ranks) -> None:
    """PIPE-14."""
    world, count = ranks.world_size, 40 - 40 % ranks.world_size
    assert [list(range(rank, count, world)) for rank in range(world)] == ranks.run(left_early)


def dies(rank: int) -> str:
    """The whole process of rank 1 dies in mid-epoch; what the other rank hears."""
    try:
        for number, _ in enumerate(over_ranks(numbers(1000).sharding_filter(), 0)):
            if rank == 1 and number == 2:
                os._exit(1)
    except RuntimeError as error:
        return str(error)
    return ""


def test_a_rank_that_dies_is_named(fragile: Ranks) -> None:
    """PIPE-12: nobody can ask it, so the one that says nothing is it."""
    assert "rank 1: it has died, or hangs" in fragile.run(dies, silent=(1,))[0]


def refuses(rank: int) -> str:
    """Rank 1's initialiser fails: before its pipeline has yielded anything."""
    workers = MultiProcessingReadingService(1, worker_init_fn=fails if rank == 1 else None)
    service = SequentialReadingService(DistributedReadingService(30), workers)
    try:
        return str(list(DataLoader2(numbers(9).sharding_filter(), reading_service=service)))
    except Exception as error:
        return f"{type(error).__name__} {told(error)}"


def fails(pipe: Any, info: Any) -> Any:
    """An initialiser."""
    raise OSError("no such file")


def test_an_initialiser_that_fails_on_one_rank_fails_all(ranks: Ranks) -> None:
    """PIPE-12, PIPE-15."""
    if ranks.world_size > 1:
        found = ranks.run(refuses)
        assert found[1].startswith("OSError")
        assert all("Rank 1 has failed" in text for text in [found[0], *found[2:]])


def can_not_start(rank: int) -> str:
    """Rank 1 can't even start its workers."""
    unsent = None if rank != 1 else lambda pipe, info: pipe
    workers = MultiProcessingReadingService(1, "spawn" if rank == 1 else "fork", worker_init_fn=unsent)
    service = SequentialReadingService(DistributedReadingService(30), workers)
    try:
        return str(list(DataLoader2(numbers(9).sharding_filter(), reading_service=service)))
    except Exception as error:
        return f"{type(error).__name__} {told(error)}"


def test_a_rank_that_can_not_start_fails_all(ranks: Ranks) -> None:
    """PIPE-12: also before the ranks have met."""
    if ranks.world_size > 1:
        found = ranks.run(can_not_start)
        assert found[1].startswith("TypeError")
        assert all("rank 1: TypeError" in text for text in [found[0], *found[2:]])


def alone(rank: int, counts: list[int]) -> list[list[int]]:
    """`fullsync` by hand, without a reading service."""
    pipe = numbers(counts[rank]).fullsync(timeout=30)
    found = [list(pipe), list(pipe)]
    pipe.agreement.close("it is done")
    return found


def test_fullsync_works_by_hand(ranks: Ranks) -> None:
    """It makes its own group; another epoch is as good as the first."""
    counts = [7, 3, 4]
    least = list(range(min(counts[: ranks.world_size])))
    assert [[least, least]] * ranks.world_size == ranks.run(alone, counts)


def test_a_filter_may_empty_a_worker_or_a_rank(ranks: Ranks) -> None:
    """PIPE-11, PIPE-13: over 2 ranks the second has no even number, so nobody yields any."""
    found = ranks.run(epochs, numbers(24).sharding_filter().filter(is_even), 2)
    assert {0 if ranks.world_size == 2 else 12 // ranks.world_size} == {len(epoch) for (epoch,) in found}


def test_without_a_group_there_is_an_error() -> None:
    """It says what to call."""
    with pytest.raises(RuntimeError, match="init_process_group"):
        list(DataLoader2(numbers(3), reading_service=DistributedReadingService()))
    with pytest.raises(RuntimeError, match="init_process_group"):
        list(numbers(3).fullsync())


def test_workers_before_ranks_is_refused() -> None:
    """PIPE-20: the error names the right order."""
    with pytest.raises(ValueError, match=r"right order is SequentialReadingService\(DistributedReadingService"):
        SequentialReadingService(MultiProcessingReadingService(2), DistributedReadingService())
    with pytest.raises(ValueError, match="given 2 times"):
        SequentialReadingService(DistributedReadingService(), DistributedReadingService())


def test_a_message_comes_back_as_it_was() -> None:
    """Seeds of 64 bits too; a long text is cut."""
    message = Message(STEP, 3, 2**64 - 1, 2, "näh" * 300)
    back = _unpacked(message.packed())
    assert message[:4] == back[:4]
    assert back.text.startswith("näh" * 80)


@pytest.mark.parametrize("timeout", [0, -1, float("nan")])
def test_a_timeout_is_more_than_nothing(timeout: float) -> None:
    """Every wait for other ranks is bounded."""
    with pytest.raises(ValueError, match="more than 0"):
        DistributedReadingService(timeout)
    with pytest.raises(ValueError, match="more than 0"):
        IterableWrapper([1]).fullsync(timeout=timeout)


def test_a_service_serves_many_loaders() -> None:
    """Each loader has a copy, so one that is shut down takes nothing along."""
    service = MultiProcessingReadingService(1)
    for _ in range(2):
        with DataLoader2(numbers(3).sharding_filter(), reading_service=service) as loader:
            assert [0, 1, 2] == list(loader)
