"""The loader with worker processes."""

import pytest

from tests.reference.reference_probes import epoch, loader

# torch warns where there are more workers than processors; the machine is no matter here.
pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_the_order_does_not_depend_on_the_workers(workers: int) -> None:
    """Any number of workers delivers what none does, epoch after epoch (ORDER-8)."""
    alone = loader(13, 2, seed=4, shuffle=True, rank=1, ranks=2)
    helped = loader(13, 2, seed=4, shuffle=True, rank=1, ranks=2, num_workers=workers)
    assert [epoch(alone) for _ in range(3)] == [epoch(helped) for _ in range(3)]


@pytest.mark.parametrize(("workers", "given", "expected"), [(0, None, False), (1, None, True), (1, False, False)])
def test_workers_persist_unless_told_otherwise(workers: int, given: bool | None, expected: bool) -> None:
    """persistent_workers defaults to num_workers > 0."""
    assert loader(3, num_workers=workers, persistent_workers=given).persistent_workers is expected


def test_an_abandoned_epoch_does_not_leak_into_the_next() -> None:
    """Leaving a loop early loses the rest of that epoch and nothing of the next."""
    made = loader(12, 2, seed=4, shuffle=True, num_workers=1)
    for _ in made:
        break
    again = loader(12, 2, seed=4, shuffle=True)
    again.set_epoch(1)
    assert epoch(again) == epoch(made)


def test_two_iterators_with_persistent_workers_are_independent() -> None:
    """A second iterator does not restart the first; afterwards the persistent workers go on."""
    made = loader(12, 3, seed=3, shuffle=True, num_workers=1)
    one, two = iter(made), iter(made)
    pairs = [(a.tolist(), b.tolist()) for a, b in zip(one, two, strict=True)]
    again = loader(12, 3, seed=3, shuffle=True)
    assert [list(steps) for steps in zip(*pairs, strict=True)] == [epoch(again), epoch(again)]
    assert epoch(again) == epoch(made)


def test_terminating_stops_workers_any_number_of_times() -> None:
    """terminate() may come before, within and after epochs; the loader goes on with the next epoch."""
    made = loader(8, 2, num_workers=1)
    made.terminate()
    interrupted = iter(made)
    next(interrupted)
    made.terminate()
    made.terminate()
    with pytest.raises(RuntimeError, match="terminated within this epoch"):
        next(interrupted)
    assert epoch(made) == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.filterwarnings("ignore:The last step of each epoch")
def test_workers_without_work_end_at_once() -> None:
    """An empty shard with workers is an empty epoch (COUNT-6)."""
    made = loader(1, 1, rank=1, ranks=2, num_workers=2, drop_last=False)
    assert [epoch(made), epoch(made)] == [[], []]
