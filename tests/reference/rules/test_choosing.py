"""Steps of chosen members, against what can be counted by hand and by brute force."""

from collections import Counter
from itertools import product

import pytest

from reference.rules.choosing import BoundedBatches, GroupedBatches, ReachingBatches
from reference.rules.mixing import MixedBatches

GROUPS = [0, 1, 0, 2, 1, 0, 0, 1, 0, 0, 2]
SIZES = [1, 3, 2, 2, 4, 1, 1, 3]


def test_groups_are_cut_by_themselves() -> None:
    """Each group has a rest of its own."""
    assert [[0, 2, 5], [6, 8, 9], [1, 4, 7], [3, 10]] == list(GroupedBatches(GROUPS, 3, drop_last=False))


@pytest.mark.parametrize(("ranks", "drop", "seed"), [*product((1, 2, 3), (False, True), (None, 5))])
def test_ranks_share_the_groups(ranks: int, drop: bool, seed: int | None) -> None:
    """Nothing comes twice; what is lost of a group is less than a round; under drop_last ranks have equal steps."""
    each = [GroupedBatches(GROUPS, 2, ranks, rank, drop, seed) for rank in range(ranks)]
    steps = [step for batches in each for step in batches]
    assert all(len({GROUPS[index] for index in step}) == 1 for step in steps)
    came = Counter(index for step in steps for index in step)
    assert {1} >= {*came.values()}
    lost = Counter(group for index, group in enumerate(GROUPS) if index not in came)
    assert all(count < (2 * ranks if drop else 1) for count in lost.values())
    assert [len(list(batches)) for batches in each] == [len(batches) for batches in each]
    assert not drop or len({len(batches) for batches in each}) == 1


def test_a_budget_is_filled_in_order() -> None:
    """A step is closed before the sample that it has no room for."""
    assert [[0, 1], [2, 3], [4], [5, 6], [7]] == list(BoundedBatches(SIZES, 4))


def test_what_no_step_has_room_for_is_refused() -> None:
    """The sentence names the first such sample."""
    with pytest.raises(ValueError, match="Sample 4 has the size 4, and no step has room for more than 3"):
        BoundedBatches(SIZES, 3)


def test_a_step_is_closed_once_it_is_large_enough() -> None:
    """A rest that is too small is kept, or dropped."""
    assert [[0, 1], [2, 3], [4], [5, 6, 7]] == list(ReachingBatches(SIZES, 4))
    kept, dropped = ReachingBatches(SIZES[:-1], 4), ReachingBatches(SIZES[:-1], 4, drop_last=True)
    assert [[0, 1], [2, 3], [4], [5, 6]] == list(kept)
    assert [[0, 1], [2, 3], [4]] == list(dropped)


def test_an_epoch_is_fixed_when_it_is_begun() -> None:
    """Two iterations over two epochs do not disturb each other."""
    batches = GroupedBatches([0] * 30, 3, shuffle_seed=1)
    first = iter(batches)
    batches.epoch = 1
    second = list(batches)
    batches.epoch = 0
    assert list(batches) == list(first) != second


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_mixture_ends_with_the_first_source(shuffle: bool) -> None:
    """One source is whole, and nothing comes twice."""
    for seed in range(20):
        mixed = MixedBatches([3, 4], [0.5, 0.5], "first_exhausted", 1, drop_last=False, seed=seed, shuffle=shuffle)
        came = [index for step in mixed for index in step]
        assert len({*came}) == len(came)
        assert [True] == [each for each in ({0, 1, 2} <= {*came}, {3, 4, 5, 6} <= {*came}) if each]


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_mixture_ends_with_the_last_source(shuffle: bool) -> None:
    """Each source is whole; the one that was exhausted last is so with the last sample."""
    for seed in range(20):
        mixed = MixedBatches([2, 3], [0.9, 0.1], "all_exhausted", 1, drop_last=False, seed=seed, shuffle=shuffle)
        counts = Counter(index for step in mixed for index in step)
        assert {*range(5)} == {*counts}
        assert max(counts[0], counts[1]) - min(counts[0], counts[1]) <= 1
        assert [1, 1] == [counts[0], counts[1]] or [1, 1, 1] == [counts[index] for index in (2, 3, 4)]


@pytest.mark.parametrize(
    ("sizes", "weights", "stop", "sentence"),
    [
        ([2, 3], [0.5, 0.5], "exhausted", "stop is 'exhausted', but must be one of"),
        ([2, 3], [1.0], "first_exhausted", "give each source a sample and a weight above 0"),
        ([2, 0], [0.5, 0.5], "first_exhausted", "give each source a sample and a weight above 0"),
        ([2, 3], [1.0, 0.0], "all_exhausted", "give each source a sample and a weight above 0"),
    ],
)
def test_what_can_not_be_mixed_is_refused(sizes: list[int], weights: list[float], stop: str, sentence: str) -> None:
    """The sentence says what to give."""
    with pytest.raises(ValueError, match=sentence):
        MixedBatches(sizes, weights, stop, 1)
